/** Which parts of a user message were typed, and which were put there by Codex. */
import { asObject, type Json, listField, objectField, stringField } from './guards.ts';

/** How injected texts begin, exactly (trimmed); any other tag is a real prompt. */
const INJECTED_BEGINNINGS = [
  '<environment_context>',
  '# AGENTS.md instructions',
  '<user_instructions>',
  '<turn_aborted>',
  '<skill>',
  '<user_shell_command>',
  '<subagent_notification>',
  '<recommended_plugins>',
  '<goal_context>',
  '<codex_internal_context ',
  '<hook_prompt ',
  '<external_',
];
const LEADING_SPACE = 64;

export function isInjectedText(text: string): boolean {
  // Only the beginning counts; prompts can be megabytes.
  const start = text.slice(0, LEADING_SPACE + 32).trimStart();
  return INJECTED_BEGINNINGS.some((beginning) => start.startsWith(beginning));
}

/**
 * Newer rows say it themselves: `content_item_kinds` holds one kind for each content item, `user.text` and `user.image`
 * for what was typed. Null where the row does not say, or says it for another number of items.
 */
function itemKinds(payload: Json, items: number): readonly unknown[] | null {
  const metadata = objectField(payload, 'internal_chat_message_metadata_passthrough');
  const kinds = metadata === null ? [] : listField(metadata, 'content_item_kinds');
  return items > 0 && kinds.length === items && kinds.every((kind) => typeof kind === 'string') ? kinds : null;
}

const isTypedKind = (kind: unknown): boolean => typeof kind === 'string' && kind.startsWith('user.');

/** For each content item of a user message, whether somebody typed it. */
export function typedItems(payload: Json, content: readonly unknown[]): boolean[] {
  const kinds = itemKinds(payload, content.length);
  return content.map((item, i) => {
    if (kinds !== null) return isTypedKind(kinds[i]);
    const text = stringField(asObject(item) ?? {}, 'text');
    return text === null || !isInjectedText(text);
  });
}

/** Whether a user message holds anything that was typed: such a message begins a turn that a rollback can take back. */
export const isTypedMessage = (payload: Json): boolean => {
  const plain = stringField(payload, 'content');
  return plain === null ? typedItems(payload, listField(payload, 'content')).includes(true) : !isInjectedText(plain);
};
