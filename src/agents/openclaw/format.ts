/** What OpenClaw adds to the entries of pi, in files and in its database. */
import type { Frame } from '../../framing/frame.ts';
import type { Decoder, FormatCode, SessionFields } from '../agent.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
import { objectOf } from '../dialects/frames.ts';
import { field, type Json, nameField, numberField, objectField, stringField } from '../dialects/json.ts';
import { type Time, textHint } from '../dialects/rows.ts';
import { type Entry, type Origin, PiDecoder, type PiProduct } from '../pi_agent/decode.ts';
import { sessionCode as piCode } from '../pi_agent/format.ts';
import { type PiOutline, readOutline } from '../pi_agent/outline.ts';
import { tellUsage } from '../pi_agent/usage.ts';
import { coldFrames } from './cold.ts';
import { Navigation } from './navigation.ts';
import { queryEvents } from './rows.ts';
import { readUsage } from './usage.ts';

interface OpenClawOutline extends PiOutline {
  /** Models of replies that do not name theirs, by entry id. */
  readonly models: ReadonlyMap<string, string>;
}

const PRODUCT: PiProduct = { resume: null, silent: ['leaf', 'reset', 'session_archive_metadata'] };

/** Models that stand for none: the gateway wrote the text itself. */
const GATEWAY_MODELS = new Set(['delivery-mirror', 'gateway-injected']);

/** Windows of a session that began as a copy of another's. */
const FORKS = new Set(['fork', 'rewind', 'switch']);

const modelNamed = (message: Json): string | null => nameField(message, 'model') ?? nameField(message, 'modelId');

class OpenClawDecoder extends PiDecoder {
  protected override get sessionId(): string {
    return this.context.source.member ?? super.sessionId;
  }

  protected override titleOf(): string | null {
    return textHint(this.context.source, 'title') ?? super.titleOf();
  }

  protected override origin(): Origin | null {
    const { source } = this.context;
    const previous = textHint(source, 'parentId');
    if (previous !== null) return { id: previous, kind: FORKS.has(textHint(source, 'reason') ?? '') ? 'fork' : 'main' };
    const named = this.parentPath();
    return named === null ? null : { id: sessionOf(named), kind: 'fork' };
  }

  protected override facts(): Partial<SessionFields> {
    const { source } = this.context;
    const extra: Record<string, string> = {};
    for (const name of ['agentId', 'sessionKey', 'channel', 'spawnedBy']) {
      const value = textHint(source, name);
      if (value !== null) extra[name] = value;
    }
    return { extra, ...(extra['spawnedBy'] === undefined ? {} : { kind: 'subagent' }) };
  }

  protected override storedTime(record: Json): Time {
    return stringField(record, 'timestamp') === null
      ? epochTime(numberField(record, 'created_at'), 'ms')
      : isoTime(field(record, 'timestamp'));
  }

  protected override modelOf(entry: Entry, message: Json): string | null {
    const models = (this.context.outline as OpenClawOutline | null)?.models;
    return modelNamed(message) ?? (entry.id === null ? null : (models?.get(entry.id) ?? null));
  }

  protected override standing(message: Json): 'said' | 'injected' | 'mirror' {
    const isMirror =
      GATEWAY_MODELS.has(modelNamed(message) ?? '') || field(message, 'openclawDeliveryMirror') !== undefined;
    return isMirror || stringField(message, 'stopReason') === 'injected' ? 'mirror' : 'said';
  }

  protected override tellUsageOf(entry: Entry, holder: Json, kind: string, model: string | null): void {
    tellUsage(entry, holder, kind, model, this.out, readUsage(holder));
  }
}

/** `sqlite:<agent>:<session>:<database>`, or the path of a session's file. */
const sessionOf = (parent: string): string =>
  /^sqlite:[^:]*:([^:]+):/.exec(parent)?.[1] ??
  parent
    .replaceAll('\\', '/')
    .replace(/^.*\//, '')
    .replace(/\.jsonl(?:\..*)?$/, '')
    .replace(/^\d{4}-\d\d-\d\dT[^_]*_/, '');

function outlineOf(frames: Iterable<Frame>): OpenClawOutline {
  const navigation = new Navigation();
  const models = new Map<string, string>();
  const outline = readOutline(frames, {
    isHeaderNeeded: false,
    each: (entry) => {
      navigation.add(entry);
      const message = objectField(entry, 'message');
      const id = nameField(entry, 'id');
      if (message === null || id === null || stringField(message, 'role') !== 'assistant') return;
      const model = modelNamed(message) === null ? navigation.modelOf(id) : null;
      if (model !== null) models.set(id, model);
    },
  });
  return { ...outline, live: navigation.live(), isBroken: false, models };
}

export const sessionCode: FormatCode<PiOutline> = {
  ...piCode(PRODUCT, OpenClawDecoder),
  outline: (frames) => ({ outline: outlineOf(frames) }),
};

export const databaseCode: FormatCode<PiOutline> = { ...sessionCode, query: queryEvents };

export const coldCode: FormatCode<PiOutline> = {
  outline: (frames) => ({ outline: outlineOf(coldFrames(frames)) }),
  decoder: (context, out): Decoder => {
    const inner = sessionCode.decoder(context, out);
    return {
      frame(frame) {
        const kind = stringField(objectOf(frame) ?? {}, 'kind');
        if (kind !== null && kind !== 'event') out.ignored(`cold/${kind}`);
        else for (const event of coldFrames([frame])) inner.frame(event);
      },
      finish: () => inner.finish(),
    };
  },
};
