/** A line of the journal: a notification of the agent client protocol, or of xAI's extension of it. */
import { epochTime } from '../dialects/clock.ts';
import { field, type Json, nameField, numberField, objectField, stringField } from '../dialects/json.ts';
import { NO_TIME, type Time } from '../dialects/rows.ts';

export interface Update {
  readonly kind: string;
  readonly update: Json;
  /** `_meta` of the update; empty where there is none. */
  readonly meta: Json;
  /** Kept by forks. */
  readonly eventId: string | null;
  /** When the agent said it; the envelope's own time is when the line was written, which a fork does anew. */
  readonly time: Time;
}

export const CHUNKS: Readonly<Record<string, 'user' | 'agent' | 'thought'>> = {
  user_message_chunk: 'user',
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
};

/** Null for a line that is no notification. Old lines have no envelope. */
export function readUpdate(record: Json): Update | null {
  const params = objectField(record, 'params') ?? record;
  const update = objectField(params, 'update');
  const kind = update === null ? null : nameField(update, 'sessionUpdate');
  if (update === null || kind === null) return null;
  const outer = objectField(params, '_meta') ?? {};
  const meta = objectField(update, '_meta') ?? {};
  const said = [field(outer, 'agentTimestampMs'), field(meta, 'agentTimestampMs')]
    .map((value) => epochTime(value, 'ms'))
    .find(({ timestamp }) => timestamp !== null);
  const written = params === record ? NO_TIME : epochTime(field(record, 'timestamp'), 's');
  return { kind, update, meta, eventId: nameField(outer, 'eventId'), time: said ?? written };
}

/** Where the user's messages begin: chunks that follow each other are one, but for a new prompt among them. */
export class UserRuns {
  private isOpen = false;
  private prompt: number | null = null;

  /** Whether this line begins one; null stands for a line that cannot be read. */
  begins(update: Update | null): boolean {
    if (update === null || CHUNKS[update.kind] !== 'user') {
      this.isOpen = false;
      return false;
    }
    const prompt = promptIndex(update);
    const begins = !this.isOpen || prompt !== this.prompt;
    this.isOpen = true;
    this.prompt = prompt;
    return begins;
  }
}

export const promptIndex = ({ meta }: Update): number | null => numberField(meta, 'promptIndex');
export const isHostTurn = ({ meta }: Update): boolean => field(meta, 'hostTurn') === true;
export const toolId = ({ update }: Update): string | null => nameField(update, 'toolCallId');
export const isToolLine = ({ kind }: Update): boolean => kind === 'tool_call' || kind === 'tool_call_update';
export const promptId = ({ update }: Update): string | null => nameField(update, 'prompt_id');
/** Text of a chunk; null for an image and the like. */
export function chunkText({ update }: Update): string | null {
  const content = objectField(update, 'content');
  return content === null ? null : stringField(content, 'text');
}
