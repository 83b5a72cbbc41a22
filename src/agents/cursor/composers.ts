/** The editor's store: a row a conversation, and a row a bubble of it. */

import type { StoreDatabase } from '../../framing/database.ts';
import { recordError } from '../../framing/errors.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { SourceSpec } from '../agent.ts';
import { asObject, type Json, nameField, objectField, objectsField, parseOrUndefined } from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import type { StoreSchema } from '../dialects/schema.ts';

export const schema: StoreSchema = { product: 'Cursor', layouts: [{ tables: { cursorDiskKV: ['key', 'value'] } }] };

export interface ComposerFolders {
  readonly byComposer: Map<string, string>;
  readonly byWorkspace: Map<string, string>;
}

const MAX_INDEX = 64 * 1024 * 1024;
const HEADER_KEYS = ['composer.composerHeaders', 'composer.composerData'];

/** Notes the folder of each conversation that a window's (or the global) list names. */
export function foldersIn(database: StoreDatabase, folder: string | null, folders: ComposerFolders): void {
  if (database.columns('itemtable') === null) return;
  for (const key of HEADER_KEYS) {
    const [row] = database.all(`SELECT ${cappedColumn('value', MAX_INDEX)} FROM ItemTable WHERE key = ?`, key);
    const text = row?.['value'];
    const index =
      typeof text === 'string' ? text : text instanceof Uint8Array ? Buffer.from(text).toString('utf8') : '';
    const list = asObject(parseOrUndefined(index));
    if (list === null) continue;
    for (const composer of objectsField(list, 'allComposers')) {
      const id = nameField(composer, 'composerId');
      const workspace = objectField(composer, 'workspaceIdentifier');
      const uri = workspace === null ? null : objectField(workspace, 'uri');
      const named = uri === null ? null : (nameField(uri, 'fsPath') ?? folderOf(nameField(uri, 'external')));
      const byId = workspace === null ? undefined : folders.byWorkspace.get(nameField(workspace, 'id') ?? '');
      const own = named ?? byId ?? folder;
      // The global list, which newer builds keep, is asked last and knows best.
      if (id !== null && own !== null && (named !== null || !folders.byComposer.has(id)))
        folders.byComposer.set(id, own);
    }
  }
}

export interface Composer {
  readonly member: string;
  readonly state: string;
  readonly hints: SourceSpec['hints'];
  /** Rows of it, which tell how large it is. */
  readonly rows: number;
}

const COMPOSER = 'composerData:';
const BUBBLE = 'bubbleId:';

/** Bounds of keys with a prefix that ends in a colon. */
const range = (prefix: string): [string, string] => [prefix, `${prefix.slice(0, -1)};`];

/**
 * Conversations with what tells that they changed: a row that is replaced gets a new number, so that numbers and how
 * many there are tell it without looking at values.
 */
export function listComposers(database: StoreDatabase, folders: ComposerFolders): Composer[] {
  const found = new Map<string, { rows: number; state: string[]; parent: string | null }>();
  const composers = `SELECT substr(key, ${COMPOSER.length + 1}) AS id, rowid AS row, (value IS NULL) AS absent,
    CASE WHEN octet_length(value) <= ${MAX_INDEX} AND json_valid(CAST(value AS TEXT))
      THEN json_extract(CAST(value AS TEXT), '$.subComposerIds') END AS children
    FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key`;
  const parents = new Map<string, string>();
  for (const row of database.each(composers, ...range(COMPOSER))) {
    const id = String(row['id']);
    if (row['absent'] === 1) continue;
    found.set(id, { rows: 1, state: [`composer ${row['row']}`], parent: null });
    const children = typeof row['children'] === 'string' ? parseOrUndefined(row['children']) : null;
    if (Array.isArray(children)) for (const child of children) if (typeof child === 'string') parents.set(child, id);
  }
  const bubbles = `SELECT substr(key, ${BUBBLE.length + 1}, instr(substr(key, ${BUBBLE.length + 1}), ':') - 1) AS id,
    count(*) AS number, max(rowid) AS last, sum(rowid) AS sum FROM cursorDiskKV WHERE key >= ? AND key < ? GROUP BY 1`;
  for (const row of database.each(bubbles, ...range(BUBBLE))) {
    const id = String(row['id']);
    const composer = found.get(id) ?? { rows: 0, state: [], parent: null };
    composer.rows += Number(row['number']);
    composer.state.push(`bubbles ${row['number']} ${row['last']} ${row['sum']}`);
    found.set(id, composer);
  }
  return (
    [...found]
      // Ids with a line break are those of calls, not of conversations.
      .filter(([id]) => id !== '' && !id.includes('\n'))
      .map(([member, { rows, state }]) => ({
        member,
        rows,
        state: state.join(' '),
        hints: { cwd: folders.byComposer.get(member) ?? null, parent: parents.get(member) ?? null },
      }))
  );
}

/** Those of the conversations of which a bubble has text. */
export function composersWithText(database: StoreDatabase, members: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const sql = `SELECT 1 FROM cursorDiskKV WHERE key >= ? AND key < ? AND octet_length(value) <= ${MAX_INDEX} AND json_valid(CAST(value AS TEXT))
    AND coalesce(json_extract(CAST(value AS TEXT), '$.text'), '') <> '' LIMIT 1`;
  for (const member of members) {
    if (database.all(sql, ...range(`${BUBBLE}${member}:`)).length > 0 || hasInlineText(database, member))
      found.add(member);
  }
  return found;
}

/** Old conversations hold their bubbles themselves. */
function hasInlineText(database: StoreDatabase, member: string): boolean {
  const [row] = database.all(
    `SELECT octet_length(value) AS bytes, instr(CAST(value AS TEXT), '"conversationMap":{"') + instr(CAST(value AS TEXT), '"tabs":[{') AS inline
     FROM cursorDiskKV WHERE key = ?`,
    COMPOSER + member,
  );
  return Number(row?.['inline'] ?? 0) > 0;
}

/** The conversation, then its bubbles in the order of its headers: no other order is that of the talk. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const value = cappedColumn('value', limit);
  const [composer] = database.all(`SELECT ${value} FROM cursorDiskKV WHERE key = ?`, COMPOSER + member);
  let order: readonly string[] | null = null;
  if (composer !== undefined && composer['value_bytes'] !== null) {
    yield { locator: COMPOSER + member, value: () => jsonColumn(composer, 'value') };
    order = headersOf(composer['value']);
  }
  const prefix = `${BUBBLE}${member}:`;
  const keys = database.all(
    'SELECT key, rowid AS row FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid',
    ...range(prefix),
  );
  const present = new Set(keys.map((row) => String(row['key']).slice(prefix.length)));
  // An old conversation has neither headers nor rows of bubbles.
  if (order === null) order = keys.length === 0 ? [] : recoveredOrder(database, prefix);
  const bubble = `SELECT ${value} FROM cursorDiskKV WHERE key = ?`;
  for (const id of order) {
    const locator = prefix + id;
    if (!present.delete(id)) {
      yield { locator, value: () => missing('has no row') };
      continue;
    }
    const [row] = database.all(bubble, locator);
    yield {
      locator,
      value: () => (row === undefined || row['value_bytes'] === null ? missing('is empty') : jsonColumn(row, 'value')),
    };
  }
  // What an edit or a rewind left behind is no part of the conversation any more.
  for (const id of present) yield { locator: `leftover:${prefix}${id}`, value: () => null };
}

const missing = (what: string): never => {
  throw recordError('missing_bubble', `a bubble of the conversation ${what}`);
};

/** Ids of bubbles in the conversation's own order; null where it has no list of them (or does not parse). */
function headersOf(value: unknown): readonly string[] | null {
  const text =
    typeof value === 'string' ? value : value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : '';
  const composer: Json | null = asObject(parseOrUndefined(text));
  if (composer === null || !Array.isArray(composer['fullConversationHeadersOnly'])) return null;
  return objectsField(composer, 'fullConversationHeadersOnly').flatMap((header) => {
    const id = nameField(header, 'bubbleId');
    return id === null ? [] : [id];
  });
}

/**
 * Without headers: by time. A bubble without one (of users, mostly) stays behind the row before it, in the order in
 * which rows were written.
 */
function recoveredOrder(database: StoreDatabase, prefix: string): readonly string[] {
  const sql = `SELECT key, CASE WHEN octet_length(value) <= ${MAX_INDEX} AND json_valid(CAST(value AS TEXT)) THEN json_extract(CAST(value AS TEXT), '$.createdAt') END AS created
    FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid`;
  let last = '';
  const rows = database.all(sql, ...range(prefix)).map((row, index) => {
    const created = row['created'];
    if (created !== null && created !== undefined)
      last = typeof created === 'number' ? new Date(created).toISOString() : String(created);
    return { id: String(row['key']).slice(prefix.length), time: last, index };
  });
  rows.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.index - b.index));
  return rows.map(({ id }) => id);
}
