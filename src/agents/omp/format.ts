/** What Oh My Pi adds to the session files of pi. */
import { isAbsolute } from 'node:path';
import type { FormatCode } from '../agent.ts';
import {
  boolField,
  type Json,
  joinTexts,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import type { Content } from '../pi_agent/content.ts';
import { type Entry, type Origin, PiDecoder, type PiProduct } from '../pi_agent/decode.ts';
import { sessionCode as piCode } from '../pi_agent/format.ts';
import type { PiOutline } from '../pi_agent/outline.ts';
import { idOfName } from '../pi_agent/paths.ts';
import { tellUsage } from '../pi_agent/usage.ts';

const PRODUCT: PiProduct = {
  resume: 'omp --resume',
  silent: [
    'credential_pin',
    'mode_change',
    'reset_boundary',
    'service_tier_change',
    'session_init',
    'title',
    'title_change',
    'ttsr_injection',
  ],
};

class OmpDecoder extends PiDecoder {
  /** What the line at the head says: blank until the session is named. Undefined: there is no such line. */
  private slot: string | undefined;
  private changedTitle: string | null = null;

  protected override titleOf(): string | null {
    if (this.slot !== undefined) return this.slot.trim() || null;
    const first = this.header === null ? null : stringField(this.header, 'title');
    return (this.changedTitle ?? first ?? this.title)?.trim() || null;
  }

  /** A fork names a session, a branch taken out names a file, and an agent's file lies in its session's folder. */
  protected override origin(): Origin | null {
    const { isAgent, parentId } = this.context.source.hints;
    const named = this.parentPath();
    const id =
      named === null ? null : isAbsolute(named) || named.endsWith('.jsonl') ? (idOfName(named) ?? named) : named;
    if (isAgent === true) return { id: typeof parentId === 'string' ? parentId : id, kind: 'subagent' };
    return id === null ? null : { id, kind: 'fork' };
  }

  protected override standing(message: Json): 'said' | 'injected' | 'mirror' {
    return boolField(message, 'synthetic') === true ? 'injected' : 'said';
  }

  protected override tellOther({ record, ...entry }: Entry, type: string): boolean {
    if (type === 'title') this.slot = stringField(record, 'title') ?? '';
    if (type === 'title_change') this.changedTitle = stringField(record, 'title') ?? this.changedTitle;
    if (type !== 'model_usage') return false;
    this.out.ignored(type);
    this.tellUsageOf({ record, ...entry }, record, nameField(record, 'purpose') ?? type, null);
    return true;
  }

  protected override tellOtherRole(entry: Entry, message: Json, role: string, content: Content): boolean {
    switch (role) {
      case 'developer':
        this.tellText(entry, content, role);
        return true;
      case 'pythonExecution':
        this.tellText(entry, content, role, joinTexts([stringField(message, 'code'), stringField(message, 'output')]));
        return true;
      case 'fileMention':
        this.tellText(
          entry,
          content,
          role,
          joinTexts(objectsField(message, 'files').map((file) => stringField(file, 'content'))),
        );
        return true;
      default:
        return false;
    }
  }

  /** A task's result sums what its agents used: told only where their files are not there. */
  protected override tellUsageOf(entry: Entry, holder: Json, kind: string, model: string | null): void {
    const isTask = kind === 'toolResult' && nameField(holder, 'toolName') === 'task';
    if (!isTask) super.tellUsageOf(entry, holder, kind, model);
    else if (this.context.source.hints['hasAgents'] !== true) {
      const details = objectField(holder, 'details');
      const usage = details === null ? null : objectField(details, 'usage');
      tellUsage(entry, holder, kind, model, this.out, { usage });
    }
  }
}

export const sessionCode: FormatCode<PiOutline> = piCode(PRODUCT, OmpDecoder, { preface: 'title' });
