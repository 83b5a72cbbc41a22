/** Words and figures for people. */
import { styleText } from 'node:util';
import Table from 'cli-table3';
import { exitStatus, type RunReport } from '../pipeline/report.ts';

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

const plural = (count: number, word: string): string => `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;

/** A table without frames: readable, and easy to paste. `right` are the columns of figures. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number>,
): string {
  const isTty = process.stdout.isTTY;
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
    style: { 'padding-left': 0, 'padding-right': 0, head: isTty ? ['bold'] : [], border: [] },
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const byteRange = (start: number | null, end: number | null): string =>
  start === null ? '' : ` at bytes ${start}-${end ?? ''}`;

/** Problems listed; more are counted. */
const LISTED = 20;

function problems(title: string, list: RunReport['heldBack'], colour: 'red' | 'yellow'): string[] {
  if (list.length === 0) return [];
  const lines = [styleText(colour, `${title}:`, { stream: process.stderr })];
  for (const p of list.slice(0, LISTED))
    lines.push(`  ${p.agent} ${p.path}${byteRange(p.byteStart, p.byteEnd)}\n    ${p.status}: ${p.message}`);
  if (list.length > LISTED) lines.push(`  … and ${formatCount(list.length - LISTED)} more (table sources lists all)`);
  return lines;
}

/** The closing summary, on several lines; one line where nothing was there to be told. */
export function formatReport(report: RunReport, seconds: number): string {
  const read = Object.values(report.read).reduce((n, count) => n + count, 0);
  const rows = Object.values(report.rows).reduce((n, count) => n + count, 0);
  const head = [`${plural(read, 'source')} read (${formatBytes(report.bytes)})`];
  if (report.unchanged > 0) head.push(`${formatCount(report.unchanged)} unchanged`);
  if (report.heldBack.length > 0) head.push(`${formatCount(report.heldBack.length)} held back`);
  if (report.unsupported > 0) head.push(`${formatCount(report.unsupported)} unsupported`);
  head.push(`${plural(rows, 'row')} in ${seconds.toFixed(1)} s`);
  const lines = [head.join(', ')];
  if (report.rolledForward > 0)
    lines.push(`${plural(report.rolledForward, 'batch')} of an interrupted run brought to its end first`);
  const tables = Object.entries(report.rows).map(([table, count]) => `${table} ${formatCount(count)}`);
  if (tables.length > 0) lines.push(`  ${tables.join(' · ')}`);
  const unknown = Object.entries(report.unknownTypes).map(([type, count]) => `${type} ×${count}`);
  if (unknown.length > 0)
    lines.push(`unknown record types (counted, not read): ${unknown.slice(0, LISTED).join(', ')}`);
  for (const issue of report.discoveryIssues.slice(0, LISTED)) lines.push(`passed by: ${issue.path}: ${issue.message}`);
  lines.push(...problems('read with errors', report.withErrors, 'yellow'));
  lines.push(...problems('held back, and tried again by the next run', report.heldBack, 'red'));
  if (exitStatus(report) === 3) lines.push('nothing could be committed');
  return `${lines.join('\n')}\n`;
}
