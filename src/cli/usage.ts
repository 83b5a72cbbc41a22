/** `sessionlake usage`. */
import { countedColumns } from '../ledger/normalize.ts';
import { type OptionsInput, parseOptions, planRead, UsageError } from '../options.ts';
import { exitStatus } from '../pipeline/report.ts';
import { type UsageTotal, usageTotals } from '../pipeline/usage-totals.ts';
import { formatCount, formatReport, formatTable } from './people.ts';
import { progressListener } from './progress.ts';
import { sourceList } from './source-list.ts';

const figure = (value: number | null): string => (value === null ? '-' : formatCount(value));

const sumOf = (totals: readonly UsageTotal[], column: (typeof countedColumns)[number]): number | null =>
  totals.reduce<number | null>((sum, total) => (total[column] === null ? sum : (sum ?? 0) + total[column]), null);

function asTable(totals: readonly UsageTotal[]): string {
  const head = ['Day', 'Agent', 'Model', 'Replies', 'Input', 'Cache read', 'Cache write', 'Output', 'of it reasoning'];
  const figures = (of: readonly UsageTotal[]): string[] => [
    formatCount(of.reduce((n, t) => n + t.replies, 0)),
    figure(sumOf(of, 'counted_input_tokens')),
    figure(sumOf(of, 'counted_cache_read_tokens')),
    figure(sumOf(of, 'counted_cache_write_tokens')),
    figure(sumOf(of, 'counted_output_tokens')),
    figure(sumOf(of, 'counted_reasoning_tokens')),
  ];
  const rows = totals.map((t) => [t.day ?? '(no time)', t.agent, t.model ?? '(not recorded)', ...figures([t])]);
  if (totals.length > 1) rows.push(['Total', '', '', ...figures(totals)]);
  return formatTable(head, rows, new Set([3, 4, 5, 6, 7, 8]));
}

const asJson = (total: UsageTotal): Record<string, unknown> => ({
  day: total.day,
  agent: total.agent,
  model: total.model,
  replies: total.replies,
  ...Object.fromEntries(countedColumns.map((column) => [column.replace('counted_', ''), total[column]])),
});

export async function usage(input: OptionsInput): Promise<number> {
  const options = parseOptions(input);
  const plan = planRead(options, { env: process.env, platform: process.platform });
  const timeZone = options['time-zone'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    throw new UsageError(`--time-zone: '${timeZone}' is no IANA time zone, like Europe/Berlin`);
  }
  const listener = progressListener(plan.quiet);
  const started = performance.now();
  const { totals, report } = await usageTotals(
    plan,
    timeZone,
    listener,
    await sourceList(options['sources-from']),
  ).finally(listener.stop);
  if (options.json === true) {
    const total = Object.fromEntries(
      countedColumns.map((column) => [column.replace('counted_', ''), sumOf(totals, column)]),
    );
    process.stdout.write(`${JSON.stringify({ time_zone: timeZone, totals: totals.map(asJson), total })}\n`);
  } else if (totals.length > 0) process.stdout.write(`${asTable(totals)}\n`);
  else process.stdout.write('no usage is recorded\n');
  if (!plan.quiet || report.heldBack.length > 0)
    process.stderr.write(formatReport(report, (performance.now() - started) / 1000));
  return exitStatus(report);
}
