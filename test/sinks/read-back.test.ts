/** `verify` counts what is there and notices what is not. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BrokenFileError, countRows } from '../../src/sinks/read-back.ts';
import { testFolder, writeFile } from './files.ts';
import { nastyRows } from './nasty-rows.ts';

const folder = testFolder();
const formats = ['ndjson', 'parquet', 'arrow', 'arrow-stream'] as const;

describe.each(formats)('%s', (format) => {
  const whole = join(folder, `whole.${format}`);

  test('counts rows over many groups', async () => {
    await writeFile(
      { format, table: 'tool_calls', path: whole, rowGroupBytes: 100_000 },
      nastyRows('tool_calls', 1234),
    );
    expect(await countRows(whole, format)).toBe(1234);
  });

  test('a file that was cut anywhere is broken', async () => {
    const bytes = readFileSync(whole);
    for (const length of [0, 5, Math.floor(bytes.length / 3), bytes.length - 9, bytes.length - 1]) {
      const path = join(folder, `cut-${length}.${format}`);
      writeFileSync(path, bytes.subarray(0, length));
      // Without any byte NDJSON is whole: no rows
      if (format === 'ndjson' && length === 0) expect(await countRows(path, format)).toBe(0);
      else await expect(countRows(path, format), `cut at ${length}`).rejects.toThrow(BrokenFileError);
    }
  });

  test('a file of another kind is broken', async () => {
    const path = join(folder, `other.${format}`);
    writeFileSync(path, 'this is nothing of the kind '.repeat(50));
    await expect(countRows(path, format)).rejects.toThrow(BrokenFileError);
  });

  test('a missing file is a missing file', async () => {
    await expect(countRows(join(folder, 'absent'), format)).rejects.toThrow('ENOENT');
  });
});
