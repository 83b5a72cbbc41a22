/** The commands that read and write rows: stream, export, sync. */
import { resolve } from 'node:path';
import {
  lakeTarget,
  type OptionsInput,
  parseOptions,
  planRead,
  type StreamFormat,
  streamFormat,
  UsageError,
} from '../options.ts';
import { exitStatus, type RunReport } from '../pipeline/report.ts';
import { exportSnapshot } from '../pipeline/snapshot.ts';
import { streamRows } from '../pipeline/stream.ts';
import { syncLake } from '../pipeline/sync.ts';
import { reportRecord } from '../results.ts';
import { formatReport } from './people.ts';
import { progressListener } from './progress.ts';
import { sourceList } from './source-list.ts';
import { printJson, tell } from './terminal.ts';

interface Reading {
  readonly quiet: boolean;
  /** The report as JSON on stdout instead of the summary; never where stdout carries rows. */
  readonly json: boolean;
}

async function told(
  reading: Reading,
  work: (listener: ReturnType<typeof progressListener>) => Promise<RunReport>,
): Promise<number> {
  const listener = progressListener(reading.quiet);
  const started = performance.now();
  let report: RunReport;
  try {
    report = await work(listener);
  } finally {
    listener.stop();
  }
  if (reading.json) printJson(reportRecord(report));
  // Quiet is for what went well: what was held back is said all the same.
  else if (!reading.quiet || report.heldBack.length > 0)
    tell(...formatReport(report, (performance.now() - started) / 1000));
  return exitStatus(report);
}

const here = { env: process.env, platform: process.platform };

/** Bytes that a terminal would take for commands. */
function checkNoTerminal(format: StreamFormat): void {
  if (format === 'arrow' && process.stdout.isTTY)
    throw new UsageError('--format arrow writes bytes that are not for a terminal; send them to a file or a pipe');
}

export async function stream(input: OptionsInput): Promise<number> {
  const options = parseOptions(input);
  const plan = planRead(options, here);
  const format = streamFormat(options, plan);
  checkNoTerminal(format);
  const only = await sourceList(options['sources-from']);
  const cursor = options.cursor === undefined ? null : resolve(options.cursor);
  return told({ quiet: plan.quiet, json: false }, (listener) =>
    streamRows(plan, process.stdout, cursor, listener, only, format),
  );
}

export async function exportCommand(input: OptionsInput): Promise<number> {
  const options = parseOptions(input);
  const plan = planRead(options, here);
  const target = lakeTarget(options, 'export');
  const only = await sourceList(options['sources-from']);
  return told({ quiet: plan.quiet, json: options.json ?? false }, (listener) =>
    exportSnapshot(plan, target, listener, only),
  );
}

export async function sync(input: OptionsInput): Promise<number> {
  const options = parseOptions(input);
  const plan = planRead(options, here);
  const target = {
    ...lakeTarget(options, 'sync'),
    cursor: options.cursor === undefined ? null : resolve(options.cursor),
  };
  const only = await sourceList(options['sources-from']);
  return told({ quiet: plan.quiet, json: options.json ?? false }, (listener) => syncLake(plan, target, listener, only));
}
