/** Conversations and entries of a store in a database. */
import type { StoreDatabase } from '../../framing/database.ts';
import { sourceError } from '../../framing/errors.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { asObject, dig, nameField, parseOrUndefined } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { idField, systemFolder } from './entries.ts';

export const schema: StoreSchema = {
  product: "pi's durable store",
  layouts: [
    {
      tables: {
        durable_schema: ['singleton', 'version'],
        conversations: ['id', 'record'],
        entries: ['id', 'record'],
        documents: ['id', 'record', 'retired_at'],
        document_revisions: ['document_id', 'seq', 'kind', 'content'],
      },
    },
  ],
  version: { table: 'durable_schema', column: 'version' },
  refusesViews: true,
};

/** The one version that is known. */
const VERSION = 1;

/** How one conversation came from another. */
export interface Link {
  readonly id: string;
  readonly kind: 'fork' | 'subagent';
  /** Of a fork: the last entry of its parent that it sees. */
  readonly at: number | null;
}

export function linkOf(record: unknown): Link | null {
  const parent = asObject(dig(record, 'parent'));
  const owner = asObject(dig(record, 'owner'));
  const id = idField(parent ?? owner ?? {}, 'conversationId');
  if (id === null) return null;
  const at = parent === null ? null : dig(parent, 'at');
  return { id, kind: parent === null ? 'subagent' : 'fork', at: typeof at === 'number' ? at : null };
}

/** An entry that names the working directory. */
export interface FolderEntry {
  readonly id: number;
  readonly conversationId: string;
  readonly cwd: string;
}

/** The folder in the newest system entry that a conversation sees: its own, or one of those it was forked from. */
export function visibleFolder(
  conversationId: string,
  entries: readonly FolderEntry[],
  links: ReadonlyMap<string, Link>,
): string | null {
  let at: string | null = conversationId;
  let limit = Number.POSITIVE_INFINITY;
  for (let depth = 0; at !== null && depth <= links.size; depth++) {
    let newest: FolderEntry | null = null;
    for (const entry of entries) {
      if (entry.conversationId === at && entry.id <= limit && (newest === null || entry.id > newest.id)) newest = entry;
    }
    if (newest !== null) return newest.cwd;
    const link = links.get(at);
    if (link === undefined || link.kind !== 'fork') return null;
    limit = Math.min(limit, link.at ?? limit);
    at = link.id;
  }
  return null;
}

/** Sessions are named by the store's folder and the conversation. */
export function listConversations(database: StoreDatabase, folder: string): DatabaseMember[] {
  checkVersion(database);
  const links = new Map<string, Link>();
  for (const row of database.each('SELECT id, record FROM conversations')) {
    const link = linkOf(parseOrUndefined(String(row['record'])));
    if (link !== null) links.set(String(row['id']), link);
  }
  const found = new Map<string, { count: number; bytes: number; last: string }>();
  const folders: FolderEntry[] = [];
  let damaged = '';
  const sql = `SELECT id, octet_length(record) AS bytes, valid,
      CASE WHEN valid THEN json_extract(record, '$.conversationId') END AS conversation,
      CASE WHEN valid AND json_extract(record, '$.kind') = 'pi.system' THEN json_extract(record, '$.model[0].sections.cwd') END AS cwd
    FROM (SELECT id, record, json_valid(record) AS valid FROM entries) ORDER BY id`;
  for (const row of database.each(sql)) {
    if (row['conversation'] === null) {
      damaged += ` ${row['id']}:${row['bytes']}`;
      continue;
    }
    const conversation = String(row['conversation']);
    const before = found.get(conversation) ?? { count: 0, bytes: 0, last: '' };
    const bytes = before.bytes + Number(row['bytes'] ?? 0);
    found.set(conversation, { count: before.count + 1, bytes, last: String(row['id']) });
    const cwd = systemFolder(row['cwd']);
    if (cwd !== null) folders.push({ id: Number(row['id']), conversationId: conversation, cwd });
  }
  const agents = agentFolders(database);
  // An entry that cannot be read is nobody's: the first conversation reports it.
  let isFirst = true;
  return [...found].map(([conversation, { count, bytes, last }]) => {
    const link = links.get(conversation) ?? null;
    const hints = {
      cwd: agents.get(conversation) ?? visibleFolder(conversation, folders, links),
      parentId: link === null ? null : `${folder}:${link.id}`,
      kind: link === null ? 'main' : link.kind,
    };
    const state = JSON.stringify([count, bytes, last, isFirst ? damaged : '', hints]);
    isFirst = false;
    return { member: `${folder}:${conversation}`, state, bytes, hints };
  });
}

/** SQL of the conversation of an entry; NULL where its record cannot be read. */
const CONVERSATION = `CASE WHEN json_valid(record) THEN json_extract(record, '$.conversationId') END`;

export function* queryEntries(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const conversation = member.slice(member.lastIndexOf(':') + 1);
  const [first] = database.all(
    `SELECT ${CONVERSATION} AS id FROM entries WHERE ${CONVERSATION} IS NOT NULL ORDER BY entries.id LIMIT 1`,
  );
  const orNobody = String(first?.['id']) === conversation ? `OR ${CONVERSATION} IS NULL` : '';
  const sql = `SELECT id, ${cappedColumn('record', limit)} FROM entries
    WHERE CAST(${CONVERSATION} AS TEXT) = ? ${orNobody} ORDER BY id`;
  for (const row of database.each(sql, conversation))
    yield { locator: `entries/${row['id']}`, value: () => jsonColumn(row, 'record') };
}

function checkVersion(database: StoreDatabase): void {
  const [row] = database.all('SELECT version FROM durable_schema WHERE singleton = 1');
  if (row?.['version'] !== VERSION)
    throw sourceError(
      'newer_schema',
      `is of version ${row?.['version'] ?? 'unknown'} of the durable store; version ${VERSION} is known`,
    );
}

/** Working directories in the newest state of each conversation's agent. */
function agentFolders(database: StoreDatabase): Map<string, string> {
  const folders = new Map<string, string>();
  const sql = `SELECT d.record AS record, (SELECT r.content FROM document_revisions r
      WHERE r.document_id = d.id AND r.kind = 'base' ORDER BY r.seq DESC LIMIT 1) AS content
    FROM documents d WHERE d.retired_at IS NULL AND instr(d.record, '"pi.agent"') > 0 ORDER BY d.id`;
  for (const row of database.each(sql)) {
    const record = asObject(parseOrUndefined(String(row['record'])));
    const conversation = record === null ? null : agentOf(record);
    const content = asObject(parseOrUndefined(String(row['content'] ?? '')));
    const cwd = content === null ? null : nameField(content, 'cwd');
    if (conversation !== null && cwd !== null) folders.set(conversation, cwd);
  }
  return folders;
}

/** The conversation whose agent a document is; null for other documents. */
export function agentOf(document: unknown): string | null {
  if (dig(document, 'kind') !== 'pi.agent' || dig(document, 'scope', 'kind') !== 'conversation') return null;
  return idField(asObject(dig(document, 'scope')) ?? {}, 'conversationId');
}
