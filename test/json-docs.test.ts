/** docs/json.md names every key that commands print. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, run, temporaryFolder } from './support/command.ts';

const docs = readFileSync(join(projectFolder, 'docs', 'json.md'), 'utf8');

/** Keys of objects at any depth; not those of counts by name, which are data. */
function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    ['read', 'rows', 'unknown_types', 'settings', 'agents'].includes(key) ? [key] : [key, ...keysOf(inner)],
  );
}

it('documents every key', async () => {
  const home = temporaryFolder();
  cpSync(join(projectFolder, 'fixtures', 'claude', 'bad-line-and-torn-tail', 'store'), join(home, '.claude'), {
    recursive: true,
  });
  const lake = join(temporaryFolder(), 'lake');
  const keys = new Set<string>();
  for (const args of [
    ['detect', '--all'],
    ['sources'],
    ['sources', '--explain', '--agent', 'claude'],
    ['sync', '--out', lake, '--gate', 'strict'],
    ['sources', '--out', lake],
    ['export', '--out', join(temporaryFolder(), 'lake')],
    ['usage'],
    ['verify', lake],
    ['cursor', 'show', '--out', lake],
  ]) {
    const { stdout, stderr } = await run([...args, '--json'], { HOME: home });
    expect(stdout, stderr).not.toBe('');
    for (const line of stdout.trim().split('\n')) {
      const value = JSON.parse(line) as Record<string, unknown>;
      if (args[0] !== 'sources' || args.includes('--explain')) expect(value['format_version'], args.join(' ')).toBe(1);
      for (const key of keysOf(value)) keys.add(key);
    }
  }
  expect(keys.size).toBeGreaterThan(50);
  expect([...keys].filter((key) => !docs.includes(`\`${key}\``))).toEqual([]);
});
