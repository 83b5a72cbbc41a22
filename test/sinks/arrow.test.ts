/** Arrow IPC as bytes: the messages are walked by hand, so that the writer is not only believed by its own reader. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RecordBatchReader } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { testFolder, writeFile } from './files.ts';
import { nastyRows } from './nasty-rows.ts';

const folder = testFolder();

interface Message {
  readonly kind: number;
  readonly bodyLength: number;
}
const [SCHEMA, RECORD_BATCH] = [1, 3];

/** Field `index` of a flatbuffer table: its place, or 0 where it is absent. */
function fieldAt(bytes: Buffer, table: number, index: number): number {
  const vtable = table - bytes.readInt32LE(table);
  const slot = 4 + index * 2;
  if (slot >= bytes.readUInt16LE(vtable)) return 0;
  const offset = bytes.readUInt16LE(vtable + slot);
  return offset === 0 ? 0 : table + offset;
}

/** Encapsulated messages from `at` to the end-of-stream mark. Fails on a length that does not fit. */
function messages(bytes: Buffer, at: number): { found: Message[]; end: number } {
  const found: Message[] = [];
  for (;;) {
    expect(bytes.readUInt32LE(at)).toBe(0xffffffff);
    const length = bytes.readInt32LE(at + 4);
    if (length === 0) return { found, end: at + 8 };
    const root = at + 8 + bytes.readUInt32LE(at + 8);
    const kind = bytes.readUInt8(fieldAt(bytes, root, 1));
    const body = fieldAt(bytes, root, 3);
    const bodyLength = body === 0 ? 0 : Number(bytes.readBigInt64LE(body));
    expect((at + 8 + length) % 8).toBe(0);
    expect(bodyLength % 8).toBe(0);
    found.push({ kind, bodyLength });
    at += 8 + length + bodyLength;
  }
}

describe.each(['arrow', 'arrow-stream'] as const)('%s', (format) => {
  test('one schema, then record batches cut by bytes, no dictionaries, nothing left over', async () => {
    const path = join(folder, `messages.${format}`);
    const rowGroupBytes = 400_000;
    await writeFile({ format, table: 'messages', path, rowGroupBytes }, nastyRows('messages', 3000));
    const bytes = readFileSync(path);
    const start = format === 'arrow' ? 8 : 0;
    if (format === 'arrow') expect(bytes.toString('latin1', 0, 6)).toBe('ARROW1');
    const { found, end } = messages(bytes, start);
    // The file format has its schema in the footer
    const kinds = found.map(({ kind }) => kind);
    expect(kinds).toEqual([
      ...(format === 'arrow' ? [] : [SCHEMA]),
      ...Array(found.filter(({ kind }) => kind === RECORD_BATCH).length).fill(RECORD_BATCH),
    ]);
    expect(kinds.length).toBeGreaterThan(10);
    // A batch ends with the row that fills it; the longest rows here take 200 KB
    for (const { bodyLength } of found) expect(bodyLength).toBeLessThan(rowGroupBytes / 2 + 300_000);
    if (format === 'arrow') {
      const footer = bytes.readInt32LE(bytes.length - 10);
      expect(end + footer + 10).toBe(bytes.length);
    } else expect(end).toBe(bytes.length);
  });

  test('the schema says types, nulls and versions', async () => {
    const path = join(folder, `history.${format}`);
    await writeFile({ format, table: 'history', path }, nastyRows('history', 3));
    const reader = RecordBatchReader.from(readFileSync(path)).open();
    expect(reader.schema.fields.map((field) => [field.name, String(field.type), field.nullable])).toEqual([
      ['agent', 'Utf8', false],
      ['source_id', 'Utf8', false],
      ['ordinal', 'Int64', false],
      ['session_id', 'Utf8', true],
      ['text', 'Utf8', true],
      ['timestamp', 'Timestamp<MICROSECOND, UTC>', true],
      ['timestamp_native', 'Int64', true],
      ['unit', 'Utf8', true],
      ['cwd', 'Utf8', true],
    ]);
    expect(reader.schema.metadata.get('sessionlake.schema_version')).toBe('1');
  });
});
