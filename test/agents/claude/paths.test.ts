/** Where stores are looked for, and which files are sessions. */
import { describe, expect, test } from 'vitest';
import type { Entry, Walker } from '../../../src/agents/agent.ts';
import { claude } from '../../../src/agents/claude/index.ts';

const roots = (env: Record<string, string>): string[] =>
  claude.roots({ env, home: '/home/me', platform: 'linux' }).map(({ path }) => path);

describe('roots', () => {
  test.each([
    ['/one', ['/one']],
    ['/one/', ['/one']],
    ['/one/projects', ['/one']],
    ['/one/projects/', ['/one']],
    ['~/one', ['/home/me/one']],
    ['~', ['/home/me']],
    ['~other/one', ['~other/one']],
    ['/a, ~/b/projects ,,/a/', ['/a, ~/b/projects ,,/a', '/a', '/home/me/b']],
    ['/', ['/']],
  ])('CLAUDE_CONFIG_DIR=%s', (value, expected) => {
    expect(roots({ CLAUDE_CONFIG_DIR: value })).toEqual(expected);
  });

  test('the default places count only without the variable, and an empty one is none', () => {
    const places = ['/home/me/.claude', '/home/me/.config/claude', '/home/me/.config/claude-code'];
    expect(roots({})).toEqual(places);
    expect(roots({ CLAUDE_CONFIG_DIR: ' ' })).toEqual(places);
    expect(roots({ XDG_CONFIG_HOME: '/x' })).toEqual(['/home/me/.claude', '/x/claude', '/x/claude-code']);
  });
});

/** A folder tree that exists on paper. */
function paper(paths: readonly string[]): Walker {
  const isFolder = (path: string): boolean => paths.some((p) => p.startsWith(`${path}/`));
  return {
    list: (path) => {
      const names = new Set(
        paths.filter((p) => p.startsWith(`${path}/`)).map((p) => p.slice(path.length + 1).split('/')[0]!),
      );
      return [...names].sort().map((name): Entry => {
        const child = `${path}/${name}`;
        return { name, path: child, type: isFolder(child) ? 'folder' : 'file' };
      });
    },
    isFolder,
    isFile: (path) => paths.includes(path),
    realPath: (path) => path,
    read: () => null,
    head: () => null,
    stat: () => null,
    tree: () => ({ files: [], bytes: 0, state: '' }),
    database: () => ({ fault: { status: 'failed', code: 'unreadable', message: 'on paper' } }),
    passBy: () => undefined,
  };
}

const S = '0000000a-0000-4000-8000-00000000000A';
const T = '0000000b-0000-4000-8000-00000000000b';

describe('discovery', () => {
  test('three shapes of names are sessions, in path order, and the prompt history is last', () => {
    const found = [
      '/r/projects/-p/0000000a-0000-4000-8000-00000000000A.jsonl',
      `/r/projects/-p/${S}/subagents/agent-1.jsonl`,
      `/r/projects/-p/${S}/subagents/workflows/run/agent-2.jsonl`,
      `/r/projects/-p/${T}.jsonl`,
      '/r/projects/-p/agent-3.jsonl',
      `/r/projects/-q/${T}/subagents/agent-4.jsonl`,
      '/r/history.jsonl',
    ];
    const others = [
      `/r/projects/${S}.jsonl`,
      '/r/projects/-p/notes.jsonl',
      '/r/projects/-p/agent-.jsonl',
      '/r/projects/-p/sessions-index.json',
      `/r/projects/-p/${S}.jsonl.compact.tmp.00ff`,
      `/r/projects/-p/${S}.jsonl.superseded-1700000000000`,
      `/r/projects/-p/${S}/resume-head.jsonl`,
      `/r/projects/-p/${S}/agent-5.jsonl`,
      `/r/projects/-p/${S}/${T}.jsonl`,
      `/r/projects/-p/${S}/before-cleanup/${S}.jsonl.replaced`,
      `/r/projects/-p/${S}/subagents/journal.jsonl`,
      `/r/projects/-p/${S}/subagents/workflows/run/journal.jsonl`,
      `/r/projects/-p/${S}/subagents/${T}.jsonl`,
      `/r/projects/-p/${S}/tool-results/agent-6.jsonl`,
      `/r/projects/-p/${S}/remote-agents/agent-7.jsonl`,
      '/r/projects/-p/memory/subagents/agent-8.jsonl',
      `/r/todos/${S}.jsonl`,
      '/r/transcripts/ses_1.jsonl',
    ];
    const sources = [...claude.discover('/r', paper([...found, ...others]))];
    expect(sources.map(({ path }) => path)).toEqual(found);
    expect(sources.map(({ hints }) => hints)).toEqual([
      { isAgent: false, parent: null },
      { isAgent: true, parent: S },
      { isAgent: true, parent: S },
      { isAgent: false, parent: null },
      { isAgent: true, parent: null },
      { isAgent: true, parent: T },
      { optIn: 'history' },
    ]);
    expect(sources.every(({ storeKind }) => claude.formats[storeKind] !== undefined)).toBe(true);
  });

  test("an agent's sidecar belongs to its source", () => {
    const folder = `/r/projects/-p/${S}/subagents`;
    const sources = [
      ...claude.discover(
        '/r',
        paper([`${folder}/agent-1.jsonl`, `${folder}/agent-1.meta.json`, `${folder}/agent-2.jsonl`]),
      ),
    ];
    expect(sources.map(({ sidecars }) => sidecars)).toEqual([{ meta: `${folder}/agent-1.meta.json` }, {}]);
  });

  test('the projects folder itself may be the root, and an empty root has nothing', () => {
    const session = `/r/projects/-p/${S}.jsonl`;
    expect(
      [...claude.discover('/r/projects', paper([session, '/r/projects/history.jsonl']))].map(({ path }) => path),
    ).toEqual([session]);
    expect([...claude.discover('/r', paper([]))]).toEqual([]);
  });
});
