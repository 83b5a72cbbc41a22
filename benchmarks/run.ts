import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  bigLineComparison,
  type Contestant,
  exportComparison,
  exportContestant,
  isBuilt,
  streamComparison,
  syncContestant,
  usageComparison,
} from './comparisons.ts';
import { formatSize, parseSize } from './generate/size.ts';
import { measure, measureAll } from './measure.ts';
import { printComparison, type Side } from './report.ts';
import { describeStore, Stores, storeParameters, warm } from './stores.ts';

const NAMES = ['export', 'usage', 'stream', 'memory', 'big-line', 'sync'] as const;
type Name = (typeof NAMES)[number];

const USAGE = `node benchmarks/run.ts [--size 1GB] [--only NAME] [--runs 3] [--keep]

  --only       one of ${NAMES.join(', ')}; may be repeated
  --size       the store for export, usage and stream
  --store      an existing store instead (made by generate.ts)
  --sizes      the stores for memory                    (1GB,4GB)
  --line       the long line of big-line                (300MB)
  --files      the number of small files for sync       (5000)
  --runs       runs of each side, taken in turns        (3)
  --dir        where stores and outputs go              (a folder of the system's temporary folder)
  --keep       keep the stores made, for the next time
  --peers-only time only the peers; works without a build`;

interface Options {
  names: readonly Name[];
  size: number;
  store: string | undefined;
  sizes: readonly number[];
  line: number;
  files: number;
  runs: number;
  dir: string;
  keep: boolean;
  peersOnly: boolean;
}

function parseOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      size: { type: 'string', default: '1GB' },
      store: { type: 'string' },
      sizes: { type: 'string', default: '1GB,4GB' },
      line: { type: 'string', default: '300MB' },
      files: { type: 'string', default: '5000' },
      runs: { type: 'string', default: '3' },
      dir: { type: 'string', default: join(tmpdir(), 'sessionlake-benchmarks') },
      keep: { type: 'boolean', default: false },
      'peers-only': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.find((name) => !NAMES.includes(name as Name));
  if (unknown !== undefined) console.error(`there is no comparison "${unknown}"`);
  if (values.help || unknown !== undefined) {
    console.error(USAGE);
    return null;
  }
  return {
    names: values.only.length > 0 ? (values.only as Name[]) : NAMES,
    size: parseSize(values.size),
    store: values.store,
    sizes: values.sizes.split(',').map(parseSize),
    line: parseSize(values.line),
    files: Number(values.files),
    runs: Number(values.runs),
    dir: values.dir,
    keep: values.keep,
    peersOnly: values['peers-only'],
  };
}

/** A B A B ...: what disturbs the machine for a while disturbs both sides. */
async function compare(title: string, contestants: readonly Contestant[], options: Options): Promise<void> {
  const taking = contestants.filter((contestant) => !(options.peersOnly && contestant.ours));
  const sides: Side[] = taking.map(({ label }) => ({ label, runs: [] }));
  for (let run = 0; run < options.runs; run++) {
    for (const [i, contestant] of taking.entries()) {
      if (contestant.fresh !== undefined) rmSync(contestant.fresh, { recursive: true, force: true });
      sides[i]?.runs.push(await measureAll(contestant.commands));
    }
  }
  if (sides.length > 0) printComparison(title, sides);
}

async function runComparison(name: Name, options: Options, stores: Stores, work: string): Promise<void> {
  const mainStore = (): string =>
    options.store === undefined ? stores.get(storeParameters({ bytes: options.size })) : warm(options.store);
  switch (name) {
    case 'export': {
      const store = mainStore();
      return compare(
        `export: whole store to Parquet, 2 threads (${describeStore(store)})`,
        exportComparison(store, work),
        options,
      );
    }
    case 'usage': {
      const store = mainStore();
      return compare(`usage: token totals per day (${describeStore(store)})`, usageComparison(store, work), options);
    }
    case 'stream': {
      const store = mainStore();
      return compare(
        `stream: Claude's usage rows as NDJSON (${describeStore(store)})`,
        streamComparison(store, work),
        options,
      );
    }
    case 'memory': {
      // The larger store comes first, so that the ratio says how much more it needs.
      const sizes = [...options.sizes].sort((a, b) => b - a);
      const contestants = sizes.map((bytes) => {
        const store = stores.get(storeParameters({ bytes }));
        return exportContestant(store, work, `sessionlake export, ${formatSize(bytes)}`);
      });
      return compare('memory: the same export of stores of different size', contestants, options);
    }
    case 'big-line': {
      const store = stores.get(storeParameters({ agents: ['claude'], bigLine: options.line }));
      return compare(
        `big-line: a single line of ${formatSize(options.line)}`,
        bigLineComparison(store, work, options.line),
        options,
      );
    }
    case 'sync': {
      if (options.peersOnly) return;
      const store = stores.get(storeParameters({ files: options.files }));
      const { first, again } = syncContestant(store, work);
      await measure(first);
      return compare(`sync: nothing has changed in ${options.files} files`, [again], options);
    }
  }
}

async function main(): Promise<void> {
  const options = parseOptions();
  if (options === null) {
    process.exitCode = 1;
    return;
  }
  if (!isBuilt() && !options.peersOnly) {
    console.error('dist/cli.js is not built: run "npm run build" first, or time the peers alone with --peers-only');
    process.exitCode = 1;
    return;
  }
  const stores = new Stores(options.dir);
  const work = join(options.dir, `work-${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    for (const name of options.names) await runComparison(name, options, stores, work);
  } finally {
    rmSync(work, { recursive: true, force: true });
    if (!options.keep) stores.remove();
  }
}

await main();
