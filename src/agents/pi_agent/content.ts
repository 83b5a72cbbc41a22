/** Content of a message: a text, or blocks. */
import type { Emitter } from '../agent.ts';
import { asObject, field, type Json, joinTexts, jsonText, nameField, ownEntry, stringField } from '../dialects/json.ts';

export interface Content {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly calls: readonly {
    readonly id: string | null;
    readonly name: string | null;
    readonly input: unknown;
    readonly arguments: string | null;
  }[];
  /** Kinds of blocks, each once. */
  readonly kinds: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  thinking: 'thinking',
  toolCall: 'tool_use',
  image: 'image',
};

export function readContent(content: unknown, out: Emitter): Content {
  if (typeof content === 'string') {
    return { text: content === '' ? null : content, thinking: null, calls: [], kinds: content === '' ? [] : ['text'] };
  }
  const blocks: Json[] = (Array.isArray(content) ? content : []).map(asObject).filter((block) => block !== null);
  const kinds = new Set<string>();
  for (const block of blocks) {
    const type = stringField(block, 'type') ?? '(no type)';
    const kind = ownEntry(KINDS, type);
    if (kind === undefined) out.unknown(`content/${type}`);
    else kinds.add(kind);
  }
  const texts = (type: string): string | null =>
    joinTexts(blocks.filter((block) => stringField(block, 'type') === type).map((block) => stringField(block, type)));
  return {
    text: texts('text'),
    thinking: texts('thinking'),
    calls: blocks
      .filter((block) => stringField(block, 'type') === 'toolCall')
      .map((block) => ({
        id: nameField(block, 'id'),
        name: nameField(block, 'name'),
        input: field(block, 'arguments'),
        arguments: jsonText(field(block, 'arguments')),
      })),
    kinds: [...kinds],
  };
}
