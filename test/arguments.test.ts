/** What the command is told, and what it says where that is wrong: arguments, help, pipeline definitions. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/cli/commands.ts';
import { run, temporaryFolder } from './support/command.ts';
import { World } from './support/histories.ts';

function worldWith(sessions: number, turns: number): string {
  const world = new World(join(temporaryFolder(), 'home'));
  for (let i = 0; i < sessions; i++) {
    const agent = i % 2 === 0 ? 'claude' : 'codex';
    world.apply({ kind: 'create', agent, at: 0, by: i });
    for (let t = 0; t < turns; t++) world.apply({ kind: 'append', agent, at: i >> 1, by: t });
  }
  return world.home;
}

describe('arguments', () => {
  it('names the known agents and aliases when one is unknown', async () => {
    const { status, stderr, stdout } = await run(['stream', '--agent', 'clade']);
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/unknown agent 'clade'.*claude \(.*cc.*codex \(.*codex-cli/);
  });

  it.each(['export', 'sync'])('%s says what stands in the way of its folder', async (command) => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    for (const out of [file, join(file, 'below')]) {
      const { status, stderr } = await run([command, '--out', out]);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/is no folder|a file stands in its way/)]);
    }
  });

  it.skipIf(!existsSync('/proc/self'))('sync ends where a place takes no folders', async () => {
    const { status, stderr } = await run(['sync', '--out', '/proc/sessionlake']);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/the place takes no folders/)]);
  });

  it.each([
    [['export'], /needs --out DIR/],
    [['stream', '--tables', 'mesages'], /unknown table 'mesages'; known: sessions, messages/],
    [['stream', '--max-line', '64MX'], /--max-line.*is no size/],
    [['stream', '--since', 'yesterday'], /--since.*is no time/],
    [['stream', '--threads', '0'], /--threads: '0' is not a whole number from 1 to 64/],
    [['stream', '--gate', 'loose'], /--gate: 'loose' is not strict or quarantine/],
    [['sources', '--root', 'claude=/does/not/exist'], /no such folder or file/],
    [['sources', '--explain', '--cursor', 'x'], /--explain goes without --cursor/],
    [['stream', '--root', 'claude'], /--root.*agent=PATH/],
    [['stream', '--root', 'claude=/does/not/exist'], /no such folder or file/],
    [['stream', '--exclude', '/does/not/exist'], /--exclude \/does\/not\/exist: cannot be resolved/],
    [['stream', '--nonsense'], /unknown option/],
    [['usage', '--time-zone', 'Mars/Olympus'], /IANA/],
  ])('%j ends with status 1 and says why', async (args, message) => {
    const { status, stderr, stdout } = await run(args);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
  });

  it('refuses an exclusion from the environment that excludes nothing, before anything is read', async () => {
    const { status, stderr } = await run(['stream'], { SESSIONLAKE_EXCLUDE_PATHS: '/does/not/exist' });
    expect(status).toBe(1);
    expect(stderr).toContain('nothing was read');
  });

  it.each(['', ...commands.map(({ name }) => name)])(
    '%s --help shows an example and fits 100 columns',
    async (name) => {
      const { status, stdout } = await run([...name.split(' ').filter((word) => word !== ''), '--help']);
      expect(status).toBe(0);
      expect(stdout).toContain(`Example:\n  $ sessionlake ${name}`);
      for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
      // Every option that takes a value says what holds without it.
      const options = stdout
        .split(/\n {2}(?=-)/)
        .slice(1)
        .map((text) => text.split('\n\n')[0]!);
      for (const option of options.filter((text) => /^--[\w-]+ </.test(text)))
        expect(option.replace(/\s+/g, ' ')).toMatch(/\(default|default:|\(required/);
    },
  );

  it('says of --cursor and --tables what they are in each command', async () => {
    const help = async (...args: string[]): Promise<string> =>
      (await run([...args, '--help'])).stdout.replace(/\s+/g, ' ');
    expect(await help('cursor', 'show')).toContain(
      '--cursor <file> the cursor file itself (default: that of the lake)',
    );
    expect(await help('schema')).toContain('only these tables, comma-separated (default: all, raw and history too)');
    expect(await help('sources')).toContain('--json for programs: NDJSON, one object a source');
    expect(await help('detect')).toContain('--json for programs: one JSON object');
  });
});

describe('pipeline definitions', () => {
  const definition = (content: unknown): string => {
    const file = join(temporaryFolder(), 'pipeline.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };

  it.each([
    [{ command: 'export', options: { out: 'x', formt: 'parquet' } }, /unknown option 'formt'/],
    [{ command: 'export', option: {} }, /unknown key 'option'/],
    [{ command: 'explode' }, /'command' must be export, sync, stream or usage/],
    [{ command: 'export', options: { out: 'x', threads: '--many' } }, /threads: '--many' is not a whole number/],
    [[], /a definition must be an object with a command and its options/],
    ['{ no json', /is not JSON/],
  ])('%j is an error that names the key', async (content, message) => {
    const { status, stderr } = await run(['run', definition(content)]);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
  });

  it('that is not there is an error that names it', async () => {
    const { status, stderr } = await run(['run', '/does/not/exist.json']);
    expect(status).toBe(1);
    expect(stderr).toContain('/does/not/exist.json cannot be read (ENOENT)');
  });

  it('may hold every option of the command line', async () => {
    const home = worldWith(2, 3);
    const out = join(temporaryFolder(), 'lake');
    const options = {
      agent: ['claude'],
      tables: ['messages', 'sources'],
      gate: 'strict',
      threads: 1,
      'max-line': '1MiB',
      format: 'ndjson',
      partition: 'day',
      quiet: true,
      out,
    };
    const { status, stderr } = await run(['run', definition({ command: 'export', options })], { HOME: home });
    expect(status, stderr).toBe(0);
    expect(readdirSync(out).sort()).toEqual(['_sessionlake', 'messages', 'sources']);
    expect(readdirSync(join(out, 'messages'))).toEqual(['day=2026-01-05']);
  });
});
