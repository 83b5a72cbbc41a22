/** Sessions of the database of one agent. */
import type { StoreDatabase } from '../../framing/database.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, TableShapes } from '../dialects/tables.ts';

const EVENTS = 'transcript_events';

export const schema: StoreSchema = {
  product: 'OpenClaw',
  layouts: [{ tables: { [EVENTS]: ['session_id', 'seq', 'event_json', 'created_at'] } }],
  version: { table: 'schema_meta', column: 'schema_version' },
  refusesViews: true,
};

type Facts = Record<string, string | null>;

export interface Listed {
  readonly members: readonly DatabaseMember[];
  /** Archives of cold transcripts that lie in files, by their session. */
  readonly coldFiles: readonly { readonly sessionId: string; readonly name: string; readonly facts: Facts }[];
}

export function listSessions(database: StoreDatabase, agentId: string): Listed {
  const shapes = new TableShapes(database);
  const facts = readFacts(database, shapes, agentId);
  const factsOf = (id: string): Facts => facts.get(id) ?? { agentId };
  const members = new Map<string, { state: string; bytes: number }>();
  for (const [id, found] of eventStates(database, shapes)) members.set(id, found);
  const coldFiles: Listed['coldFiles'][number][] = [];
  const cold = 'session_transcript_cold_archives';
  if (shapes.has(cold, 'session_id', 'storage', 'archive_name', 'archive_sha256')) {
    const sql = `SELECT session_id AS id, storage, archive_name AS name, archive_sha256 AS hash FROM ${cold} ORDER BY 1`;
    for (const row of database.each(sql)) {
      const id = String(row['id']);
      if (members.has(id)) continue;
      if (row['storage'] === 'file') coldFiles.push({ sessionId: id, name: String(row['name']), facts: factsOf(id) });
      else members.set(id, { state: `cold ${row['hash']}`, bytes: 0 });
    }
  }
  const archives = 'session_transcript_archives';
  if (shapes.has(archives, 'session_id', 'generation', 'archive_sha256')) {
    const inFiles = new Set(coldFiles.map((file) => file.sessionId));
    const sql = `SELECT session_id AS id, group_concat(generation || ':' || archive_sha256) AS state FROM ${archives} GROUP BY 1 ORDER BY 1`;
    for (const row of database.each(sql)) {
      const id = String(row['id']);
      if (!members.has(id) && !inFiles.has(id)) members.set(id, { state: `archives ${row['state']}`, bytes: 0 });
    }
  }
  return {
    coldFiles,
    members: [...members]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([member, { state, bytes }]) => ({
        member,
        state: JSON.stringify([state, factsOf(member)]),
        bytes,
        hints: factsOf(member),
      })),
  };
}

/** Rows are appended, and now and then written anew: a number then says so. */
function eventStates(database: StoreDatabase, shapes: TableShapes): Map<string, { state: string; bytes: number }> {
  const compressed = shapes.has(EVENTS, 'event_zstd') ? 'octet_length(event_zstd)' : '0';
  const narrow = narrowed(EVENTS, {
    id: 'session_id',
    number: 'seq',
    created: 'created_at',
    bytes: `coalesce(octet_length(event_json), ${compressed}, 0)`,
  });
  const found = new Map<string, { state: string; bytes: number }>();
  const sql = `${narrow} SELECT id, count(*) || ':' || max(number) || ':' || sum(bytes) || ':' || sum(created) AS state, sum(bytes) AS bytes FROM narrow GROUP BY id`;
  for (const row of database.each(sql))
    found.set(String(row['id']), { state: String(row['state']), bytes: Number(row['bytes'] ?? 0) });
  if (!shapes.has('transcript_rewrite_watermarks', 'session_id', 'generation')) return found;
  for (const row of database.each('SELECT session_id AS id, generation FROM transcript_rewrite_watermarks')) {
    const id = String(row['id']);
    const known = found.get(id);
    if (known !== undefined) found.set(id, { ...known, state: `${known.state} rewritten ${row['generation']}` });
  }
  return found;
}

/** What windows and nodes say of sessions, by their id. */
function readFacts(database: StoreDatabase, shapes: TableShapes, agentId: string): Map<string, Facts> {
  const facts = new Map<string, Facts>();
  const text = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);
  if (shapes.has('session_windows', 'session_id')) {
    const columns = shapes.select(
      'session_windows',
      'session_key',
      'previous_session_id',
      'reason',
      'channel',
      'spawned_by',
    );
    for (const row of database.each(`SELECT session_id, ${columns} FROM session_windows`))
      facts.set(String(row['session_id']), {
        agentId,
        sessionKey: text(row['session_key']),
        parentId: text(row['previous_session_id']),
        reason: text(row['reason']),
        channel: text(row['channel']),
        spawnedBy: text(row['spawned_by']),
      });
  }
  if (!shapes.has('session_nodes', 'current_session_id')) return facts;
  const columns = shapes.select('session_nodes', 'session_key', 'label', 'display_name', 'entry_json', 'spawned_by');
  for (const row of database.each(`SELECT current_session_id AS id, ${columns} FROM session_nodes`)) {
    const id = String(row['id']);
    const entry = asObject(parseOrUndefined(String(row['entry_json'] ?? ''))) ?? {};
    const known = facts.get(id) ?? { agentId };
    facts.set(id, {
      ...known,
      sessionKey: known['sessionKey'] ?? text(row['session_key']),
      spawnedBy: known['spawnedBy'] ?? text(row['spawned_by']),
      title:
        text(row['label']) ?? nameField(entry, 'label') ?? text(row['display_name']) ?? nameField(entry, 'displayName'),
    });
  }
  return facts;
}
