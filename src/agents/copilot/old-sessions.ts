/** `interactive.sessions` in a `state.vscdb`: a JSON list of sessions as snapshots. */
import { createHash } from 'node:crypto';
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import { asObject, type Json, nameField } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';

export const schema: StoreSchema = { product: 'Copilot', layouts: [{ tables: { ItemTable: ['key', 'value'] } }] };

const KEY = 'interactive.sessions';
/** More than any list of sessions; the value is parsed to name them. */
const MAX_BYTES = 64 * 1024 * 1024;

function sessionsOf(database: StoreDatabase, limit: number): Json[] {
  const [row] = database.all(`SELECT ${cappedColumn('value', limit)} FROM ItemTable WHERE key = ?`, KEY);
  const value = row === undefined ? null : jsonColumn(row, 'value');
  return Array.isArray(value) ? value.map(asObject).filter((session) => session !== null) : [];
}

export const listSessions = (database: StoreDatabase): { member: string; state: string; bytes: number }[] =>
  sessionsOf(database, MAX_BYTES).flatMap((session) => {
    const member = nameField(session, 'sessionId');
    const text = JSON.stringify(session);
    return member === null
      ? []
      : [{ member, state: createHash('sha1').update(text).digest('hex'), bytes: text.length }];
  });

export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const session = sessionsOf(database, limit).find((other) => nameField(other, 'sessionId') === member);
  if (session !== undefined) yield { locator: `ItemTable/${KEY}`, value: () => session };
}
