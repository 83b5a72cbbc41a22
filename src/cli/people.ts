/** Words and figures for people. */
import Table from 'cli-table3';
import type { DiscoveryIssue } from '../discovery/walker.ts';
import { exitStatus, type RunReport, type SourceProblem } from '../pipeline/report.ts';
import { type Line, show, visible } from './terminal.ts';

const units = ['B', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** `1 source`, `2 sources`; `words` where the plural is not made with an s. */
export const plural = (count: number, word: string, words = `${word}s`): string =>
  `${formatCount(count)} ${count === 1 ? word : words}`;

/**
 * A table without frames: readable, and easy to paste. `right` are the columns of figures. Cells are made visible here,
 * since what they are escaped to counts for the widths.
 */
function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number>,
): string {
  const none = {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
  };
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, i) => (right.has(i) ? 'right' : 'left')),
    chars: { ...none, left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  for (const row of rows) table.push(row.map(visible));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Writes a table to standard output, its head in bold. */
export function showTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number>,
): void {
  const [first = '', ...rest] = formatTable(head, rows, right).split('\n');
  show({ text: first, style: 'bold' }, ...rest);
}

const byteRange = (start: number | null, end: number | null): string =>
  start === null ? '' : ` at bytes ${start}-${end ?? ''}`;

/** Problems listed; more are counted. */
const LISTED = 20;

const andMore = (count: number): string[] =>
  count > LISTED ? [`  … and ${formatCount(count - LISTED)} more (--json lists all)`] : [];

function problems(title: string, next: string, list: readonly SourceProblem[], style: 'red' | 'yellow'): Line[] {
  if (list.length === 0) return [];
  return [
    { text: `${title}:`, style },
    ...list
      .slice(0, LISTED)
      .flatMap((p) => [`  ${p.agent} ${p.path}${byteRange(p.byteStart, p.byteEnd)}`, `    ${p.status}: ${p.message}`]),
    ...andMore(list.length),
    `  next: ${next}`,
  ];
}

const passedByLines = (issues: readonly DiscoveryIssue[]): string[] => [
  ...issues.slice(0, LISTED).map((issue) => `passed by: ${issue.path}: ${issue.message}`),
  ...andMore(issues.length),
];

/** What was found and passed by, with the reason; links and the like, which healthy stores have, by their number. */
export function passedBy(issues: readonly DiscoveryIssue[]): string[] {
  const told = issues.filter((issue) => issue.severity !== 'info');
  const lines = passedByLines(told);
  const others = issues.length - told.length;
  if (others > 0)
    lines.push(
      `passed by: ${plural(others, 'link or special file', 'links and special files')} (see sources --explain)`,
    );
  return lines;
}

/** The same, each with its reason. */
export const allPassedBy = passedByLines;

/** What can be done about sources that were held back. */
function nextStep(heldBack: readonly SourceProblem[]): string {
  const steps = ['mend the cause and run again; the next run tries them anyway'];
  if (heldBack.some((p) => p.status === 'complete_with_errors'))
    steps.push('--gate quarantine takes all but the bad records of sources that are complete_with_errors');
  return steps.join('; ');
}

/** The closing summary, on several lines; one line where nothing was there to be told. */
export function formatReport(report: RunReport, seconds: number): Line[] {
  const read = Object.values(report.read).reduce((n, count) => n + count, 0);
  const rows = Object.values(report.rows).reduce((n, count) => n + count, 0);
  const head = [`${plural(read, 'source')} read (${formatBytes(report.bytes)})`];
  if (report.unchanged > 0) head.push(`${formatCount(report.unchanged)} unchanged`);
  if (report.heldBack.length > 0) head.push(`${formatCount(report.heldBack.length)} held back`);
  if (report.unsupported > 0) head.push(`${formatCount(report.unsupported)} unsupported`);
  head.push(`${plural(rows, 'row')} in ${seconds.toFixed(1)} s`);
  const lines: Line[] = [head.join(', ')];
  if (report.rolledForward > 0)
    lines.push(`${plural(report.rolledForward, 'batch', 'batches')} of an interrupted run brought to its end first`);
  const tables = Object.entries(report.rows).map(([table, count]) => `${table} ${formatCount(count)}`);
  if (tables.length > 0) lines.push(`  ${tables.join(' · ')}`);
  const unknown = Object.entries(report.unknownTypes).map(([type, count]) => `${type} ×${formatCount(count)}`);
  if (unknown.length > 0)
    lines.push(`unknown record types (counted, not read): ${unknown.slice(0, LISTED).join(', ')}`);
  lines.push(...passedBy(report.discoveryIssues));
  const damaged = 'each bad record is a row of the table issues, with its byte range';
  lines.push(...problems('read with errors', damaged, report.withErrors, 'yellow'));
  lines.push(...problems('held back', nextStep(report.heldBack), report.heldBack, 'red'));
  if (exitStatus(report) === 3) lines.push('nothing could be committed');
  return lines;
}
