/** What stands on the user's side of a conversation, and whether somebody typed it. */

import { textOf } from './blocks.ts';
import { asObject, field, type Json, objectField, stringField } from './guards.ts';
import type { Row } from './row.ts';

/** Texts that the client puts there. `<command-name>` and `<bash-input>` wrap what the person typed: they are not here. */
const INJECTED = [
  '<local-command-stdout>',
  '<local-command-stderr>',
  '<local-command-caveat>',
  '<bash-stdout>',
  '<bash-stderr>',
  '<task-notification>',
  '[Request interrupted by user',
];

/** Values of `origin.kind` whose meaning is known; there are more (peer, coordinator, plugin …). */
const INJECTED_ORIGINS = new Set(['task-notification', 'auto-continuation', 'voice-call']);

/** Whether nobody typed the text of a user row: it says so itself, or its text begins as only the client's does. */
export function isInjected(row: Row, text: string): boolean {
  if (row.isTrue('isMeta') || row.isTrue('isCompactSummary')) return true;
  const origin = row.text('origin.kind');
  if (origin === 'human') return false;
  if (origin !== null && INJECTED_ORIGINS.has(origin)) return true;
  return INJECTED.some((start) => text.startsWith(start));
}

export interface DisguisedPrompt {
  readonly kind: 'queued_command' | 'voice_call_talk';
  readonly text: string;
  readonly isMeta: boolean;
  readonly content: unknown;
}

/**
 * A prompt that stands in an attachment or a system row; null for all others. `queued_command` was typed while a reply
 * went on and exists nowhere else; `voice_call_talk` (2.1.332) is a user row stored in disguise.
 */
export function readDisguisedPrompt(record: unknown): DisguisedPrompt | null {
  const object = asObject(record);
  if (object === null) return null;
  const attachment = objectField(object, 'attachment');
  return attachment === null ? readVoice(object) : readQueuedCommand(object, attachment);
}

function readQueuedCommand(record: Json, attachment: Json): DisguisedPrompt | null {
  const mode = field(attachment, 'commandMode');
  if (mode !== undefined && mode !== null && mode !== 'prompt') return null;
  if (field(attachment, 'isMeta') === true || field(record, 'isMeta') === true) return null;
  const content = field(attachment, 'prompt');
  const text = textOf(content);
  return text === null ? null : { kind: 'queued_command', text, isMeta: false, content };
}

/** Its words are in `content`, or are the text of `blocks`. */
function readVoice(record: Json): DisguisedPrompt | null {
  const words = stringField(record, 'content');
  const content = words === null || words === '' ? field(record, 'blocks') : words;
  const text = textOf(content);
  return text === null ? null : { kind: 'voice_call_talk', text, isMeta: true, content };
}
