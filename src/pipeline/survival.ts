/** A source that kills its worker thread fails alone: the others of its shard are read again without it. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Engine, isWorkerDeath } from './engine.ts';
import type { ShardOutput, ShardResult, ShardSource, ShardTask, SourceOutcome } from './protocol.ts';

const MESSAGE = 'took more memory than a worker may have; lower --max-line, or read it alone with --root';

const failed = (source: ShardSource): SourceOutcome => ({
  sourceId: source.sourceId,
  summary: {
    status: 'failed',
    records: 0,
    lineErrors: 0,
    ignoredTypes: {},
    unknownTypes: {},
    lastCompleteByte: null,
    rows: {},
    error: { code: 'out_of_memory', message: MESSAGE },
  },
  stat: null,
  issues: [
    {
      agent: source.agent,
      source_id: source.sourceId,
      severity: 'error',
      code: 'out_of_memory',
      message: `${source.spec.path} ${MESSAGE}`,
      ordinal: null,
      byte_start: null,
      byte_end: null,
    },
  ],
  sessions: [],
  resume: null,
  newLinks: null,
  passed: false,
  written: {},
  rowState: null,
  usage: [],
});

/** Removes what a dead worker had begun to write: files that begin with the shard's name. */
function removeBegun(output: ShardOutput): void {
  if (output.kind === 'totals') return;
  const sweep = (folder: string, prefix: string): void => {
    if (!existsSync(folder)) return;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) sweep(join(folder, entry.name), prefix);
      else if (entry.name.startsWith(prefix)) rmSync(join(folder, entry.name));
    }
  };
  sweep(output.folder, output.part);
  if (output.kind === 'snapshot') rmSync(output.spool, { force: true });
}

/** Runs a shard; a source of which the worker dies gets the outcome `failed`, in its place among the others. */
export async function runSurviving(engine: Engine, task: ShardTask): Promise<ShardResult> {
  const outcomes = new Map<string, SourceOutcome>();
  let sources = task.sources;
  for (;;) {
    try {
      const result = await engine.shard({ ...task, sources });
      if (outcomes.size === 0) return result;
      for (const outcome of result.outcomes) outcomes.set(outcome.sourceId, outcome);
      return { ...result, outcomes: task.sources.map((source) => outcomes.get(source.sourceId)!) };
    } catch (error) {
      const culprit = sources[Atomics.load(task.current, 0)];
      if (!isWorkerDeath(error) || culprit === undefined) throw error;
      removeBegun(task.output);
      outcomes.set(culprit.sourceId, failed(culprit));
      sources = sources.filter((source) => source !== culprit);
    }
  }
}
