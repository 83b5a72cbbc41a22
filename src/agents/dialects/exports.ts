/** Exports of accounts: different vendors' are files of the same names. */
import type { Walker } from '../agent.ts';

const HEAD = 64 * 1024;
/** The list or tree of messages in a conversation, which comes before what is said. */
const MARKS = { mapping: '"mapping"', chat_messages: '"chat_messages"' } as const;

/**
 * Whether a file of conversations is of the vendor whose conversations hold `mark`: the one that comes first in it. One
 * that shows neither is taken for ChatGPT's, whose reader says what is wrong with it.
 */
export function isExportOf(mark: keyof typeof MARKS, path: string, walker: Walker): boolean {
  const head = walker.head(path, HEAD);
  if (head === null) return false;
  const tree = head.indexOf(MARKS.mapping);
  const list = head.indexOf(MARKS.chat_messages);
  const isList = list !== -1 && (tree === -1 || list < tree);
  return mark === 'chat_messages' ? isList : !isList;
}
