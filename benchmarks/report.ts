import type { Measurement } from './measure.ts';

/** All runs of one side of a comparison. */
export interface Side {
  label: string;
  runs: Measurement[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function ratio(a: number, b: number): string {
  return Number.isFinite(a / b) ? (a / b).toFixed(2) : '-';
}

interface Figures {
  wall: number;
  cpu: number;
  peak: number;
}

function figures(side: Side): Figures {
  return {
    wall: median(side.runs.map((run) => run.wallMs)),
    cpu: median(known(side.runs.map((run) => run.cpuMs))),
    peak: median(known(side.runs.map((run) => run.peakBytes))),
  };
}

/** A row a side, medians; the first side's ratio to the second below them. Less than 1: the first needs less. */
export function printComparison(title: string, sides: readonly Side[]): void {
  console.log(`\n${title}`);
  const rows = [['', 'wall', 'range', 'processor', 'peak memory']];
  for (const side of sides) {
    const { wall, cpu, peak } = figures(side);
    const walls = side.runs.map((run) => run.wallMs);
    const failed = side.runs.some((run) => run.exitCode !== 0) ? ' (exit status not 0)' : '';
    rows.push([
      side.label + failed,
      seconds(wall),
      `${(Math.min(...walls) / 1000).toFixed(2)}-${(Math.max(...walls) / 1000).toFixed(2)}`,
      Number.isNaN(cpu) ? '-' : seconds(cpu),
      Number.isNaN(peak) ? '-' : `${(peak / 2 ** 20).toFixed(0)} MiB`,
    ]);
  }
  const [first, second] = sides;
  if (first && second) {
    const a = figures(first);
    const b = figures(second);
    rows.push(['ratio', ratio(a.wall, b.wall), '', ratio(a.cpu, b.cpu), ratio(a.peak, b.peak)]);
  }
  printTable(rows);
}

function printTable(rows: readonly string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  for (const row of rows) {
    console.log(
      `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('   ')}`,
    );
  }
}
