/** Lakes written in this process, and their rows. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countedColumns } from '../../src/ledger/normalize.ts';
import { type OptionsInput, parseOptions, planRead, type ReadPlan } from '../../src/options.ts';
import { type RunReport, silent } from '../../src/pipeline/report.ts';
import { exportSnapshot } from '../../src/pipeline/snapshot.ts';
import { syncLake } from '../../src/pipeline/sync.ts';
import { parseRows, type Row } from './command.ts';
import { newest } from './corpus.ts';

const planFor = (home: string, input: OptionsInput): ReadPlan =>
  planRead(parseOptions({ host: 'test-host', quiet: true, ...input }), { env: { HOME: home }, platform: 'linux' });

const target = (folder: string) =>
  ({ folder, format: 'ndjson', engine: 'hyparquet-writer', partition: 'none' }) as const;

export const syncHere = (home: string, lake: string, input: OptionsInput = {}): Promise<RunReport> =>
  syncLake(planFor(home, input), { ...target(lake), cursor: null }, silent);

export const exportHere = (home: string, lake: string, input: OptionsInput = {}): Promise<RunReport> =>
  exportSnapshot(planFor(home, input), target(lake), silent);

/** All rows of an NDJSON lake, by folder and file. */
export function lakeRows(lake: string): Row[] {
  const files = (folder: string): string[] =>
    readdirSync(folder)
      .sort()
      .flatMap((name) => {
        const path = join(folder, name);
        if (statSync(path).isDirectory()) return name.startsWith('_') ? [] : files(path);
        return name.endsWith('.ndjson') ? [path] : [];
      });
  return files(lake).flatMap((file) => parseRows(readFileSync(file, 'utf8')));
}

/** What differs from run to run without saying anything about the store. */
const passing = [
  'generation',
  'revision',
  'batch_id',
  'ingested_at',
  'session_rows',
  'message_rows',
  'tool_call_rows',
  'tool_result_rows',
  'usage_rows',
  'mtime',
];

const comparable = (row: Row): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([key]) => !passing.includes(key)));

const total = (rows: readonly Row[], column: string): number | null => {
  const values = rows.map((row) => row[column]).filter((v) => typeof v === 'number');
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
};

/** Sums of the counted columns over all postings, without any view. */
export const ledgerSums = (rows: readonly Row[]): Record<string, number> =>
  Object.fromEntries(
    countedColumns.map((c) => [
      c,
      total(
        rows.filter((r) => r.record === 'usage'),
        c,
      ) ?? 0,
    ]),
  );

/** One row an observation: the newest posting's native columns, the sums of what was posted. */
function currentUsage(rows: readonly Row[]): Row[] {
  const byEvent = new Map<string, Row[]>();
  for (const row of rows.filter((r) => r.record === 'usage')) {
    const key = String(row['event_id']);
    byEvent.set(key, [...(byEvent.get(key) ?? []), row]);
  }
  return [...byEvent.values()].map((postings) => {
    const last = postings.toSorted((a, b) => Number(a['revision']) - Number(b['revision'])).at(-1)!;
    const basis = postings.find((p) => p['basis'] !== 'reversal')?.['basis'] ?? last['basis'];
    return { ...last, basis, ...Object.fromEntries(countedColumns.map((c) => [c, total(postings, c)])) };
  });
}

export interface View {
  /** Rows by table record, each as comparable text, sorted. */
  readonly tables: Record<string, string[]>;
  /** Messages that the store no longer holds. */
  readonly withdrawn: ReadonlySet<string>;
}

/** The current tables, as the ready-made views give them. */
export function viewOf(rows: readonly Row[]): View {
  const withdrawn = new Set<string>();
  const current = newest(rows.filter((row) => row.record !== 'usage'));
  for (const row of current) if (row['kind'] === 'withdrawn') withdrawn.add(String(row['event_id']));
  const tables: Record<string, string[]> = {};
  const issues = new Set<string>();
  for (const row of [...current, ...currentUsage(rows)]) {
    const text = JSON.stringify(comparable(row));
    if (row.record === 'issue' && issues.has(text)) continue;
    issues.add(text);
    if (row['kind'] === 'withdrawn') continue;
    const list = tables[row.record] ?? [];
    list.push(text);
    tables[row.record] = list;
  }
  for (const list of Object.values(tables)) list.sort();
  return { tables, withdrawn };
}
