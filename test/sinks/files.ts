/** A folder for the files of a test, and helpers to write one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, expect } from 'vitest';
import { openSink, type SinkFile, type SinkOptions, type SinkRow } from '../../src/sinks/sink.ts';
import type { Cell } from './nasty-rows.ts';

/** A new folder, removed after the tests of the file. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sessionlake-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function writeFile(options: SinkOptions, rows: Iterable<SinkRow>): Promise<SinkFile | null> {
  const sink = await openSink(options);
  for (const row of rows) sink.write(row);
  return sink.close();
}

/** Compares row by row, so that a difference is shown as one small row and not as a million lines. */
export function expectRows(actual: readonly Record<string, Cell>[], expected: readonly Record<string, Cell>[]): void {
  for (let i = 0; i < Math.min(actual.length, expected.length); i++) {
    if (!isDeepStrictEqual(actual[i], expected[i])) {
      expect({ row: i, ...shortened(actual[i]!) }).toEqual({ row: i, ...shortened(expected[i]!) });
      expect(actual[i]).toEqual(expected[i]);
    }
  }
  expect(actual.length).toBe(expected.length);
}

const shortened = (row: Record<string, Cell>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [
      name,
      typeof cell === 'string' && cell.length > 200 ? `${cell.slice(0, 200)}… (${cell.length})` : cell,
    ]),
  );
