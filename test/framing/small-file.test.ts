import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSmallFile } from '../../src/framing/small-file.ts';
import { temporaryFolder } from '../support/command.ts';

const folder = temporaryFolder();
const write = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const faultOf = (path: string, bytes = 100): string | null => {
  const file = readSmallFile(path, bytes);
  return 'fault' in file ? file.fault : null;
};

it('reads a file whole or its head, without a byte order mark', () => {
  const path = write('a.json', '\uFEFF{"a":1}');
  expect(readSmallFile(path, 100)).toEqual({ bytes: Buffer.from('{"a":1}'), size: 10 });
  expect(readSmallFile(path, 5, 'head')).toEqual({ bytes: Buffer.from('{"'), size: 10 });
});

it.skipIf(process.platform === 'win32')('says why there is nothing, and never waits', () => {
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  mkdirSync(join(folder, 'folder'));
  expect(faultOf(fifo)).toBe('not_a_file');
  expect(faultOf(join(folder, 'folder'))).toBe('not_a_file');
  expect(faultOf(join(folder, 'none'))).toBe('absent');
  expect(faultOf(write('large', 'x'.repeat(101)))).toBe('too_large');
});
