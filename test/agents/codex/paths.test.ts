import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Walker } from '../../../src/agents/agent.ts';
import { codex } from '../../../src/agents/codex/index.ts';
import { readTitles } from '../../../src/agents/codex/paths.ts';
import { fileWalker } from './driver.ts';

const folder = mkdtempSync(join(tmpdir(), 'codex-paths-'));
afterAll(() => rmSync(folder, { recursive: true }));
let stores = 0;

/** A root with these files; contents are of no matter here. */
function store(files: Readonly<Record<string, string>>): string {
  const root = join(folder, String(stores++));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const ID = '019b0001-0000-7000-8000-000000000001';
const ROLLOUT = `rollout-2026-02-03T09-00-00-${ID}`;
const DAY = 'sessions/2026/02/03';
const discover = (root: string, walker: Walker = fileWalker()) => [...codex.discover(root, walker)];
const pathsOf = (root: string) => discover(root).map((source) => source.path.slice(root.length + 1));

describe('roots', () => {
  const roots = (env: Record<string, string>) => codex.roots({ env, home: '/home/dev', platform: 'linux' });

  test('CODEX_HOME is the root where it is set and not empty', () => {
    expect(roots({ CODEX_HOME: '/data/codex' })).toEqual([{ path: '/data/codex', reason: 'env CODEX_HOME' }]);
    for (const env of [{}, { CODEX_HOME: '' }] as Record<string, string>[])
      expect(roots(env)).toEqual([{ path: '/home/dev/.codex', reason: 'default' }]);
  });
});

describe('discovery', () => {
  test('finds active, archived, compressed and early files, in path order, prompts last', () => {
    const root = store({
      [`${DAY}/${ROLLOUT}.jsonl`]: '',
      'sessions/2026/02/04/rollout-2026-02-04T09-00-00-b.jsonl.zst': '',
      'sessions/rollout-2025-04-20-11111111-2222-4333-8444-555555555502.json': '{}',
      'archived_sessions/rollout-2025-01-01T09-00-00-c.jsonl': '',
      'history.jsonl': '',
    });
    expect(pathsOf(root)).toEqual([
      'archived_sessions/rollout-2025-01-01T09-00-00-c.jsonl',
      `${DAY}/${ROLLOUT}.jsonl`,
      'sessions/2026/02/04/rollout-2026-02-04T09-00-00-b.jsonl.zst',
      'sessions/rollout-2025-04-20-11111111-2222-4333-8444-555555555502.json',
      'history.jsonl',
    ]);
    const sources = discover(root);
    expect(sources.map((source) => source.storeKind)).toEqual([
      'codex-jsonl',
      'codex-jsonl',
      'codex-jsonl',
      'codex-document',
      'codex-history',
    ]);
    expect(sources.at(-1)?.hints).toEqual({ optIn: 'history' });
  });

  test('leaves alone what is no rollout, and opens nothing but the index of titles', () => {
    const root = store({
      'auth.json': 'secret',
      'config.toml': '',
      'session_index.jsonl': '',
      'state_5.sqlite': '',
      'log/codex-tui.log': '',
      'shell_snapshots/a.sh': '',
      'sessions/2026/02/03/.rollout-materialize-x.jsonl': '',
      'sessions/2026/02/03/rollout-x.jsonl.tmp': '',
      'sessions/2026/02/03/rollout-x.jsonl.zst.tmp': '',
      'sessions/2026/02/03/notes.jsonl': '',
      [`archived_sessions/deep/${ROLLOUT}.jsonl`]: '',
      [`${DAY}/${ROLLOUT}.jsonl`]: '',
    });
    const opened: string[] = [];
    const spy: Walker = fileWalker();
    const read = spy.read.bind(spy);
    spy.read = (path, maxBytes) => {
      opened.push(path);
      return read(path, maxBytes);
    };
    expect(discover(root, spy).map((source) => source.path)).toEqual([join(root, DAY, `${ROLLOUT}.jsonl`)]);
    expect(opened).toEqual([join(root, 'session_index.jsonl')]);
  });

  test('a plain file stands for its compressed twin, an active one for its archived copy', () => {
    const twins = { [`${DAY}/${ROLLOUT}.jsonl`]: '', [`${DAY}/${ROLLOUT}.jsonl.zst`]: '' };
    expect(pathsOf(store(twins))).toEqual([`${DAY}/${ROLLOUT}.jsonl`]);
    const copies = { [`archived_sessions/${ROLLOUT}.jsonl`]: '', [`${DAY}/${ROLLOUT}.jsonl.zst`]: '' };
    expect(pathsOf(store(copies))).toEqual([`${DAY}/${ROLLOUT}.jsonl.zst`]);
    const days = { [`${DAY}/${ROLLOUT}.jsonl.zst`]: '', [`sessions/2026/02/04/${ROLLOUT}.jsonl`]: '' };
    expect(pathsOf(store(days))).toEqual([`sessions/2026/02/04/${ROLLOUT}.jsonl`]);
    const archived = { [`archived_sessions/${ROLLOUT}.jsonl`]: '', [`archived_sessions/${ROLLOUT}.jsonl.zst`]: '' };
    expect(pathsOf(store(archived))).toEqual([`archived_sessions/${ROLLOUT}.jsonl`]);
  });

  test('a file keeps its identity when Codex archives or compresses it', () => {
    const places = [
      `${DAY}/${ROLLOUT}.jsonl`,
      `archived_sessions/${ROLLOUT}.jsonl`,
      `archived_sessions/${ROLLOUT}.jsonl.zst`,
    ];
    for (const path of places) {
      const [source] = discover(store({ [path]: '' }));
      expect([source?.identity, source?.name]).toEqual([`${ROLLOUT}.jsonl`, ROLLOUT]);
      expect(source?.hints['archived']).toBe(path.startsWith('archived'));
    }
  });

  test('files of one thread are sources of their own', () => {
    const root = store({ [`${DAY}/${ROLLOUT}.jsonl`]: '', [`${DAY}/${ROLLOUT}_rollout2.jsonl`]: '' });
    expect(new Set(discover(root).map((source) => source.identity)).size).toBe(2);
  });

  test('an absent store has no sources', () => {
    expect(discover(join(folder, 'nowhere'))).toEqual([]);
  });
});

describe('titles', () => {
  const entry = (id: string, name: unknown): string => JSON.stringify({ id, thread_name: name });

  test('the last name that is not blank counts; damaged lines name nothing', () => {
    const index = [
      entry('a', 'first'),
      entry('b', 'other'),
      entry('a', 'second'),
      entry('a', '  '),
      entry('a', null),
      '{"id":"a","thr',
    ];
    expect([...readTitles(Buffer.from(index.join('\n')))]).toEqual([
      ['a', 'second'],
      ['b', 'other'],
    ]);
  });

  test('a key that objects inherit is no name', () => {
    expect([
      ...readTitles(Buffer.from('{"__proto__":{"id":"a","thread_name":"x"}}\n{"id":"constructor","thread_name":"y"}')),
    ]).toEqual([['constructor', 'y']]);
  });

  test('the id in the file name finds the title, for every file of the thread', () => {
    const root = store({
      'session_index.jsonl': entry(ID, 'Named'),
      [`${DAY}/${ROLLOUT}.jsonl`]: '',
      [`${DAY}/${ROLLOUT}_rollout2.jsonl`]: '',
      [`${DAY}/rollout-2026-02-03T10-00-00-other.jsonl`]: '',
    });
    expect(discover(root).map((source) => source.hints['title'])).toEqual(['Named', 'Named', null]);
  });
});
