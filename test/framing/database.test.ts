/** Agents' databases: what is read is one state of them, and nothing appears or changes beside them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/framing/database.ts';
import { clearScratch } from '../../src/framing/scratch.ts';
import { temporaryFolder } from '../support/command.ts';
import { treeOf } from '../support/tree.ts';

afterEach(clearScratch);

const made: Database.Database[] = [];
afterEach(() => {
  for (const database of made.splice(0)) database.close();
});

/** A database with rows 1 to `rows`, and the connection that made it. */
function make(path: string, mode: 'wal' | 'delete', rows = 3): Database.Database {
  const database = new Database(path);
  made.push(database);
  database.pragma(`journal_mode = ${mode}`);
  database.exec('CREATE TABLE t (x INTEGER)');
  const insert = database.prepare('INSERT INTO t VALUES (?)');
  for (let i = 1; i <= rows; i++) insert.run(i);
  return database;
}

const countOf = (path: string): unknown => {
  const database = openDatabase(path);
  try {
    const [row] = database.all('SELECT count(*) AS n FROM t');
    database.checkUnchanged();
    return row!['n'];
  } finally {
    database.close();
  }
};

/** What reading says, with the folder being as it was. */
function untouched(folder: string, path: string): unknown {
  const before = treeOf(folder);
  const count = countOf(path);
  expect(treeOf(folder)).toEqual(before);
  return count;
}

describe('a database', () => {
  it('at rest in WAL mode is read without files of its own appearing', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.db');
    make(path, 'wal').close();
    made.pop();
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(untouched(folder, path)).toBe(3);
  });

  it('that a program has open is read with what is only in its log', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.db');
    const writer = make(path, 'wal');
    writer.exec('INSERT INTO t VALUES (4)');
    expect(untouched(folder, path)).toBe(4);
  });

  it('left by a power cut, with a log and no index of it, is read from a private copy', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.db');
    make(path, 'wal');
    const left = join(folder, 'left.db');
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, left + suffix);
    expect(untouched(folder, left)).toBe(3);
    expect(existsSync(`${left}-shm`)).toBe(false);
  });

  it('left by a killed program, with an index that is stale or garbage, is read', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.db');
    make(path, 'wal');
    const left = join(folder, 'left.db');
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(path + suffix, left + suffix);
    expect(untouched(folder, left)).toBe(3);
    writeFileSync(`${left}-shm`, 'garbage');
    expect(untouched(folder, left)).toBe(3);
  });

  it('with a rollback journal is read in place; a hot journal is rolled back in a copy', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.db');
    const writer = make(path, 'delete');
    expect(untouched(folder, path)).toBe(3);
    writer.pragma('cache_size = 1');
    writer.exec('BEGIN');
    const insert = writer.prepare('INSERT INTO t VALUES (?)');
    for (let i = 0; i < 20_000; i++) insert.run(i);
    const left = join(folder, 'left.db');
    for (const suffix of ['', '-journal']) copyFileSync(path + suffix, left + suffix);
    writer.exec('ROLLBACK');
    expect(untouched(folder, left)).toBe(3);
  });

  it('that another program has locked is an error that says so', async () => {
    const path = join(temporaryFolder(), 'a.db');
    make(path, 'delete').close();
    made.pop();
    const script = `const db = new (require('better-sqlite3'))(${JSON.stringify(path)}); db.exec('BEGIN EXCLUSIVE'); console.log('locked'); setInterval(() => {}, 1000)`;
    const locker = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(locker.stdout, 'data');
    try {
      expect(() => countOf(path)).toThrow(/locked by another program/);
    } finally {
      locker.kill('SIGKILL');
    }
  });

  it.each([
    ['empty', Buffer.alloc(0), /is empty/],
    ['of another kind', Buffer.from('{"a":1}'.repeat(100)), /not an SQLite database/],
  ])('that is %s is an error that says so', (_, content, message) => {
    const path = join(temporaryFolder(), 'a.db');
    writeFileSync(path, content);
    expect(() => countOf(path)).toThrow(message);
  });

  it('that is damaged, a link, absent or unreadable is an error that says so', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.db');
    make(path, 'wal', 5000).close();
    made.pop();
    symlinkSync(path, join(folder, 'link.db'));
    expect(() => countOf(join(folder, 'link.db'))).toThrow(/is a link/);
    expect(() => countOf(join(folder, 'none.db'))).toThrow(/vanished/);
    const damaged = join(folder, 'damaged.db');
    copyFileSync(path, damaged);
    writeFileSync(damaged, Buffer.alloc(30_000, 0xff), { flag: 'r+' });
    expect(() => countOf(damaged)).toThrow(/not an SQLite database|damaged/);
    chmodSync(path, 0);
    if (process.getuid?.() !== 0) expect(() => countOf(path)).toThrow(/permission/);
  });

  it('gives integers beyond 2^53 exactly', () => {
    const path = join(temporaryFolder(), 'a.db');
    make(path, 'delete', 0).exec('INSERT INTO t VALUES (9007199254740993), (5)');
    const database = openDatabase(path);
    expect(database.all('SELECT x FROM t').map((row) => row['x'])).toEqual([9007199254740993n, 5]);
    database.close();
  });
});

describe('a database that is written to while it is read', () => {
  it('is read in one state, 200 times', async () => {
    const path = join(temporaryFolder(), 'a.db');
    make(path, 'wal', 0).exec('CREATE TABLE pairs (session INTEGER, half TEXT)');
    made.pop()!.close();
    // Each commit writes two halves; checkpoints and restarts of the log come in between.
    const script = `
      const Database = require('better-sqlite3');
      let db = new Database(${JSON.stringify(path)}); db.pragma('wal_autocheckpoint = 20');
      const commit = () => db.transaction((i) => {
        const insert = db.prepare('INSERT INTO pairs VALUES (?, ?)');
        insert.run(i, 'left'); insert.run(i, 'right');
      });
      let write = commit();
      console.log('writing');
      let i = 0;
      const turn = () => {
        for (let n = 0; n < 5; n++) write(i++);
        if (i % 500 === 0) { db.close(); db = new Database(${JSON.stringify(path)}); write = commit(); }
        setImmediate(turn);
      };
      turn();`;
    const writer = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(writer.stdout, 'data');
    let last = 0;
    try {
      for (let round = 0; round < 200; round++) {
        const database = openDatabase(path);
        const read = (): unknown[] =>
          database
            .all("SELECT count(*) AS n, sum(half = 'left') AS lefts, max(session) AS newest FROM pairs")
            .flatMap((row) => [row['n'], row['lefts'], row['newest']]);
        try {
          const [n, lefts, newest] = read() as [number, number | null, number | null];
          expect(n).toBe((lefts ?? 0) * 2);
          expect(newest ?? -1).toBe((lefts ?? 0) - 1);
          await new Promise((done) => setTimeout(done, 2));
          // The state stays the same for as long as the database is open.
          try {
            const again = read();
            database.checkUnchanged();
            expect(again).toEqual([n, lefts, newest]);
          } catch (error) {
            // Taken for a file at rest, and written to since: known, and told.
            if ((error as { code?: string }).code !== 'changed_while_read') throw error;
          }
          expect(n).toBeGreaterThanOrEqual(last);
          last = n;
        } finally {
          database.close();
        }
      }
    } finally {
      writer.kill('SIGKILL');
    }
    expect(last).toBeGreaterThan(0);
  });
});
