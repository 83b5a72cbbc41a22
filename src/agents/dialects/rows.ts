/** Rows with everything null that a store does not hold: a decoder names what it found. */

import type { Position } from '../../framing/frame.ts';
import type {
  EventAt,
  MessageFields,
  SessionFields,
  SourceSpec,
  ToolCallFields,
  ToolResultFields,
  UsageObservation,
} from '../agent.ts';

/** Identity and place of an event: of a record with a native id, or (null) of one known by its place only. */
export const eventAt = (
  sessionId: string,
  nativeId: string | null,
  slot: string,
  position: Position,
  time: Time = NO_TIME,
): EventAt => ({ sessionId, nativeId, slot, position, timestamp: time.timestamp, timestampText: time.timestampText });

/** A time as a number (milliseconds since 1970 UTC) and in its native spelling. */
export interface Time {
  readonly timestamp: number | null;
  readonly timestampText: string | null;
}
export const NO_TIME: Time = { timestamp: null, timestampText: null };

export const messageFields = (found: Partial<MessageFields> & Pick<MessageFields, 'role'>): MessageFields => ({
  is_copy: false,
  message_id: null,
  record_id: null,
  parent_record_id: null,
  author: null,
  kind: null,
  model: null,
  text: null,
  thinking: null,
  is_meta: false,
  is_active: true,
  content_kinds: [],
  ...found,
});

/** A message of text and thinking, of which blank text is none; null where neither is left. */
export function spokenFields(
  found: Partial<Omit<MessageFields, 'text' | 'thinking'>> &
    Pick<MessageFields, 'role'> & { readonly text: string | null; readonly thinking: string | null },
): MessageFields | null {
  const text = found.text?.trim() ? found.text : null;
  const { thinking } = found;
  if (text === null && thinking === null) return null;
  const content_kinds = [...(text === null ? [] : ['text']), ...(thinking === null ? [] : ['thinking'])];
  return messageFields({ content_kinds, ...found, text });
}

export const toolCallFields = (found: Partial<ToolCallFields>): ToolCallFields => ({
  is_copy: false,
  message_id: null,
  call_id: null,
  name: null,
  kind: 'function',
  arguments: null,
  ...found,
});

export const toolResultFields = (found: Partial<ToolResultFields>): ToolResultFields => ({
  is_copy: false,
  call_id: null,
  is_error: null,
  output: null,
  output_json: null,
  ...found,
});

/** `key` null: the reply is known by its source and position. How counters overlap must be said: null = not known. */
export const usageObservation = (
  found: Partial<UsageObservation> &
    Pick<
      UsageObservation,
      'key' | 'basis' | 'input_includes_cache_read' | 'input_includes_cache_write' | 'output_includes_reasoning'
    >,
): UsageObservation => ({
  message_id: null,
  request_id: null,
  model: null,
  provider: null,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  cache_write_1h_tokens: null,
  reasoning_tokens: null,
  total_tokens: null,
  reported_cost_usd: null,
  service_tier: null,
  state: 'final',
  variant: null,
  native: true,
  ...found,
});

export const sessionFields = (found: Partial<SessionFields> & Pick<SessionFields, 'session_id'>): SessionFields => ({
  parent_session_id: null,
  kind: 'main',
  origin: null,
  title: null,
  cwd: null,
  git_branch: null,
  git_commit: null,
  agent_version: null,
  resume_command: null,
  extra: null,
  ...found,
});

/** Ids go into a command that people paste into a shell: only harmless characters do. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** `command` with the session's id after it; null where the id is not safe to paste. */
export const resumeCommand = (command: string, sessionId: string): string | null =>
  SAFE_ID.test(sessionId) ? `${command} ${sessionId}` : null;

/** A fact of a source that is a text; null for none, and for a blank one. */
export function textHint(source: SourceSpec, name: string): string | null {
  const value = source.hints[name];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
