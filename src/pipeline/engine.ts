/** Runs tasks, in worker threads or (for little work) here, and hands results back in order. */

import type { Links } from '../agents/agent.ts';
import type {
  ClaimsFound,
  PeekTask,
  RunSettings,
  ShardResult,
  ShardTask,
  SourceRef,
  UsageResult,
  UsageTask,
} from './protocol.ts';
import { cutBySize } from './shards.ts';

/** Sources a peek task looks at: enough to be worth a message. */
const PEEK_BATCH = 200;
/** So many sources are looked at here, while the threads are still starting. */
const PEEK_HERE = 2000;
/** Results that may wait for an earlier, slower one, a thread. They are small: rows are in files by then. */
const AHEAD = 8;
/** Bytes of sources a claims task reads, about: one a message would cost more than the reading. */
const CLAIMS_BYTES = 8 * 1024 * 1024;

/**
 * Rows die young but are not few: left alone, V8 lets this space grow until two threads hold hundreds of megabytes of
 * garbage and of buffers that belong to it.
 */
const YOUNG_GENERATION_MB = 16;

/** Far more than any record within the limits needs; a hostile one must not take the machine's memory. */
const OLD_GENERATION_MB = 2048;

/** A worker thread died of what it read. */
export const isWorkerDeath = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

type TaskName = 'peek' | 'claims' | 'shard' | 'writeUsage';
type RunTask = <T>(name: TaskName, task: unknown) => Promise<T>;

/**
 * Starts tasks in the order in which they come, `limit` at a time. The pool's own queue does not keep the order, and a
 * shard that is begun late keeps the results of all later ones waiting.
 */
function inOrder(limit: number, run: RunTask): RunTask {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(name: TaskName, task: unknown): Promise<T> => {
    if (running >= limit) await new Promise<void>((start) => waiting.push(start));
    else running++;
    try {
      return await run<T>(name, task);
    } finally {
      // The place is handed on; only where nobody waits is it given up.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

/** Something that runs the exports of `worker.ts` by name. */
interface Executor {
  run: RunTask;
  close(): Promise<void>;
}

async function threadPool(threads: number): Promise<Executor> {
  const { Piscina } = await import('piscina');
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  const pool = new Piscina({
    filename: new URL(file, import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    // An abort stops a thread where it stands; with one task each, no other is hit.
    concurrentTasksPerWorker: 1,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB, maxOldGenerationSizeMb: OLD_GENERATION_MB },
  });
  const run = inOrder(threads, <T>(name: TaskName, task: unknown): Promise<T> => pool.run(task, { name }));
  return { run, close: () => pool.destroy() };
}

/** Little work is done sooner here than a thread starts. Tasks run one after the other. */
async function thisThread(): Promise<Executor> {
  const worker = await import('./worker.ts');
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  return {
    run<T>(name: keyof typeof worker, task: unknown): Promise<T> {
      const result = last.then(() => {
        if (isClosed) throw new Error('the run has ended');
        return (worker[name] as (task: unknown) => Promise<T>)(task);
      });
      last = result.catch(() => undefined);
      return result;
    },
    // After a failure, tasks may still wait: none of them writes any more once this is done.
    async close() {
      isClosed = true;
      await last;
    },
  };
}

export class Engine {
  private readonly threads: number;
  private readonly executor: Promise<Executor>;

  /** `threads` 0: everything runs in this thread. */
  constructor(threads: number) {
    this.threads = Math.max(1, threads);
    this.executor = threads === 0 ? thisThread() : threadPool(threads);
  }

  private async run<T>(name: TaskName, task: unknown): Promise<T> {
    return (await this.executor).run<T>(name, task);
  }

  /** Links of the sources, in their order. */
  async peek(settings: RunSettings, sources: readonly SourceRef[]): Promise<Links[]> {
    if (sources.length <= PEEK_HERE) {
      const { peek } = await import('./worker.ts');
      return [...(await peek({ settings, sources }))];
    }
    const batches: Promise<Links[]>[] = [];
    for (let at = 0; at < sources.length; at += PEEK_BATCH) {
      const task: PeekTask = { settings, sources: sources.slice(at, at + PEEK_BATCH) };
      batches.push(this.run('peek', task));
    }
    return (await Promise.all(batches)).flat();
  }

  /** Claims of the sources, in their order. `sizeOf` tells the bytes of each. */
  async claims(
    settings: RunSettings,
    sources: readonly SourceRef[],
    sizeOf: (source: SourceRef) => number,
  ): Promise<ClaimsFound[]> {
    const batches = cutBySize(sources, sizeOf, CLAIMS_BYTES, PEEK_BATCH);
    const results = batches.map((batch) => this.run<ClaimsFound[]>('claims', { settings, sources: batch }));
    return (await Promise.all(results)).flat();
  }

  /** Runs one shard. */
  shard(task: ShardTask): Promise<ShardResult> {
    return this.run<ShardResult>('shard', task);
  }

  /** Runs the shards, each by `runOne`, and hands their results on in the order of the list. */
  async shards(
    tasks: readonly ShardTask[],
    runOne: (task: ShardTask) => Promise<ShardResult>,
    onResult: (result: ShardResult, task: ShardTask) => Promise<void> | void,
  ): Promise<void> {
    const running: Promise<ShardResult>[] = [];
    let next = 0;
    for (let done = 0; done < tasks.length; done++) {
      while (next < tasks.length && running.length < this.threads * AHEAD) {
        const result = runOne(tasks[next++]!);
        // Awaited below, in order; until then its failure must not count as unhandled.
        result.catch(() => undefined);
        running.push(result);
      }
      await onResult(await running.shift()!, tasks[done]!);
    }
  }

  /** Runs the usage tasks; results in their order. */
  async usage(tasks: readonly UsageTask[]): Promise<UsageResult[]> {
    return Promise.all(tasks.map((task) => this.run<UsageResult>('writeUsage', task)));
  }

  async close(): Promise<void> {
    await (await this.executor).close();
  }
}
