/** The list of sessions in a window's key-value store: one value for all of them. */
import { createHash } from 'node:crypto';
import type { StoreDatabase } from '../../framing/database.ts';
import { recordError, sourceError } from '../../framing/errors.ts';
import { cappedColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { asObject, field, type Json, numberField, parseOrUndefined, stringField } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';

export const schema: StoreSchema = { product: 'Trae', layouts: [{ tables: { ItemTable: ['key', 'value'] } }] };

const KEY = 'memento/icube-ai-agent-storage';
const MAX_VALUE = 256 * 1024 * 1024;

/** Entries of the list; null where there is none. Throws a source-scoped error for a value that is no object. */
function entriesOf(database: StoreDatabase): readonly unknown[] | null {
  const [row] = database.all(`SELECT ${cappedColumn('value', MAX_VALUE)} FROM ItemTable WHERE key = ?`, KEY);
  if (row === undefined || row['value_bytes'] === null) return null;
  const value = row['value'];
  if (value === null)
    throw sourceError('record_too_long', `holds ${row['value_bytes']} bytes of sessions, more than can be read`);
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
  const storage = asObject(parseOrUndefined(text));
  if (storage === null) throw sourceError('malformed_json', 'holds sessions that do not parse as a JSON object');
  const list = field(storage, 'list');
  return Array.isArray(list) ? list : null;
}

const idOf = (entry: unknown): string | null => {
  const session = asObject(entry);
  const id = session === null ? null : stringField(session, 'sessionId')?.trim();
  return id === undefined || id === '' ? null : id;
};

/** Whether an entry is a session as it should be; damaged ones are told with the first whole one. */
const isWhole = (entry: unknown): boolean => idOf(entry) !== null && Array.isArray(field(asObject(entry)!, 'messages'));

export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const entries = entriesOf(database) ?? [];
  const seen = new Set<string>();
  let damaged = 0;
  const members: DatabaseMember[] = [];
  for (const entry of entries) {
    const id = idOf(entry);
    if (!isWhole(entry) || seen.has(id!)) {
      damaged++;
      continue;
    }
    seen.add(id!);
    const session = asObject(entry)!;
    const messages = field(session, 'messages') as unknown[];
    // Without messages it was moved to the newer store: nothing to tell, and nothing to take back.
    if (messages.length === 0) continue;
    const text = JSON.stringify(session);
    members.push({
      member: id!,
      state: createHash('sha1').update(text).digest('hex'),
      bytes: text.length,
      hints: { messages: messages.length, updated: numberField(session, 'updatedAt'), damaged: 0 },
    });
  }
  const [first] = members;
  if (first !== undefined && damaged > 0)
    members[0] = { ...first, state: `${first.state} ${damaged}`, hints: { ...first.hints, damaged } };
  return members;
}

export function* querySession(database: StoreDatabase, member: string): Generator<StoreRow> {
  const entries = entriesOf(database) ?? [];
  const isFirst = entries.find(
    (entry) => isWhole(entry) && (field(asObject(entry)!, 'messages') as unknown[]).length > 0,
  );
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const id = idOf(entry);
    const isDamaged = !isWhole(entry) || seen.has(id!);
    if (id !== null) seen.add(id);
    if (isDamaged && isFirst !== undefined && idOf(isFirst) === member) {
      yield {
        locator: `/list/${index}`,
        value: () => {
          throw recordError('bad_session', 'an entry of the list of sessions is no session, or repeats one');
        },
      };
    } else if (!isDamaged && id === member) {
      const session: Json = asObject(entry)!;
      yield { locator: `/list/${index}`, value: () => session };
    }
  }
}
