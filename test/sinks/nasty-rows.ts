/** Rows with everything that has broken a writer before, and what every reader must give back for them. */
import { type Column, type TableName, tables } from '../../src/records/tables.ts';
import type { SinkRow } from '../../src/sinks/sink.ts';

const utf8 = (text: string) => Buffer.from(text, 'utf8');

/** Longer than a piece of the NDJSON encoder, with a surrogate pair across the seam. */
const seam = `${'x'.repeat(16 * 1024 - 1)}😀${'y"\\\n'.repeat(5000)}`;

const texts: readonly (string | Uint8Array)[] = [
  'plain',
  '',
  'with "quotes", back\\slash, \b\f\n\r\t and \u0001\u001f\u007f\u0080\u2028',
  'NUL \u0000 inside, \u0000',
  '\u0000',
  'lone \ud800 high, lone \udc00 low, \ud83d',
  '\udc00\ud800',
  'größe – 漢字 😀 ΑΩ',
  '\ufeffbyte order mark',
  utf8('bytes: größe 😀 "quoted"\n'),
  utf8('\ufeffbytes with mark'),
  Buffer.from([0x61, 0xff, 0x62, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x63]),
  new Uint8Array(0),
  '{"a":[1,2.50,9007199254740993],"b":"\\u0000"}',
  seam,
  utf8(seam),
];

const shorts = [
  'claude',
  'codex',
  '',
  'ü"\\\n\u0000',
  'lone \ud800',
  '😀',
  'x'.repeat(1500),
  'a'.repeat(81),
  'b'.repeat(80),
];

const pools = {
  key: shorts,
  id: shorts,
  text: texts,
  json: texts,
  int: [0, 1, -1, 9, 10, 2 ** 31 - 1, 2 ** 31, 2 ** 32, -(2 ** 32) - 7, 999_999_999, 1e9, 2 ** 53 - 1, -(2 ** 53) + 1],
  float: [0, -0, 0.1, -1.5e-300, 1.7976931348623157e308, 5, 1e21],
  bool: [true, false, false, true, true],
  timestamp: [
    0, 1_760_000_000_000, 1_760_000_000_123.456, -1.5, -86_400_000.25, -62_135_596_800_000, 1_760_000_000_999.999,
    253_402_300_799_999, 253_402_300_799_998.5,
  ],
  list: [[], ['text'], ['text', 'image', ''], ['lone \udfff', '漢字', '\u0000']],
  bytes: [new Uint8Array(0), utf8('{"text":"größe"}'), Buffer.from([0xff, 0xfe, 0x00, 0x0a]), Buffer.from([0x00])],
} satisfies Record<Column['type'], readonly unknown[]>;

/** Beyond, microseconds are no safe integers: before 1684 and after 2255. */
const SAFE_MILLIS = Number.MAX_SAFE_INTEGER / 1000;

export interface RowShape {
  /** Every nullable cell is null. */
  readonly allNull?: boolean;
  /** Only times whose microseconds are safe integers. */
  readonly safeTimes?: boolean;
}

/** `count` rows; row i is a function of i alone. */
export function nastyRows(
  table: TableName,
  count: number,
  { allNull = false, safeTimes = false }: RowShape = {},
): SinkRow[] {
  const columns: readonly Column[] = tables[table].columns;
  return Array.from({ length: count }, (_, i) => {
    const row: Record<string, unknown> = {};
    columns.forEach(({ name, type, nullable }, c) => {
      if (nullable && (allNull || (i * 7 + c * 3) % 5 === 0)) {
        // A missing key, undefined and null mean the same
        if (i % 3 > 0) row[name] = i % 3 === 1 ? null : undefined;
        return;
      }
      const pool: readonly unknown[] =
        type === 'timestamp' && safeTimes
          ? pools.timestamp.filter((time) => Math.abs(time) < SAFE_MILLIS)
          : pools[type];
      row[name] = pool[(i + c) % pool.length];
    });
    return row;
  });
}

/** A cell as any reader is to give it back. */
export type Cell = string | bigint | number | boolean | null | readonly string[];

const decoded = (value: string | Uint8Array): string =>
  typeof value === 'string' ? value.toWellFormed() : Buffer.from(value).toString('utf8');

const micros = (millis: number): bigint => {
  const whole = Math.floor(millis);
  return BigInt(whole) * 1000n + BigInt(Math.round((millis - whole) * 1000));
};

function expectedCell({ type }: Column, value: unknown): Cell {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
      return decoded(value as string | Uint8Array);
    case 'int':
      return BigInt(value as number);
    case 'float':
      return (value as number) + 0;
    case 'bool':
      return value as boolean;
    case 'timestamp':
      return micros(value as number);
    case 'list':
      return (value as readonly string[]).map(decoded);
    case 'bytes':
      return Buffer.from(value as Uint8Array).toString('hex');
  }
}

/** The row as any reader is to give it back; times in microseconds, bytes in hex. */
export const expectedRow = (table: TableName, row: SinkRow): Record<string, Cell> =>
  Object.fromEntries(tables[table].columns.map((column) => [column.name, expectedCell(column, row[column.name])]));

/** What NDJSON holds of it: whole milliseconds. */
export const inMillis = (table: TableName, row: Record<string, Cell>): Record<string, Cell> =>
  Object.fromEntries(
    tables[table].columns.map(({ name, type }) => {
      const cell = row[name]!;
      if (type !== 'timestamp' || typeof cell !== 'bigint') return [name, cell];
      const rest = ((cell % 1000n) + 1000n) % 1000n;
      return [name, cell - rest];
    }),
  );
