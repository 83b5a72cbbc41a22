/** Puts the table of agents into the README: `npm run agents-table`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { agents } from './registry.ts';
import { supportTable } from './support-table.ts';

const readme = new URL('../../README.md', import.meta.url);
const text = readFileSync(readme, 'utf8');
const [begin, end] = ['<!-- agents: made by `npm run agents-table` -->\n', '\n<!-- /agents -->'];
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from === -1 || to < from) throw new Error('README.md has no place for the table of agents');
writeFileSync(readme, text.slice(0, from + begin.length) + supportTable(agents) + text.slice(to));
