/** Types in a store may be named like what every object inherits: they are unknown types, and never a function of ours. */
import { expect, test } from 'vitest';
import { readBlocks } from '../../../src/agents/dialects/anthropic.ts';
import { field, ownEntry } from '../../../src/agents/dialects/json.ts';
import { identifyTool } from '../../../src/agents/dialects/tools.ts';

const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

test.each(NAMES)('%s is no known block, tool or member', (name) => {
  const unknown: string[] = [];
  const blocks = readBlocks([{ type: name, text: 'a' }], (type) => unknown.push(type));
  expect([unknown, blocks.kinds, blocks.text]).toEqual([[`content/${name}`], [], null]);
  expect(identifyTool(name, {})).toEqual({ name, kind: 'function' });
  expect(field({}, name)).toBeUndefined();
  expect(ownEntry({ known: 1 }, name)).toBeUndefined();
});
