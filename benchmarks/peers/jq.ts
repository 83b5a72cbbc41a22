import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from '../measure.ts';
import { storeEnvironment } from './environment.ts';

/** Two jq processes at a time, each writing a file of its own: a shared one would be interleaved in the middle of lines. */
const SCRIPT = `mkdir -p "$2" && find "$1/.claude/projects" -name '*.jsonl' -print0 |
  xargs -0 -P 2 -n 64 sh -c 'filter=$0; out=$1; shift; jq -c -f "$filter" "$@" > "$out/part-$$.ndjson"' "$3" "$2"`;

/** jq over Claude's transcripts, or null where there is no jq. */
export function jqCommand(store: string, out: string): Command | null {
  if (spawnSync('jq', ['--version']).status !== 0) return null;
  const filter = fileURLToPath(new URL('claude-usage.jq', import.meta.url));
  return { argv: ['sh', '-c', SCRIPT, 'jq', store, out, filter], env: storeEnvironment(store), stdout: null };
}
