/** `usage`: totals per day, agent and model, without writing rows. */
import type { FoundSource } from '../discovery/discovery.ts';
import { settle } from '../ledger/batch-ledger.ts';
import { type Counted, countedColumns } from '../ledger/normalize.ts';
import { nothingCounted } from '../ledger/postings.ts';
import type { ReadPlan } from '../options.ts';
import type { PackedTotals } from './protocol.ts';
import type { Listener, RunReport } from './report.ts';
import { Run } from './run.ts';

export interface UsageTotal extends Counted {
  readonly agent: string;
  /** `YYYY-MM-DD` in the time zone asked for; null where replies have no time. */
  readonly day: string | null;
  readonly model: string | null;
  /** API replies counted. */
  replies: number;
}

export interface UsageTotals {
  readonly totals: readonly UsageTotal[];
  readonly report: RunReport;
}

const compare = (a: string | null, b: string | null): number =>
  a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1;

function sumUp(shards: readonly PackedTotals[]): UsageTotal[] {
  const counted = settle(shards.map((shard) => shard.claims));
  const totals = new Map<string, UsageTotal>();
  shards.forEach((shard, s) => {
    const rows = shard.labels.map((label) => {
      let total = totals.get(label);
      if (total === undefined) {
        const [agent, day, model] = label.split('\u0000') as [string, string, string];
        total = {
          agent,
          day: day === '' ? null : day,
          model: model === '' ? null : model,
          replies: 0,
          ...nothingCounted(),
        };
        totals.set(label, total);
      }
      return total;
    });
    counted[s]!.forEach((isCounted, i) => {
      if (isCounted === 0) return;
      const total = rows[shard.label[i]!]!;
      total.replies++;
      countedColumns.forEach((column, c) => {
        const value = shard.counted[i * countedColumns.length + c]!;
        if (!Number.isNaN(value)) total[column] = (total[column] ?? 0) + value;
      });
    });
  });
  return [...totals.values()]
    .filter((total) => total.replies > 0)
    .sort((a, b) => compare(a.day, b.day) || compare(a.agent, b.agent) || compare(a.model, b.model));
}

/** Totals of the sources, shard by shard, in their order. */
async function readTotals(run: Run, sources: readonly FoundSource[], timeZone: string): Promise<PackedTotals[]> {
  const found: PackedTotals[] = [];
  const tasks = run.shardTasks(
    sources.map((source) => ({ found: source, generation: 0, resume: null, prior: null })),
    () => ({ kind: 'totals', timeZone }),
  );
  await run.inOrder(
    tasks,
    () => undefined,
    (result) => {
      if (result.totals !== null) found.push(result.totals);
      for (const outcome of result.outcomes) run.note(outcome);
    },
  );
  return found;
}

export async function usageTotals(
  plan: ReadPlan,
  timeZone: string,
  listener: Listener,
  only: ReadonlySet<string> | null = null,
): Promise<UsageTotals> {
  const run = new Run(
    { ...plan, projection: { ...plan.projection, tables: ['usage'], totalsOnly: true } },
    listener,
    only,
  );
  try {
    const { sources } = run.discovery;
    const alone = sources.filter((source) => !run.needsFamily(source));
    const related = sources.filter((source) => run.needsFamily(source));
    run.expect(run.totalBytes);
    const totals: PackedTotals[] = [];
    if (sources.length > 0) {
      // What stands alone is read while it is found out who is related to whom.
      await run.reading(run.totalBytes, async () => {
        const [first, second] = await Promise.all([
          readTotals(run, alone, timeZone),
          run.link(related).then(() => readTotals(run, related, timeZone)),
        ]);
        totals.push(...first, ...second);
      });
    }
    return { totals: sumUp(totals), report: run.report({ unchanged: 0, batches: [], rolledForward: 0 }) };
  } finally {
    await run.close();
  }
}
