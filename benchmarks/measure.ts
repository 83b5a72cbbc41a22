import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** One command line to be timed. */
export interface Command {
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Where its standard output goes; null throws it away. */
  stdout: string | null;
}

export interface Measurement {
  wallMs: number;
  /** User and system time of the command and all its children; null where there is no /proc. */
  cpuMs: number | null;
  /** The most resident memory of the command (with its children, where it has any); null where there is no /proc. */
  peakBytes: number | null;
  exitCode: number;
}

const POLL_MS = 20;
/** Linux counts processor time in hundredths of a second for everyone who reads /proc. */
const TICK_MS = 10;

/** Runs the command to its end. Nothing else may be started meanwhile: processor time is that of all finished children. */
export async function measure(command: Command): Promise<Measurement> {
  const [program, ...args] = command.argv as [string, ...string[]];
  if (command.stdout !== null) mkdirSync(dirname(command.stdout), { recursive: true });
  const stdout = command.stdout === null ? 'ignore' : openSync(command.stdout, 'w');
  const cpuBefore = childTicks();
  const started = performance.now();
  const child = spawn(program, args, { env: command.env, stdio: ['ignore', stdout, 'pipe'] });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000);
  });
  let peak = 0;
  const poll = (): void => {
    if (child.pid !== undefined) peak = Math.max(peak, residentBytes(child.pid));
  };
  const early = setTimeout(poll, 3);
  const timer = setInterval(poll, POLL_MS);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? -1));
    });
    const wallMs = performance.now() - started;
    const cpuAfter = childTicks();
    if (exitCode !== 0)
      console.error(
        `  exit status ${exitCode}: ${program} ${args.join(' ')}\n  ${complaint.trim().replaceAll('\n', '\n  ')}`,
      );
    return {
      wallMs,
      cpuMs: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) * TICK_MS,
      peakBytes: peak === 0 ? null : peak,
      exitCode,
    };
  } finally {
    clearTimeout(early);
    clearInterval(timer);
    if (typeof stdout === 'number') closeSync(stdout);
  }
}

/** Several commands one after the other, as one: times add up, the highest peak counts. */
export async function measureAll(commands: readonly Command[]): Promise<Measurement> {
  const sum: Measurement = { wallMs: 0, cpuMs: 0, peakBytes: null, exitCode: 0 };
  for (const command of commands) {
    const one = await measure(command);
    sum.wallMs += one.wallMs;
    sum.cpuMs = sum.cpuMs === null || one.cpuMs === null ? null : sum.cpuMs + one.cpuMs;
    if (one.peakBytes !== null) sum.peakBytes = Math.max(sum.peakBytes ?? 0, one.peakBytes);
    sum.exitCode ||= one.exitCode;
  }
  return sum;
}

/** Processor ticks of this process's children that have ended: fields 16 and 17 of /proc/self/stat. */
function childTicks(): number | null {
  const stat = readOrNull('/proc/self/stat');
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[13]) + Number(fields[14]);
}

/** A single process tells its own high-water mark; of a tree, the sum at this moment is taken. */
function residentBytes(pid: number): number {
  const status = readOrNull(`/proc/${pid}/status`);
  if (status === null) return 0;
  const children = childrenOf(pid);
  let now = kilobytes(status, 'VmRSS');
  for (const child of children) now += residentBytes(child);
  return Math.max(now, kilobytes(status, 'VmHWM'));
}

function childrenOf(pid: number): number[] {
  const list = readOrNull(`/proc/${pid}/task/${pid}/children`)?.trim();
  return list ? list.split(' ').map(Number) : [];
}

function kilobytes(status: string, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status);
  return match ? Number(match[1]) * 1024 : 0;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // the process has just ended, or there is no /proc
  }
}
