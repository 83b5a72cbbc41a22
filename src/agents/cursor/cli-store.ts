/** The program's store: blobs named by their hashes; what the newest root refers to is the conversation. */
import type { StoreDatabase } from '../../framing/database.ts';
import { recordError, ScopedError, sourceError } from '../../framing/errors.ts';
import { cappedColumn, type StoreRow } from '../../framing/row-frames.ts';
import { asObject, type Json, nameField, parseOrUndefined } from '../dialects/json.ts';
import { bytesOf, readMessage } from '../dialects/protobuf.ts';
import type { StoreSchema } from '../dialects/schema.ts';

export const schema: StoreSchema = {
  product: 'Cursor',
  layouts: [{ tables: { meta: ['key', 'value'], blobs: ['id', 'data'] }, signs: ['meta', 'blobs'] }],
};

/** Fields of the root message (a peer's decompiled schema). */
const ROOT = { prompts: 1, turns: 8, workspaces: 9 } as const;
const MAX_ROOT = 64 * 1024 * 1024;

export interface CliMeta {
  readonly facts: Json;
  readonly root: string;
}

/** The one row of `meta`: JSON in hex. Throws a source-scoped error where it cannot be read. */
function metaOf(database: StoreDatabase): CliMeta | null {
  const [row] = database.all("SELECT value FROM meta WHERE key = '0'");
  if (row === undefined) return null;
  const facts = asObject(parseOrUndefined(Buffer.from(String(row['value']), 'hex').toString('utf8')));
  const root = facts === null ? null : nameField(facts, 'latestRootBlobId');
  if (facts === null || root === null) throw sourceError('foreign_schema', 'has metadata that cannot be read');
  return { facts, root };
}

function blob(database: StoreDatabase, id: string, limit: number): Buffer {
  const [row] = database.all(`SELECT ${cappedColumn('data', limit)} FROM blobs WHERE id = ?`, id);
  const data = row?.['data'];
  if (data instanceof Uint8Array) return Buffer.from(data);
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  if (typeof row?.['data_bytes'] === 'number')
    throw recordError('record_too_long', `a blob has ${row['data_bytes']} bytes, over --max-line`);
  throw recordError('missing_blob', 'a blob of the conversation is missing');
}

/** Throws a source-scoped error: without its root there is no conversation. */
function rootOf(database: StoreDatabase, meta: CliMeta): ReturnType<typeof readMessage> {
  try {
    return readMessage(blob(database, meta.root, MAX_ROOT));
  } catch (error) {
    if (error instanceof ScopedError && error.scope === 'record')
      throw sourceError(error.code, `has a root that cannot be read: ${error.message}`, error);
    throw error;
  }
}

export function listCliSession(database: StoreDatabase): { state: string; turns: number } {
  const meta = metaOf(database);
  if (meta === null) return { state: 'empty', turns: 0 };
  return { state: JSON.stringify(meta.facts), turns: bytesOf(rootOf(database, meta), ROOT.turns).length };
}

/** The session, then each turn's records; prompts of the model only where there are no turns, which say the same. */
export function* queryBlobs(database: StoreDatabase, _member: string, limit: number): Generator<StoreRow> {
  const meta = metaOf(database);
  if (meta === null) return;
  const root = rootOf(database, meta);
  yield {
    locator: 'meta/0',
    value: () => ({
      kind: 'session',
      facts: meta.facts,
      workspaces: bytesOf(root, ROOT.workspaces).map((bytes) => bytes.toString('utf8')),
    }),
  };
  const turns = bytesOf(root, ROOT.turns);
  if (turns.length === 0) {
    for (const id of bytesOf(root, ROOT.prompts).map((bytes) => bytes.toString('hex'))) {
      yield { locator: `blobs/${id}`, value: () => ({ kind: 'prompt', id, data: blob(database, id, limit) }) };
    }
    return;
  }
  for (const [index, reference] of turns.entries()) yield* turnRows(database, reference.toString('hex'), index, limit);
}

/** Fields of a turn, and of its two kinds. */
const TURN = { agent: 1, shell: 2, message: 1, steps: 2 } as const;

function* turnRows(database: StoreDatabase, id: string, index: number, limit: number): Generator<StoreRow> {
  let turn: ReturnType<typeof readMessage>;
  try {
    turn = readMessage(blob(database, id, limit));
  } catch (error) {
    if (!(error instanceof ScopedError) || error.scope !== 'record') throw error;
    yield {
      locator: `blobs/${id}`,
      value: () => {
        throw error;
      },
    };
    return;
  }
  yield { locator: `turn/${index}`, value: () => ({ kind: 'turn' }) };
  if (bytesOf(turn, TURN.shell).length > 0) yield { locator: `blobs/${id}`, value: () => ({ kind: 'shell' }) };
  for (const agent of bytesOf(turn, TURN.agent).map(readMessage)) {
    for (const message of bytesOf(agent, TURN.message).map((bytes) => bytes.toString('hex'))) {
      yield {
        locator: `blobs/${message}`,
        value: () => ({ kind: 'user', id: message, data: blob(database, message, limit) }),
      };
    }
    for (const step of bytesOf(agent, TURN.steps).map((bytes) => bytes.toString('hex'))) {
      yield { locator: `blobs/${step}`, value: () => ({ kind: 'step', id: step, data: blob(database, step, limit) }) };
    }
  }
}
