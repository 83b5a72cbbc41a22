import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../src/framing/make-folder.ts';
import { temporaryFolder } from '../support/command.ts';

it('makes what is missing, with the mode, and leaves what is there', () => {
  const folder = join(temporaryFolder(), 'a', 'b', 'c');
  makeFolder(folder, 0o700);
  makeFolder(folder, 0o755);
  if (process.platform !== 'win32') expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(folder).isDirectory()).toBe(true);
});

it('says what is in the way', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow(/EEXIST/);
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR/);
});

it.skipIf(!existsSync('/proc/self'))('ends where the place takes no folders', () => {
  expect(() => makeFolder('/proc/sessionlake/a')).toThrow(/ENOENT|EACCES|EPERM/);
});
