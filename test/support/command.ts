/** Runs the built command as a user would: a process, with an environment of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

export const projectFolder = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const cli = join(projectFolder, 'dist', 'cli.js');

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes with the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sessionlake-test-'));
  folders.push(folder);
  return folder;
}

/** A writable copy of a store, times kept. */
export function copyOf(store: string): string {
  const copy = join(temporaryFolder(), 'store');
  cpSync(store, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

export interface Finished {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC', HOME: temporaryFolder(), SESSIONLAKE_HOST: 'test-host', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const child = start(args, env);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (status, signal) => {
      done({
        status,
        signal,
        stdout: Buffer.concat(out).toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
      });
    });
  });
}

export type Row = Record<string, unknown> & { readonly record: string };

export const parseRows = (ndjson: string): Row[] =>
  ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
