import { chmodSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '../measure.ts';
import { storeEnvironment } from './environment.ts';

/** ccusage's native program. Its npm launcher is left out: it would add the start of a Node process to each run. */
export function ccusageProgram(): string | null {
  try {
    const manifest = fileURLToPath(
      import.meta.resolve(`@ccusage/ccusage-${process.platform}-${process.arch}/package.json`),
    );
    const program = join(dirname(manifest), 'bin', 'ccusage');
    if (!existsSync(program)) return null;
    chmodSync(program, 0o755); // the package has it without
    return program;
  } catch {
    return null; // no such package for this platform
  }
}

/** The daily reports of both agents, offline: a command each, because that is how ccusage reads them. */
export function ccusageCommands(store: string, out: string | null): Command[] | null {
  const program = ccusageProgram();
  if (program === null) return null;
  return ['claude', 'codex'].map((agent) => ({
    argv: [program, agent, 'daily', '--offline', '--json'],
    env: storeEnvironment(store),
    stdout: out === null ? null : join(out, `ccusage-${agent}.json`),
  }));
}
