/** `sessionlake sources`: what would be read and, against a cursor, what changed. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { cursorPath } from '../cursor/lake.ts';
import { discoverChecked, type FoundSource } from '../discovery/discovery.ts';
import { type OptionsInput, parseOptions, planRead, type ReadPlan, UsageError } from '../options.ts';
import { explain, explanationLines } from './explain.ts';
import { formatBytes, passedBy, plural, showTable } from './people.ts';
import { sourceList } from './source-list.ts';
import { printJson, show, tell } from './terminal.ts';

type State = 'new' | 'changed' | 'unchanged' | null;

/** The state of each source against the cursor; null where none was named. */
async function statesOf(options: ReturnType<typeof parseOptions>): Promise<((source: FoundSource) => State) | null> {
  const file =
    options.cursor !== undefined
      ? resolve(options.cursor)
      : options.out !== undefined
        ? cursorPath(resolve(options.out))
        : null;
  if (file === null) return null;
  if (!existsSync(file)) throw new UsageError(`${file}: there is no cursor yet; 'sessionlake sync' makes one`);
  const { Cursor } = await import('../cursor/cursor.ts');
  const { changeOf } = await import('../pipeline/changes.ts');
  const cursor = Cursor.look(file);
  const known = cursor.sources();
  cursor.close();
  return (source) => {
    const change = changeOf(source, known.get(source.sourceId));
    return change === null ? 'unchanged' : change === 'new' ? 'new' : 'changed';
  };
}

function explainAll(options: ReturnType<typeof parseOptions>, plan: ReadPlan): number {
  for (const name of ['out', 'cursor', 'sources-from'] as const)
    if (options[name] !== undefined) throw new UsageError(`--explain goes without --${name}`);
  for (const agent of plan.discovery.agents) {
    const explanation = explain(agent, plan);
    if (options.json === true) printJson(explanation);
    else show(...explanationLines(explanation));
  }
  return 0;
}

export async function sources(input: OptionsInput & { explain?: boolean }): Promise<number> {
  const { explain: isExplained, ...rest } = input;
  const options = parseOptions(rest);
  const plan = planRead(options, { env: process.env, platform: process.platform });
  if (isExplained === true) return explainAll(options, plan);
  const only = await sourceList(options['sources-from']);
  const stateOf = await statesOf(options);
  const discovery = discoverChecked(plan.discovery);
  const found = discovery.sources.filter((s) => only === null || only.has(s.spec.path));
  if (options.json === true) {
    for (const source of found) {
      printJson({
        agent: source.agent.slug,
        source_id: source.sourceId,
        source_path: source.spec.path,
        store_kind: source.spec.storeKind,
        size: source.size,
        mtime: source.mtimeMs === null ? null : new Date(source.mtimeMs).toISOString(),
        state: stateOf?.(source) ?? null,
      });
    }
    return 0;
  }
  const rows = found.map((source) => [
    source.agent.slug,
    source.spec.storeKind,
    source.size === null ? '-' : formatBytes(source.size),
    source.mtimeMs === null ? '-' : new Date(source.mtimeMs).toISOString().slice(0, 16).replace('T', ' '),
    ...(stateOf === null ? [] : [stateOf(source) ?? '']),
    source.spec.path,
  ]);
  const head = ['Agent', 'Store', 'Size', 'Changed (UTC)', ...(stateOf === null ? [] : ['State']), 'Path'];
  if (rows.length > 0) showTable(head, rows, new Set([2]));
  const bytes = found.reduce((n, s) => n + (s.size ?? 0), 0);
  tell(`${plural(found.length, 'source')}, ${formatBytes(bytes)}`, ...passedBy(discovery.issues));
  return 0;
}
