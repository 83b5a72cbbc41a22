/** Model calls in a conversation's database: protobuf without a published schema, read by field numbers (peers). */
import type { StoreDatabase } from '../../framing/database.ts';
import { ScopedError } from '../../framing/errors.ts';
import { cappedColumn, type StoreRow } from '../../framing/row-frames.ts';
import { folderOf } from '../dialects/paths.ts';
import { bytesOf, lastBytes, numberOf, type ProtoField, readMessage, textOf } from '../dialects/protobuf.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { TableShapes } from '../dialects/tables.ts';

/** `[first step, model]`, in order of steps: a model holds until the next one. */
export type ModelSteps = readonly (readonly [number, string])[];

export const schema: StoreSchema = { product: 'Antigravity', layouts: [{ tables: { gen_metadata: ['idx', 'data'] } }] };

const MAX_BLOB = 16 * 1024 * 1024;
/** Members of the chat model, and of a call. */
const CALL = { chat: 1, steps: 2 } as const;
const CHAT = { usage: 4, model: 19, label: 21 } as const;
const USAGE = { input: 2, output: 3, cacheRead: 5, thinking: 9, answer: 10, response: 11 } as const;

export interface Generation {
  readonly model: string | null;
  readonly steps: readonly number[];
  readonly usage: readonly ProtoField[] | null;
}

/** Packed numbers, and such as stand alone. */
function numbersOf(fields: readonly ProtoField[], number: number): number[] {
  const found = fields
    .filter((field) => field.number === number && field.value !== null)
    .map((field) => Number(field.value));
  for (const bytes of bytesOf(fields, number)) {
    let value = 0;
    let scale = 1;
    for (const byte of bytes) {
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte >= 0x80) continue;
      found.push(value);
      value = 0;
      scale = 1;
    }
  }
  return found;
}

/** Throws a record-scoped error where the bytes are no message. */
export function readGeneration(data: Buffer): Generation {
  const call = readMessage(data);
  const bytes = lastBytes(call, CALL.chat);
  const chat = bytes === null ? [] : readMessage(bytes);
  const usage = lastBytes(chat, CHAT.usage);
  return {
    model: textOf(chat, CHAT.model) || textOf(chat, CHAT.label) || null,
    steps: numbersOf(call, CALL.steps),
    usage: usage === null ? null : readMessage(usage),
  };
}

export interface Counters {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly reasoning: number | null;
  readonly responseId: string | null;
}

/** Counters above this are no counters: the schema has moved. */
const MAX_COUNT = 2_000_000n;

/** null where the numbers cannot be what they are taken for. Zeros are left out by the writer. */
export function countersOf(usage: readonly ProtoField[]): Counters | null {
  const read = (number: number): number | null => {
    const value = numberOf(usage, number);
    return value === null ? null : Number(value);
  };
  const tooLarge = [USAGE.input, USAGE.output, USAGE.cacheRead].some(
    (number) => (numberOf(usage, number) ?? 0n) > MAX_COUNT,
  );
  if (tooLarge) return null;
  const answer = read(USAGE.answer);
  return {
    input: read(USAGE.input) ?? 0,
    output: read(USAGE.output) ?? 0,
    cacheRead: read(USAGE.cacheRead) ?? 0,
    reasoning: read(USAGE.thinking) ?? (answer === null ? null : 0),
    responseId: textOf(usage, USAGE.response),
  };
}

/** Models of steps, and what tells that calls were added. */
export function modelsByStep(database: StoreDatabase): { models: ModelSteps; state: string } {
  const found: [number, string][] = [];
  let rows = 0;
  let bytes = 0;
  for (const row of database.each(`SELECT idx, ${cappedColumn('data', MAX_BLOB)} FROM gen_metadata ORDER BY idx`)) {
    rows++;
    bytes += Number(row['data_bytes'] ?? 0);
    if (!(row['data'] instanceof Uint8Array)) continue;
    try {
      const { model, steps } = readGeneration(Buffer.from(row['data']));
      if (model !== null) for (const step of steps) found.push([step, model]);
    } catch (error) {
      // The reading of the database itself says so.
      if (!(error instanceof ScopedError)) throw error;
    }
  }
  return { models: found.sort((a, b) => a[0] - b[0]), state: `${rows} ${bytes}` };
}

/** The folder, from the database's own note; null where the conversation has none. */
export function workspaceOf(database: StoreDatabase): string | null {
  if (!new TableShapes(database).has('trajectory_metadata_blob', 'data')) return null;
  const [row] = database.all(`SELECT ${cappedColumn('data', MAX_BLOB)} FROM trajectory_metadata_blob LIMIT 1`);
  if (!(row?.['data'] instanceof Uint8Array)) return null;
  try {
    const place = lastBytes(readMessage(Buffer.from(row['data'])), 1);
    return place === null ? null : folderOf(textOf(readMessage(place), 1));
  } catch (error) {
    if (error instanceof ScopedError) return null;
    throw error;
  }
}

export function* queryGenerations(database: StoreDatabase, _member: string, limit: number): Generator<StoreRow> {
  for (const row of database.each(`SELECT idx, ${cappedColumn('data', limit)} FROM gen_metadata ORDER BY idx`)) {
    yield { locator: `gen_metadata/${row['idx']}`, value: () => row };
  }
}
