/** The worker pool, and the order in which its results come back. */
import { Piscina } from 'piscina';
import type { Claims, Links } from '../agents/agent.ts';
import type { PeekTask, RunSettings, ShardResult, ShardTask, SourceRef, UsageResult, UsageTask } from './protocol.ts';

/** Sources a peek task looks at: enough to be worth a message. */
const PEEK_BATCH = 200;
/** Results that may wait for an earlier, slower one, a thread. */
const AHEAD = 3;

export class Engine {
  private readonly pool: Piscina;
  private readonly threads: number;

  constructor(threads: number) {
    this.threads = threads;
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    this.pool = new Piscina({
      filename: new URL(file, import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      // Workers read files; they need no environment of ours.
      env: process.env as Record<string, string>,
    });
  }

  /** Links of the sources, in their order. */
  async peek(settings: RunSettings, sources: readonly SourceRef[]): Promise<Links[]> {
    const batches: Promise<Links[]>[] = [];
    for (let at = 0; at < sources.length; at += PEEK_BATCH) {
      const task: PeekTask = { settings, sources: sources.slice(at, at + PEEK_BATCH) };
      batches.push(this.pool.run(task, { name: 'peek' }));
    }
    return (await Promise.all(batches)).flat();
  }

  /** Claims of the sources, in their order. */
  async claims(settings: RunSettings, sources: readonly SourceRef[]): Promise<Claims[]> {
    const results = sources.map((source): Promise<Claims[]> => this.pool.run({ settings, sources: [source] }, { name: 'claims' }));
    return (await Promise.all(results)).flat();
  }

  /** Runs the shards and hands their results on in the order of the list. */
  async shards(tasks: readonly ShardTask[], onResult: (result: ShardResult, task: ShardTask) => Promise<void> | void): Promise<void> {
    const running: Promise<ShardResult>[] = [];
    let next = 0;
    for (let done = 0; done < tasks.length; done++) {
      while (next < tasks.length && running.length < this.threads * AHEAD) {
        const result: Promise<ShardResult> = this.pool.run(tasks[next++], { name: 'shard' });
        // Awaited below, in order; until then its failure must not count as unhandled.
        result.catch(() => undefined);
        running.push(result);
      }
      await onResult(await running.shift()!, tasks[done]!);
    }
  }

  /** Runs the usage tasks; results in their order. */
  async usage(tasks: readonly UsageTask[]): Promise<UsageResult[]> {
    return Promise.all(tasks.map((task): Promise<UsageResult> => this.pool.run(task, { name: 'writeUsage' })));
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }
}
