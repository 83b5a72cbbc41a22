/** What the README and the docs say is what the code does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agents } from '../src/agents/registry.ts';
import { supportTable } from '../src/agents/support-table.ts';
import { tablesDocs } from '../src/records/docs.ts';
import { projectFolder } from './support/command.ts';

const text = (name: string): string => readFileSync(join(projectFolder, name), 'utf8');

it('docs/tables.md is what the tables say of themselves', () => {
  expect(text('docs/tables.md').trim()).toBe(tablesDocs().trim());
});

it('the README shows the table of agents as the definitions give it (npm run agents-table)', () => {
  expect(text('README.md')).toContain(supportTable(agents));
});
