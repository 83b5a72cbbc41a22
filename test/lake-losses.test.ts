/** Lakes that lost something, that cannot be written, or that two runs want: what is told, and the way out. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { Cursor } from '../src/cursor/cursor.ts';
import { CursorLockedError, takeLock } from '../src/cursor/lock.ts';
import { ConsumerGone, Pipe } from '../src/pipeline/pipe.ts';
import { atPath } from '../src/sinks/file-output.ts';
import { cli, type Finished, parseRows, run, temporaryFolder } from './support/command.ts';
import { World } from './support/histories.ts';
import { lakeRows } from './support/lakes.ts';

function worldWith(sessions: number): World {
  const world = new World(join(temporaryFolder(), 'home'));
  for (let i = 0; i < sessions; i++) world.apply({ kind: 'create', agent: 'claude', at: 0, by: i });
  for (let i = 0; i < sessions * 3; i++) world.apply({ kind: 'append', agent: 'claude', at: i, by: i });
  return world;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** A lake of two batches, and how to sync it once more. */
async function lakeOf(world: World): Promise<{ lake: string; sync: () => Promise<Finished> }> {
  const lake = join(temporaryFolder(), 'lake');
  const sync = () => run(['sync', '--out', lake, '--format', 'ndjson'], { HOME: world.home });
  expect(await sync()).toMatchObject({ status: 0 });
  world.apply({ kind: 'append', agent: 'claude', at: 0, by: 5 });
  expect(await sync()).toMatchObject({ status: 0 });
  return { lake, sync };
}

const manifestOf = (lake: string): string => join(lake, '_sessionlake', 'manifest.json');
const first = (lake: string, table: string): string => filesBelow(join(lake, table))[0]!;
const stageOf = (lake: string): string => join(lake, '_sessionlake', 'stage');

describe('a lake that lost files', () => {
  it('takes no more rows until they are back', async () => {
    const world = worldWith(2);
    const { lake, sync } = await lakeOf(world);
    const file = first(lake, 'messages');
    renameSync(file, `${lake}.kept`);
    world.apply({ kind: 'append', agent: 'claude', at: 1, by: 1 });
    const before = filesBelow(lake);
    const { status, stderr } = await sync();
    expect(status).toBe(3);
    expect(stderr).toContain(`${lake} is not as it was committed`);
    // All below the lake but the cursor and the manifest, and the one that is gone.
    expect(stderr).toContain(`(1 of ${before.length - 1} files)`);
    expect(stderr).toContain(`messages/${file.slice(join(lake, 'messages').length + 1)} is missing`);
    expect(filesBelow(lake)).toEqual(before);
    renameSync(`${lake}.kept`, file);
    expect(await sync()).toMatchObject({ status: 0 });
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
  });

  it('goes on without them at the word of its owner, and adds no row twice', async () => {
    const world = worldWith(2);
    const { lake, sync } = await lakeOf(world);
    const lost = first(lake, 'messages');
    const gone = parseRows(readFileSync(lost, 'utf8')).map((row) => row['event_id']);
    rmSync(lost);
    expect(await run(['cursor', 'reset', '--lost-files', '--out', lake])).toMatchObject({ status: 0 });
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
    world.apply({ kind: 'append', agent: 'claude', at: 1, by: 1 });
    expect(await sync()).toMatchObject({ status: 0 });
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
    const ids = lakeRows(lake).map((row) => `${row['event_id']} ${row['revision']}`);
    const told = lakeRows(lake).filter((row) => row.record === 'message');
    expect(told.length).toBeGreaterThan(0);
    expect(told.filter((row) => gone.includes(row['event_id']) && row['revision'] === 0)).toEqual([]);
    const events = ids.filter((id) => !id.startsWith('undefined'));
    expect(new Set(events).size).toBe(events.length);
  });

  it('refuses to go on with a file that was cut', async () => {
    const { lake, sync } = await lakeOf(worldWith(2));
    const file = first(lake, 'usage');
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, 20));
    const told = `has 20 bytes, not ${whole.length}`;
    expect(await sync()).toMatchObject({ status: 3, stderr: expect.stringContaining(told) });
    const reset = await run(['cursor', 'reset', '--lost-files', '--out', lake]);
    expect(reset).toMatchObject({ status: 1, stderr: expect.stringContaining(told) });
    writeFileSync(file, whole);
    expect(await sync()).toMatchObject({ status: 0 });
  });

  it.each([
    ['missing', (path: string) => rmSync(path)],
    ['damaged', (path: string) => writeFileSync(path, '{"manifest_version": 1')],
    ['of an earlier batch', (path: string, before: string) => writeFileSync(path, before)],
  ])('writes a manifest anew that is %s', async (_, harm) => {
    const world = worldWith(2);
    const { lake, sync } = await lakeOf(world);
    const before = readFileSync(manifestOf(lake), 'utf8');
    world.apply({ kind: 'append', agent: 'claude', at: 0, by: 7 });
    await sync();
    const whole = readFileSync(manifestOf(lake), 'utf8');
    expect(whole).not.toBe(before);
    harm(manifestOf(lake), before);
    expect((await run(['verify', lake])).status).toBeGreaterThan(0);
    expect(await sync()).toMatchObject({ status: 0 });
    expect(readFileSync(manifestOf(lake), 'utf8')).toBe(whole);
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
  });

  it('can be led out of a batch that was interrupted and whose staged files are gone', async () => {
    const world = worldWith(2);
    const { lake, sync } = await lakeOf(world);
    // As a crash between the record of the batch and the moving of its files leaves it, and a cleaning of the stage.
    const cursor = new Database(join(lake, '_sessionlake', 'cursor.db'));
    const { files } = cursor.prepare("SELECT files FROM batches WHERE batch_id = '000002'").get() as { files: string };
    cursor.exec("UPDATE batches SET state = 'prepared' WHERE batch_id = '000002'");
    cursor.close();
    const paths = (JSON.parse(files) as { path: string }[]).map(({ path }) => path);
    for (const path of paths) {
      mkdirSync(dirname(join(stageOf(lake), '000002', path)), { recursive: true });
      renameSync(join(lake, path), join(stageOf(lake), '000002', path));
    }
    const [lost, ...rest] = paths;
    rmSync(join(stageOf(lake), '000002', lost!));
    const { status, stderr } = await sync();
    expect(status).toBe(3);
    expect(stderr).toMatch(/batch 000002 was interrupted[\s\S]*--lost-files/);
    expect(stderr).toContain(lost!);
    for (const path of rest) expect(existsSync(join(stageOf(lake), '000002', path)), path).toBe(true);
    const reset = await run(['cursor', 'reset', '--lost-files', '--out', lake]);
    expect(reset).toMatchObject({ status: 0, stderr: expect.stringContaining(`given up: ${lost}`) });
    for (const path of rest) expect(existsSync(join(lake, path)), path).toBe(true);
    expect(await sync()).toMatchObject({ status: 0 });
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
  });
});

/** A program that may not write to other people's folders, whoever runs the tests. */
function runUnprivileged(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  const isRoot = process.getuid?.() === 0;
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC', SESSIONLAKE_HOST: 'test-host', ...env },
    ...(isRoot ? { uid: 65534, gid: 65534 } : {}),
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (status, signal) => done({ status, signal, stdout, stderr }));
  });
}

describe.runIf(process.platform !== 'win32')('a lake that cannot be written', () => {
  /** A copy that everybody may read and nobody may write. */
  function readOnly(folder: string): { copy: string; open: () => void } {
    const base = temporaryFolder();
    const copy = join(base, 'lake');
    // What SQLite keeps in shared memory does not outlive the machine, and backups leave it out.
    const filter = (source: string): boolean => !source.endsWith('-shm');
    cpSync(folder, copy, { recursive: true, preserveTimestamps: true, filter });
    const all = [copy, ...readdirSync(copy, { recursive: true }).map((name) => join(copy, String(name)))];
    const isFolder = new Map(all.map((path) => [path, statSync(path).isDirectory()]));
    chmodSync(base, 0o555);
    for (const path of all) chmodSync(path, isFolder.get(path) === true ? 0o555 : 0o444);
    const open = (): void => {
      chmodSync(base, 0o755);
      for (const path of all) chmodSync(path, isFolder.get(path) === true ? 0o755 : 0o644);
    };
    return { copy, open };
  }

  it('shows its cursor and what is new; what would write says that it cannot, and where', async () => {
    const world = worldWith(2);
    const { lake } = await lakeOf(world);
    const store = readOnly(world.home);
    const { copy, open } = readOnly(lake);
    const env = { HOME: store.copy };
    try {
      const shown = await runUnprivileged(['cursor', 'show', '--out', copy, '--json'], env);
      expect(shown, shown.stderr).toMatchObject({ status: 0 });
      expect(JSON.parse(shown.stdout)).toMatchObject({ batches: 2, last_batch: '000002' });
      const listed = await runUnprivileged(['sources', '--out', copy, '--json'], env);
      expect(listed, listed.stderr).toMatchObject({ status: 0 });
      expect(listed.stdout.split('\n').filter((line) => line !== '')).not.toEqual([]);
      expect(filesBelow(copy).filter((path) => /-wal|-shm|lock/.test(path))).toEqual([]);
      for (const args of [
        ['sync', '--out', copy, '--format', 'ndjson'],
        ['cursor', 'reset', '--out', copy],
        ['export', '--out', join(dirname(copy), 'new')],
      ]) {
        const { status, stderr } = await runUnprivileged(args, env);
        expect(status, stderr).toBe(3);
        expect(stderr).toContain('EACCES');
        expect(stderr).toContain(dirname(copy));
        expect(stderr).toContain('check owner and mode');
        expect(stderr).not.toMatch(/delete|move it away/);
      }
    } finally {
      open();
      store.open();
    }
  });

  it('shows what a killed run committed last, which is still in the log beside the cursor', async () => {
    const { lake } = await lakeOf(worldWith(2));
    const file = join(lake, '_sessionlake', 'cursor.db');
    const killed = new Database(file);
    killed.pragma('wal_autocheckpoint = 0');
    killed.exec("INSERT INTO batches VALUES ('000003', 'committed', '[]', '')");
    const { copy, open } = readOnly(lake);
    killed.close();
    try {
      expect(existsSync(join(copy, '_sessionlake', 'cursor.db-wal'))).toBe(true);
      const { stdout, stderr, status } = await runUnprivileged(['cursor', 'show', '--out', copy, '--json'], {});
      expect(status, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ batches: 3, last_batch: '000003' });
    } finally {
      open();
    }
  });
});

describe('a failed call of the system', () => {
  it('names the file, which calls on open files do not', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const call = (): never => {
      throw full;
    };
    expect(() => atPath('/lake/part.parquet', call)).toThrow("no space left on device, write '/lake/part.parquet'");
    expect(() => atPath('/lake/part.parquet', call)).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
  });

  it('between the record of a batch and its files in place is made up for by the next run', async () => {
    const world = worldWith(3);
    const lake = join(temporaryFolder(), 'lake');
    const sync = ['sync', '--out', lake, '--format', 'ndjson'];
    // A table's folder is in the way: the batch is staged whole, and cannot be moved into place.
    mkdirSync(lake);
    writeFileSync(join(lake, 'usage'), '');
    const { status, stderr } = await run(sync, { HOME: world.home });
    expect(status).toBe(3);
    expect(stderr).toContain(join(lake, 'usage'));
    rmSync(join(lake, 'usage'));
    expect(await run(sync, { HOME: world.home })).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('1 batch'),
    });
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
    expect(lakeRows(lake).filter((row) => row.record === 'session')).toHaveLength(3);
    expect(existsSync(stageOf(lake))).toBe(false);
  });
});

describe('the lock', () => {
  it('keeps others out, is for its owner alone, and goes when it is released', () => {
    const path = join(temporaryFolder(), 'cursor.db.lock');
    const lock = takeLock(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(() => takeLock(path)).toThrow(CursorLockedError);
    // One who opened the file before it went holds nothing that matters.
    const late = new Database(path, { timeout: 0 });
    lock.release();
    expect(existsSync(path)).toBe(false);
    const next = takeLock(path);
    late.exec('BEGIN EXCLUSIVE');
    expect(() => takeLock(path)).toThrow(CursorLockedError);
    late.exec('ROLLBACK');
    late.close();
    next.release();
    takeLock(path).release();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it('leaves nothing beside a lake, and nothing in it but the cursor and the manifest', async () => {
    const { lake } = await lakeOf(worldWith(2));
    const snapshot = join(dirname(lake), 'snapshot');
    await run(['export', '--out', snapshot], { HOME: worldWith(1).home });
    expect(readdirSync(join(lake, '_sessionlake')).sort()).toEqual(['cursor.db', 'manifest.json']);
    expect(readdirSync(dirname(lake)).sort()).toEqual(['lake', 'snapshot']);
    expect(readdirSync(join(snapshot, '_sessionlake'))).toEqual(['manifest.json']);
  });
});

describe('a pipe', () => {
  it('is not flushed where its reader is seen to go away after the last write', async () => {
    const target = new Writable({
      write(_chunk, _encoding, done) {
        done();
        setImmediate(() => target.destroy());
      },
    });
    const pipe = new Pipe(target);
    await pipe.write(Buffer.from('row\n'));
    await expect(pipe.flush()).rejects.toThrow(ConsumerGone);
  });

  it('is flushed where its reader stays', async () => {
    const target = new PassThrough();
    const pipe = new Pipe(target);
    await pipe.write(Buffer.from('row\n'));
    await expect(pipe.flush()).resolves.toBeUndefined();
  });
});

describe.runIf(process.platform !== 'win32')('a stream whose reader stops halfway', () => {
  it('ends quietly and is told again as a whole', async () => {
    const world = worldWith(3);
    // More than the buffer of a pipe holds.
    for (let i = 0; i < 600; i++) world.apply({ kind: 'append', agent: 'claude', at: i, by: i });
    const cursor = join(temporaryFolder(), 'c.db');
    const env = { PATH: process.env['PATH'] ?? '', HOME: world.home, SESSIONLAKE_HOST: 'test-host', OUT: cursor };
    const script = '{ "$0" "$1" stream --cursor "$OUT"; echo "status $?" >&2; } | head -n 1';
    const child = spawn('sh', ['-c', script, process.execPath, cli], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => {
      told += chunk.toString();
    });
    child.stdout.resume();
    await new Promise((done) => child.on('close', done));
    expect(told).toBe('status 0\n');
    const [again, all] = await Promise.all([
      run(['stream', '--cursor', cursor], { HOME: world.home }),
      run(['stream'], { HOME: world.home }),
    ]);
    expect(all.stdout.length).toBeGreaterThan(200_000);
    const eventsOf = (text: string): unknown[] => parseRows(text).map((row) => row['event_id'] ?? row.record);
    expect(eventsOf(again.stdout)).toEqual(eventsOf(all.stdout));
  });
});

describe('ids of batches', () => {
  it('grow from stream to stream, which write no files', async () => {
    const world = worldWith(2);
    const cursor = join(temporaryFolder(), 'c.db');
    const batchesOf = async (): Promise<unknown[]> => {
      const { stdout } = await run(['stream', '--cursor', cursor, '--tables', 'sources'], { HOME: world.home });
      return [...new Set(parseRows(stdout).map((row) => row['batch_id']))];
    };
    expect(await batchesOf()).toEqual(['000001']);
    world.apply({ kind: 'append', agent: 'claude', at: 0, by: 5 });
    expect(await batchesOf()).toEqual(['000002']);
  });

  it('go on after the greatest number, however many digits it has', () => {
    const cursor = Cursor.open('');
    expect(cursor.nextBatchId()).toBe('000001');
    for (const id of ['999999', '1000000'])
      cursor.database.prepare("INSERT INTO batches VALUES (?, 'committed', '[]', '')").run(id);
    expect(cursor.nextBatchId()).toBe('1000001');
    expect(cursor.batches().map(({ batchId }) => batchId)).toEqual(['999999', '1000000']);
    cursor.close();
  });
});

it('tables are told in the order of the tables, whatever was written first', async () => {
  const { home } = worldWith(2);
  for (const command of ['sync', 'export']) {
    const { stdout } = await run([command, '--out', join(temporaryFolder(), 'lake'), '--json'], { HOME: home });
    const { rows } = JSON.parse(stdout) as { rows: Record<string, number> };
    expect(Object.keys(rows), command).toEqual([
      'sessions',
      'messages',
      'tool_calls',
      'tool_results',
      'usage',
      'sources',
    ]);
  }
});
