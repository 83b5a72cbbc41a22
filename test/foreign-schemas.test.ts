/** A database without a table that is needed is no empty store: its source fails, and nothing is withdrawn. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { copyOf, parseRows, run, temporaryFolder } from './support/command.ts';
import { argumentsOf, casesOf, environmentOf } from './support/corpus.ts';
import { lakeRows } from './support/lakes.ts';

const rename = (table: string): string => `ALTER TABLE ${table} RENAME TO ${table}_v9`;

/** Agent, case, ending of the database's name, what becomes of it, what the error names. */
const LOSSES: readonly (readonly [string, string, RegExp, string, string])[] = [
  ['opencode', 'sqlite-many-sessions', /opencode\.db$/, rename('message'), 'table message'],
  ['opencode', 'sqlite-many-sessions', /opencode\.db$/, rename('session'), 'table session'],
  ['opencode', 'sqlite-many-sessions', /opencode\.db$/, rename('part'), 'table part'],
  ['opencode', 'v2-session-message', /opencode\.db$/, rename('session_message'), 'table session_message'],
  ['cursor', 'ide-header-order', /globalStorage\/state\.vscdb$/, rename('cursorDiskKV'), 'table cursorDiskKV'],
  ['cursor', 'cli-store-db', /store\.db$/, rename('blobs'), 'table blobs'],
  ['zcode', 'ledger-and-sequence', /db\.sqlite$/, rename('message'), 'table message'],
  ['trae', 'turn-index-order', /state\.vscdb$/, rename('ItemTable'), 'table ItemTable'],
  ['antigravity', 'cli-db-usage', /\.db$/, rename('gen_metadata'), 'table gen_metadata'],
  ['goose', 'ledger-vs-accumulated', /sessions\.db$/, rename('messages'), 'table messages'],
  [
    'goose',
    'legacy-jsonl-and-db',
    /sessions\.db$/,
    'ALTER TABLE messages RENAME COLUMN content_json TO content_v9',
    'column messages.content_json',
  ],
  ['hermes', 'structured-content', /state\.db$/, rename('messages'), 'table messages'],
  ['crush', 'counters-are-not-totals', /crush\.db$/, rename('messages'), 'table messages'],
  ['shelley', 'types-and-usage', /shelley\.db$/, rename('messages'), 'table messages'],
  ['devin', 'forest-main-chain', /sessions\.db$/, rename('message_nodes'), 'table message_nodes'],
  ['zed', 'legacy-json-rows', /threads\.db$/, rename('threads'), 'table threads'],
  ['warp', 'tasks-with-reasoning-and-tools', /warp\.sqlite$/, rename('agent_tasks'), 'table agent_tasks'],
  ['openclaw', 'sqlite-store', /openclaw-agent\.sqlite$/, rename('transcript_events'), 'table transcript_events'],
  ['pi_durable', 'root-conversation', /session\.sqlite$/, rename('entries'), 'table entries'],
  ['forge', 'prompt-includes-cache-typed-text', /\.forge\.db$/, rename('conversations'), 'table conversations'],
];

describe('a database of a schema that is not known', () => {
  it.each(LOSSES)('%s, %s, %s: %s', async (agent, name, ending, sql, missing) => {
    const found = casesOf().find((one) => one.agent === agent && one.name === name)!;
    const store = copyOf(found.store);
    const lake = join(temporaryFolder(), 'lake');
    const sync = () =>
      run(
        ['sync', '--format', 'ndjson', '--out', lake, ...argumentsOf(found.expected, store)],
        environmentOf(found.expected, store),
      );
    const first = await sync();
    expect([0, 2], first.stderr).toContain(first.status);
    const before = lakeRows(lake).length;
    for (const path of readdirSync(store, { recursive: true })
      .map(String)
      .filter((path) => ending.test(path))) {
      const database = new Database(join(store, path));
      database.exec(sql);
      database.close();
    }
    await sync();
    const after = lakeRows(lake);
    const failed = after.filter((row) => row.record === 'source' && row['status'] === 'failed');
    expect(failed.length).toBeGreaterThan(0);
    const issue = after.find((row) => row.record === 'issue' && row['code'] === 'foreign_schema');
    expect(issue?.['message']).toContain(`lacks ${missing}`);
    expect(after.length).toBeGreaterThan(before);
    const withdrawn = after.filter((row) => row['kind'] === 'withdrawn' || row['basis'] === 'reversal');
    expect(withdrawn).toEqual([]);
    expect(
      after.filter((row) => row.record === 'message' && Number(row['revision']) > 0 && row['is_active'] === false),
    ).toEqual([]);
  });

  it('does not keep what can be read from being read', async () => {
    const found = casesOf().find((one) => one.agent === 'goose' && one.name === 'legacy-jsonl-and-db')!;
    const store = copyOf(found.store);
    const path = readdirSync(store, { recursive: true })
      .map(String)
      .find((name) => name.endsWith('sessions.db'))!;
    const database = new Database(join(store, path));
    database.exec(rename('messages'));
    database.close();
    const { stdout } = await run(
      ['stream', ...argumentsOf(found.expected, store)],
      environmentOf(found.expected, store),
    );
    const sources = parseRows(stdout).filter((row) => row.record === 'source');
    expect(sources.map((row) => row['status']).sort()).toEqual(expect.arrayContaining(['complete', 'failed']));
  });
});
