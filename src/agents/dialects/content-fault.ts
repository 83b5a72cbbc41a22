/** What has the wrong type in a message's content: what is lost with it must not pass for nothing. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { asObject, field, stringField } from './json.ts';

const isNoText = (value: unknown): boolean => value !== undefined && value !== null && typeof value !== 'string';

/** Of a text, or a list of texts and blocks; null where nothing is wrong. Absent content is not wrong. */
export function contentFault(content: unknown): string | null {
  if (content === undefined || content === null || typeof content === 'string') return null;
  if (!Array.isArray(content)) return 'the content of the message is neither a text nor a list';
  for (const value of content) {
    if (typeof value === 'string') continue;
    const block = asObject(value);
    if (block === null) return 'a block of the content is no object';
    const type = stringField(block, 'type');
    for (const key of ['text', 'thinking']) {
      const text = field(block, key);
      if (isNoText(text) || (type === key && typeof text !== 'string'))
        return `a block of the content holds no text under ${key}`;
    }
  }
  return null;
}

/** Reports what is wrong with a content, once. */
export function reportContent(content: unknown, position: Position, out: Emitter): void {
  const fault = contentFault(content);
  if (fault !== null) out.badRecord(position, 'wrong_type', fault);
}
