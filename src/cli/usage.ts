/** `sessionlake usage`. */
import { type OptionsInput, parseOptions, planRead, systemTimeZone } from '../options.ts';
import { exitStatus } from '../pipeline/report.ts';
import { type UsageTotal, usageTotals } from '../pipeline/usage-totals.ts';
import { sumOf, usageSummary } from '../results.ts';
import { formatCount, formatReport, showTable } from './people.ts';
import { progressListener } from './progress.ts';
import { sourceList } from './source-list.ts';
import { printJson, show, tell } from './terminal.ts';

const figure = (value: number | null): string => (value === null ? '-' : formatCount(value));

function showTotals(totals: readonly UsageTotal[]): void {
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
  showTable(head, rows, new Set([3, 4, 5, 6, 7, 8]));
}

export async function usage(input: OptionsInput): Promise<number> {
  const options = parseOptions(input);
  const plan = planRead(options, { env: process.env, platform: process.platform });
  const timeZone = options['time-zone'] ?? systemTimeZone();
  const only = await sourceList(options['sources-from']);
  const listener = progressListener(plan.quiet);
  const started = performance.now();
  const found = await usageTotals(plan, timeZone, listener, only).finally(listener.stop);
  const { totals, report } = found;
  if (options.json === true) printJson(usageSummary(found, timeZone));
  else if (totals.length > 0) showTotals(totals);
  else show('no usage is recorded');
  if (!plan.quiet || report.heldBack.length > 0) tell(...formatReport(report, (performance.now() - started) / 1000));
  return exitStatus(report);
}
