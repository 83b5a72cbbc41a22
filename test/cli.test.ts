/** The command line: statuses, streams, and messages that say what to do. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { cli, copyOf, parseRows, projectFolder, run, temporaryFolder } from './support/command.ts';
import { World } from './support/histories.ts';

const fixture = (agent: string, name: string): string => copyOf(join(projectFolder, 'fixtures', agent, name, 'store'));

function worldWith(sessions: number, turns: number): string {
  const home = join(temporaryFolder(), 'home');
  const world = new World(home);
  for (let i = 0; i < sessions; i++) {
    world.apply({ kind: 'create', agent: i % 2 === 0 ? 'claude' : 'codex', at: 0, by: i });
    if (i % 3 === 2) world.apply({ kind: 'fork', agent: i % 2 === 0 ? 'claude' : 'codex', at: 0, by: 7 });
    for (let t = 0; t < turns; t++)
      world.apply({ kind: 'append', agent: i % 2 === 0 ? 'claude' : 'codex', at: i >> 1, by: t });
  }
  return home;
}

describe('streams', () => {
  it('writes rows and nothing else to standard output, in table order, with every key', async () => {
    const { status, stdout, stderr } = await run(['stream'], { HOME: worldWith(4, 5) });
    expect(status).toBe(0);
    expect(stderr).toMatch(/5 sources read/);
    const rows = parseRows(stdout);
    expect(new Set(rows.map((r) => r.record))).toEqual(
      new Set(['session', 'message', 'tool_call', 'tool_result', 'usage', 'source']),
    );
    const keysOf = new Map<string, string>();
    for (const row of rows) {
      const keys = Object.keys(row).join();
      expect(keysOf.get(row.record) ?? keys).toBe(keys);
      keysOf.set(row.record, keys);
      expect(keys.startsWith('record,agent')).toBe(true);
    }
  });

  it('ends quietly when its reader goes away', async () => {
    const home = worldWith(8, 400);
    const child = spawn('sh', ['-c', `"${process.execPath}" "${cli}" stream --agent claude | head -1`], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    const status = await new Promise((done) => child.on('close', done));
    expect(status).toBe(0);
    expect(Buffer.concat(out).toString().trim().split('\n')).toHaveLength(1);
    expect(Buffer.concat(err).toString()).not.toMatch(/error|EPIPE|at .*\.js/i);
  });

  it.skipIf(!existsSync('/dev/full'))('says that a full disk behind a pipe lost the rows', async () => {
    const home = worldWith(2, 3);
    const command = `"${process.execPath}" "${cli}" stream > /dev/full`;
    const child = spawn('sh', ['-c', command], { env: { PATH: process.env['PATH'] ?? '', HOME: home } });
    const err: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    expect(await new Promise((done) => child.on('close', done))).toBe(3);
    expect(Buffer.concat(err).toString()).toContain('ENOSPC');
  });

  it.each(['usage', 'sources --json', 'detect', 'schema'])(
    '%s ends quietly when its reader goes away',
    async (command) => {
      const child = spawn('sh', ['-c', `"${process.execPath}" "${cli}" ${command} | true`], {
        env: { PATH: process.env['PATH'] ?? '', HOME: worldWith(2, 3) },
      });
      const err: Buffer[] = [];
      child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
      expect(await new Promise((done) => child.on('close', done))).toBe(0);
      expect(Buffer.concat(err).toString()).not.toMatch(/EPIPE|at .*\.js/);
    },
  );

  it('tells with a cursor only what is new', async () => {
    const home = worldWith(2, 3);
    const cursor = join(temporaryFolder(), 'c.db');
    const first = await run(['stream', '--cursor', cursor], { HOME: home });
    expect(parseRows(first.stdout).length).toBeGreaterThan(10);
    const second = await run(['stream', '--cursor', cursor], { HOME: home });
    expect(second.stdout).toBe('');
    expect(second.stderr).toMatch(/unchanged|0 rows/);
  });

  it('gives the same rows with one thread and with four', async () => {
    const home = worldWith(12, 300);
    const [one, four] = await Promise.all(
      ['1', '4'].map((n) => run(['stream', '--threads', n], { HOME: home, SOURCE_DATE_EPOCH: '1767600000' })),
    );
    expect(one!.stdout.length).toBeGreaterThan(1_000_000);
    expect(four!.stdout).toBe(one!.stdout);
  });
});

describe('what cannot be read', () => {
  it('ends with status 2, lists the source with its reason, and delivers the others', async () => {
    const home = worldWith(2, 2);
    const project = join(home, '.claude', 'projects', '-p');
    const [file] = readdirSync(project);
    const content = readFileSync(join(project, file!));
    writeFileSync(join(project, '11111111-0000-4000-8000-000000000001.jsonl'), Buffer.concat([content, content]));
    const limit = String(content.length + 1);
    const { status, stdout, stderr } = await run(['stream', '--agent', 'claude', '--max-file', limit], { HOME: home });
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /held back[\s\S]*11111111-0000-4000-8000-000000000001\.jsonl[\s\S]*over --max-file \d+; raise it/,
    );
    const rows = parseRows(stdout);
    expect(
      rows
        .filter((r) => r.record === 'source')
        .map((r) => r['status'])
        .sort(),
    ).toEqual(['complete', 'failed']);
    expect(rows.filter((r) => r.record === 'session')).toHaveLength(1);
  });

  it('ends with status 3 where nothing could be committed', async () => {
    const { status, stderr } = await run(['stream', '--agent', 'claude', '--max-file', '9'], { HOME: worldWith(2, 2) });
    expect(status).toBe(3);
    expect(stderr).toContain('nothing could be committed');
  });

  it('holds a source with a damaged record back under strict, and quarantines the record otherwise', async () => {
    const store = fixture('claude', 'bad-line-and-torn-tail');
    const args = ['stream', '--agent', 'claude'];
    const strict = await run([...args, '--gate', 'strict'], { CLAUDE_CONFIG_DIR: store });
    expect(strict.status).toBe(2);
    // File, byte range, and what can be done.
    expect(strict.stderr).toMatch(
      /held back:\n {2}claude \S+\.jsonl at bytes \d+-\d+\n {4}complete_with_errors: 1 bad record, the first: .+\n {2}next: .*--gate quarantine/,
    );
    const messagesOf = (text: string): number =>
      parseRows(text).filter(
        (r) => r.record === 'message' && r['session_id'] === '0000a007-0000-4000-8000-00000000a007',
      ).length;
    expect(messagesOf(strict.stdout)).toBe(0);
    const lenient = await run(args, { CLAUDE_CONFIG_DIR: store });
    expect(lenient.status).toBe(0);
    expect(messagesOf(lenient.stdout)).toBeGreaterThan(0);
    const issue = parseRows(lenient.stdout).find((r) => r.record === 'issue');
    expect(issue).toMatchObject({ severity: 'error', code: 'malformed_json' });
    expect(Number(issue!['byte_end'])).toBeGreaterThan(Number(issue!['byte_start']));
  });

  it('takes a torn tail for damage under --tail strict', async () => {
    const store = fixture('claude', 'bad-line-and-torn-tail');
    const { stdout } = await run(['stream', '--tail', 'strict', '--tables', 'sources,issues,messages'], {
      CLAUDE_CONFIG_DIR: store,
    });
    const statuses = parseRows(stdout)
      .filter((r) => r.record === 'source')
      .map((r) => r['status']);
    expect(statuses).toEqual(['complete_with_errors', 'complete_with_errors']);
    expect(parseRows(stdout).some((r) => r.record === 'issue' && r['code'] === 'torn_tail')).toBe(true);
  });

  it('passes by links and says which folder it could not list', async () => {
    const home = worldWith(2, 2);
    const projects = join(home, '.claude', 'projects');
    symlinkSync(join(projects, '-p'), join(projects, '-linked'));
    const closed = join(projects, '-closed');
    mkdirSync(closed);
    chmodSync(closed, 0o000);
    const { status, stdout, stderr } = await run(['stream', '--agent', 'claude'], { HOME: home });
    chmodSync(closed, 0o700);
    expect(status).toBe(0);
    expect(parseRows(stdout).filter((r) => r.record === 'session')).toHaveLength(1);
    if (process.getuid?.() !== 0) expect(stderr).toMatch(/-closed: the folder cannot be listed/);
  });

  it('reads one file up to a byte, and fails where it is shorter', async () => {
    const store = fixture('claude', 'streamed-blocks-final-usage');
    const project = join(store, 'projects', '-home-dev-app');
    const file = join(project, readdirSync(project)[0]!);
    const lines = readFileSync(file, 'utf8').split('\n');
    const end = Buffer.byteLength(`${lines[0]}\n${lines[1]}\n`);
    const args = ['stream', '--agent', 'claude', '--root', `claude=${file}`];
    const part = await run([...args, '--stop-at-byte', String(end)]);
    expect(part.status, part.stderr).toBe(0);
    expect(parseRows(part.stdout).find((r) => r.record === 'source')).toMatchObject({
      records: 2,
      status: 'complete',
      last_complete_byte: end,
    });
    const short = await run([...args, '--stop-at-byte', String(statSync(file).size + 1)]);
    expect(short.status).toBe(3);
    expect(short.stderr).toContain('fewer than --stop-at-byte');
  });

  it('takes a list of config folders apart only where the whole value is no folder', async () => {
    const folder = temporaryFolder();
    const one = fixture('claude', 'streamed-blocks-final-usage');
    const two = fixture('claude', 'resume-copies-history');
    const sessionsOf = async (variable: string): Promise<unknown[]> =>
      parseRows(
        (await run(['stream', '--agent', 'claude', '--tables', 'sessions'], { CLAUDE_CONFIG_DIR: variable })).stdout,
      ).map((r) => r['session_id']);
    expect(await sessionsOf(`${one},${two}`)).toHaveLength(3);
    const odd = join(folder, 'a,b');
    cpSync(one, odd, { recursive: true });
    expect(await sessionsOf(odd)).toEqual(['0000a001-0000-4000-8000-00000000a001']);
  });

  it('reads a root that is named in its scope only, never the live one', async () => {
    const home = worldWith(2, 2);
    const store = fixture('claude', 'streamed-blocks-final-usage');
    const { stdout } = await run(['stream', '--agent', 'claude', '--root', `claude=${store}`], { HOME: home });
    expect(
      parseRows(stdout)
        .filter((r) => r.record === 'session')
        .map((r) => r['session_id']),
    ).toEqual(['0000a001-0000-4000-8000-00000000a001']);
  });
});

describe('tables that are asked for', () => {
  it('gives the same rows and ids whatever else is asked for', async () => {
    const home = worldWith(6, 8);
    const whole = parseRows((await run(['stream'], { HOME: home })).stdout);
    for (const [table, record] of [
      ['messages', 'message'],
      ['tool_calls', 'tool_call'],
      ['tool_results', 'tool_result'],
      ['usage', 'usage'],
      ['sessions', 'session'],
    ] as const) {
      const alone = parseRows((await run(['stream', '--tables', table], { HOME: home })).stdout);
      expect(alone, table).toEqual(whole.filter((r) => r.record === record));
    }
  });

  it('gives exact bytes and delimiters of every record in raw, without parsing', async () => {
    const home = join(temporaryFolder(), 'home');
    const project = join(home, '.claude', 'projects', '-p');
    mkdirSync(project, { recursive: true });
    const file = join(project, '11111111-0000-4000-8000-000000000001.jsonl');
    const content = Buffer.concat([
      Buffer.from('{"type":"user"}\r\nno json\n'),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from('{"torn'),
    ]);
    writeFileSync(file, content);
    const { stdout, status } = await run(['stream', '--tables', 'raw'], { HOME: home });
    expect(status).toBe(0);
    const rows = parseRows(stdout);
    expect(rows.map((r) => [r['byte_start'], r['byte_end'], r['delimiter']])).toEqual([
      [0, 15, '\r\n'],
      [17, 24, '\n'],
      [25, 27, '\n'],
    ]);
    expect(rows[0]!['record_bytes']).toBe('{"type":"user"}');
    expect(rows[2]!['record_bytes']).toBe(Buffer.from([0xff, 0xfe]).toString('base64'));
  });

  it('gives prompt history of both agents when it is named, with the native unit', async () => {
    const home = join(temporaryFolder(), 'home');
    mkdirSync(join(home, '.claude'), { recursive: true });
    mkdirSync(join(home, '.codex', 'sessions'), { recursive: true });
    writeFileSync(
      join(home, '.claude', 'history.jsonl'),
      `${JSON.stringify({ display: 'hello', pastedContents: {}, timestamp: 1767600000123, project: '/home/dev/app', sessionId: 's1' })}\n`,
    );
    writeFileSync(
      join(home, '.codex', 'history.jsonl'),
      `${JSON.stringify({ session_id: 's2', ts: 1767600001, text: 'hi' })}\n`,
    );
    const { stdout } = await run(['stream', '--tables', 'history,sessions'], { HOME: home });
    expect(parseRows(stdout).filter((r) => r.record === 'history')).toMatchObject([
      {
        agent: 'claude',
        text: 'hello',
        timestamp: '2026-01-05T08:00:00.123Z',
        timestamp_native: 1767600000123,
        unit: 'ms',
        session_id: 's1',
        cwd: '/home/dev/app',
      },
      {
        agent: 'codex',
        text: 'hi',
        timestamp: '2026-01-05T08:00:01.000Z',
        timestamp_native: 1767600001,
        unit: 's',
        session_id: 's2',
      },
    ]);
    expect(parseRows(stdout).filter((r) => r.record === 'session')).toEqual([]);
    expect((await run(['stream'], { HOME: home })).stdout).toBe('');
  });

  it('rewrites workspace paths at whole components', async () => {
    const { stdout } = await run(
      ['stream', '--tables', 'sessions', '--rewrite', '/home/dev=/data/me', '--rewrite', '/home/de=/wrong'],
      { HOME: worldWith(2, 2) },
    );
    expect(parseRows(stdout).map((r) => r['cwd'])).toEqual(['/data/me/app', '/data/me/app']);
  });

  it('leaves out what is before --since or not before --until', async () => {
    const home = worldWith(2, 20);
    const all = parseRows((await run(['stream', '--tables', 'messages'], { HOME: home })).stdout);
    const times = all.map((r) => String(r['timestamp'])).sort();
    const [from, to] = [times[10]!, times[30]!];
    const some = parseRows(
      (await run(['stream', '--tables', 'messages', '--since', from, '--until', to], { HOME: home })).stdout,
    );
    expect(some).toEqual(all.filter((r) => String(r['timestamp']) >= from && String(r['timestamp']) < to));
  });
});

describe('lakes', () => {
  it('keeps files and folders for their owner alone', async () => {
    const lake = join(temporaryFolder(), 'lake');
    expect((await run(['export', '--out', lake], { HOME: worldWith(2, 2) })).status).toBe(0);
    const modes = (folder: string): number[] =>
      readdirSync(folder).flatMap((name) => {
        const path = join(folder, name);
        const stat = statSync(path);
        return [stat.mode & 0o077, ...(stat.isDirectory() ? modes(path) : [])];
      });
    expect(new Set([statSync(lake).mode & 0o077, ...modes(lake)])).toEqual(new Set([0]));
  });

  it('does not let two runs into one lake: the second ends with status 75', async () => {
    const home = worldWith(2, 2);
    const lake = join(temporaryFolder(), 'lake');
    await run(['sync', '--out', lake], { HOME: home });
    const holder = new Database(join(lake, '_sessionlake', 'cursor.db.lock'));
    holder.exec('BEGIN EXCLUSIVE');
    const { status, stderr } = await run(['sync', '--out', lake], { HOME: home });
    holder.exec('ROLLBACK');
    holder.close();
    expect(status).toBe(75);
    expect(stderr).toMatch(/another run holds/);
  });

  it('does not take an emptied cursor for a new one', async () => {
    const home = worldWith(2, 2);
    const lake = join(temporaryFolder(), 'lake');
    await run(['sync', '--out', lake], { HOME: home });
    for (const ending of ['', '-wal', '-shm']) writeFileSync(join(lake, '_sessionlake', `cursor.db${ending}`), '');
    const { status, stderr } = await run(['sync', '--out', lake], { HOME: home });
    expect(status).toBe(1);
    expect(stderr).toMatch(/missing or empty/);
  });

  it('says in one line that nothing changed, and writes nothing', async () => {
    const home = worldWith(4, 4);
    const lake = join(temporaryFolder(), 'lake');
    await run(['sync', '--out', lake], { HOME: home });
    await new Promise((done) => setTimeout(done, 200));
    await run(['sync', '--out', lake], { HOME: home });
    const before = readFileSync(join(lake, '_sessionlake', 'manifest.json'), 'utf8');
    const { status, stderr } = await run(['sync', '--out', lake], { HOME: home });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^0 sources read \(0 B\), 5 unchanged, 0 rows in [\d.]+ s\n$/);
    expect(readFileSync(join(lake, '_sessionlake', 'manifest.json'), 'utf8')).toBe(before);
  });

  it('refuses to replace a folder that it did not write, to mix kinds of lakes, and to change settings midway', async () => {
    const home = worldWith(2, 2);
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'thesis.txt'), 'precious');
    expect(await run(['export', '--out', folder], { HOME: home })).toMatchObject({ status: 1 });
    expect(readFileSync(join(folder, 'thesis.txt'), 'utf8')).toBe('precious');
    const lake = join(folder, 'lake');
    await run(['sync', '--out', lake], { HOME: home });
    expect(await run(['export', '--out', lake], { HOME: home })).toMatchObject({ status: 1 });
    const changed = await run(['sync', '--out', lake, '--format', 'ndjson'], { HOME: home });
    expect(changed.status).toBe(1);
    expect(changed.stderr).toMatch(/format was "parquet" and is "ndjson"/);
  });

  it('leaves the old snapshot whole when an export fails', async () => {
    const home = worldWith(2, 2);
    const lake = join(temporaryFolder(), 'lake');
    await run(['export', '--out', lake], { HOME: home });
    const before = readdirSync(join(lake, 'messages'));
    const { status } = await run(['export', '--out', lake, '--stop-at-byte', '5'], { HOME: home });
    expect(status).toBe(1);
    expect(readdirSync(join(lake, 'messages'))).toEqual(before);
    expect(existsSync(join(lake, '..', '.lake.sessionlake-stage'))).toBe(false);
  });
});
