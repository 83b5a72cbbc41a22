import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { parseSize } from '../generate/size.ts';

const USAGE = `node benchmarks/peers/duckdb.ts STORE OUT [--agents claude,codex] [--threads 2] [--max-object 64MiB]

Unnests the transcripts below STORE (laid out as a home folder) into Parquet files in OUT, with DuckDB alone.`;

/** A path inside a quoted SQL string. */
function sqlText(path: string): string {
  return path.replaceAll("'", "''");
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      agents: { type: 'string', default: 'claude,codex' },
      threads: { type: 'string', default: '2' },
      'max-object': { type: 'string', default: '64MiB' },
    },
  });
  const [store, out] = positionals;
  if (store === undefined || out === undefined) {
    console.error(USAGE);
    process.exitCode = 1;
    return;
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', { threads: values.threads });
  const connection = await instance.connect();
  // Row order costs memory and a thread's time, and these tables do not need it. Times are UTC, as in the transcripts.
  await connection.run("SET preserve_insertion_order = false; SET TimeZone = 'UTC'");
  await connection.run(`SET temp_directory = '${sqlText(join(out, 'spill'))}'`);
  for (const agent of values.agents.split(',')) {
    const sql = readFileSync(new URL(`${agent}-unnest.sql`, import.meta.url), 'utf8')
      .replaceAll('@store@', sqlText(store))
      .replaceAll('@out@', sqlText(out))
      .replaceAll('@max_object_size@', String(parseSize(values['max-object'])));
    await connection.run(sql);
  }
  connection.closeSync();
}

await main();
