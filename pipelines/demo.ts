/** Exports the bundled example stores to Parquet and asks DuckDB about them: what a first look at sessionlake shows. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';

const project = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const stores = ['claude', 'codex'].flatMap((agent) =>
  readdirSync(join(project, 'fixtures', agent)).map((name) => ({
    agent,
    path: join(project, 'fixtures', agent, name, 'store'),
  })),
);
const folder = mkdtempSync(join(tmpdir(), 'sessionlake-demo-'));
const lake = join(folder, 'lake');

async function show(title: string, sql: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = (await connection.runAndReadAll(sql)).getRowObjects();
  console.log(`\n${title}\n${sql.trim()}\n`);
  console.table(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value]),
      ),
    ),
  );
}

try {
  const roots = stores.flatMap(({ agent, path }) => {
    // One example keeps two configuration folders side by side.
    const inner = readdirSync(path).filter((name) => name === 'home' || name === 'work');
    return (inner.length > 0 ? inner.map((name) => join(path, name)) : [path]).flatMap((root) => [
      '--root',
      `${agent}=${root}`,
    ]);
  });
  console.log('$ sessionlake export --format parquet --out lake');
  const result = spawnSync(
    process.execPath,
    [
      join(project, 'dist', 'cli.js'),
      'export',
      '--agent',
      'claude,codex',
      '--format',
      'parquet',
      '--out',
      lake,
      ...roots,
    ],
    {
      stdio: 'inherit',
    },
  );
  if (result.status !== 0) throw new Error(`export ended with status ${result.status}`);
  await show(
    'What did each model cost in tokens? (plain sums: every reply is counted once)',
    `SELECT agent, model, sum(counted_input_tokens) AS input, sum(counted_cache_read_tokens) AS cache_read,
       sum(counted_output_tokens) AS output
FROM '${'lake'}/usage/*.parquet' GROUP BY ALL ORDER BY output DESC`.replaceAll("'lake", `'${lake}`),
  );
  await show(
    'Which tools were called, and how often did they fail?',
    `SELECT c.agent, c.name, count(*) AS calls, count(*) FILTER (r.is_error) AS failed
FROM '${lake}/tool_calls/*.parquet' c LEFT JOIN '${lake}/tool_results/*.parquet' r USING (session_id, call_id)
WHERE NOT c.is_copy GROUP BY ALL ORDER BY calls DESC, c.name LIMIT 8`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
