/** What the README and the docs say is what the code does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agents } from '../src/agents/registry.ts';
import { tablesDocs } from '../src/records/docs.ts';
import { projectFolder } from './support/command.ts';

const text = (name: string): string => readFileSync(join(projectFolder, name), 'utf8');

it('docs/tables.md is what the tables say of themselves', () => {
  expect(text('docs/tables.md').trim()).toBe(tablesDocs().trim());
});

it('the README lists every agent with its aliases', () => {
  const readme = text('README.md');
  for (const agent of agents) {
    const row = readme.split('\n').find((line) => line.startsWith(`| \`${agent.slug}\``));
    expect(row, agent.slug).toBeDefined();
    expect(row).toContain(agent.name);
    for (const alias of agent.aliases) expect(row, `alias of ${agent.slug}`).toContain(alias);
  }
});
