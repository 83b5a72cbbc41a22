/** What Prime Agent adds to the session files of pi. */
import { basename } from 'node:path';
import type { FormatCode } from '../agent.ts';
import { type Json, nameField, numberField, objectField, stringField } from '../dialects/json.ts';
import { type Entry, type Origin, PiDecoder, type PiProduct } from '../pi_agent/decode.ts';
import { sessionCode as piCode } from '../pi_agent/format.ts';
import { type PiOutline, readOutline } from '../pi_agent/outline.ts';
import { tellUsage } from '../pi_agent/usage.ts';

interface PrimeOutline extends PiOutline {
  /** By the reply's entry id. */
  readonly attributions: ReadonlyMap<string, Attribution>;
}

/** What children used on behalf of a reply. */
interface Attribution {
  /** The reply's own usage and that of its children so far. */
  readonly aggregate: Json;
  readonly children: readonly Json[];
}

const PRODUCT: PiProduct = {
  resume: 'prime-agent --resume',
  silent: ['agent_status', 'child_usage_attributed', 'git_state', 'service_tier_change', 'session_state'],
};

const COUNTERS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

/**
 * A reply's own usage: the aggregate less all that its children used. The reply itself may hold either, as files are
 * rewritten with the aggregate in place (vendor source).
 */
function ownUsage(usage: Json, { aggregate, children }: Attribution): Json {
  const own: Record<string, unknown> = { ...usage };
  for (const name of COUNTERS) {
    const all = numberField(aggregate, name);
    if (all !== null) own[name] = less(all, children, name);
  }
  const cost = objectField(aggregate, 'cost');
  const total = cost === null ? null : numberField(cost, 'total');
  if (total !== null) {
    const costs = children.map((child) => objectField(child, 'cost')).filter((child) => child !== null);
    own['cost'] = { total: less(total, costs, 'total') };
  }
  return own;
}

const less = (all: number, parts: readonly Json[], name: string): number =>
  Math.max(0, all - parts.reduce((sum, part) => sum + (numberField(part, name) ?? 0), 0));

class PrimeDecoder extends PiDecoder {
  /** Children of an agent have files of their own; other sessions with a parent are forks. */
  protected override origin(): Origin | null {
    const path = this.parentPath();
    if (path === null || this.header === null) return null;
    const depth = numberField(this.header, 'rlmDepth') ?? 0;
    const { parentId } = this.context.source.hints;
    const id = typeof parentId === 'string' ? parentId : basename(path.replaceAll('\\', '/'), '.jsonl');
    return { id, kind: depth > 0 ? 'subagent' : 'fork' };
  }

  /** A copy may hold the aggregate where its origin has the reply's own counters: they are no part of what it is known by. */
  protected override tellUsageOf(entry: Entry, holder: Json, kind: string, model: string | null): void {
    const usage = objectField(holder, 'usage');
    const attributions = (this.context.outline as PrimeOutline | null)?.attributions;
    const attribution = entry.id === null || kind !== 'message' ? undefined : attributions?.get(entry.id);
    const own = usage === null || attribution === undefined ? usage : ownUsage(usage, attribution);
    tellUsage(entry, holder, kind, model, this.out, { usage: own, isKeyedByCounters: false });
  }
}

const code = piCode(PRODUCT, PrimeDecoder);

export const sessionCode: FormatCode<PiOutline> = {
  ...code,
  outline: (frames) => {
    const attributions = new Map<string, Attribution>();
    const outline = readOutline(frames, { each: (entry) => attribute(entry, attributions) });
    const whole: PrimeOutline = { ...outline, attributions };
    return { outline: whole };
  },
};

/** Whatever branch the record is on. */
function attribute(entry: Json, attributions: Map<string, Attribution>): void {
  if (stringField(entry, 'type') !== 'child_usage_attributed') return;
  const target = nameField(entry, 'targetId');
  const child = objectField(entry, 'childUsage');
  const aggregate = objectField(entry, 'aggregateUsage');
  if (target === null || child === null || aggregate === null) return;
  attributions.set(target, { aggregate, children: [...(attributions.get(target)?.children ?? []), child] });
}
