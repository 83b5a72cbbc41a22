import { parseArgs } from 'node:util';
import { formatSize, parseSize } from './generate/size.ts';
import { GENERATOR_VERSION, type GeneratedAgent, generateStore } from './generate/store.ts';

const USAGE = `node benchmarks/generate.ts --out DIR [--size 1GB] [--agents claude,codex] [--seed 1] [--files N] [--big-line BYTES]

  --out       an empty folder; it is laid out like a home folder
  --size      about how many bytes to write in all
  --agents    whose sessions
  --seed      another seed, another store; the same seed, the same bytes
  --files     instead of a size: that many small sessions
  --big-line  one more Claude session, with one line of exactly that many bytes (with --size 0: nothing else)`;

function parseAgents(text: string): GeneratedAgent[] {
  return text.split(',').map((name) => {
    if (name !== 'claude' && name !== 'codex')
      throw new Error(`no generator for "${name}"; there are claude and codex`);
    return name;
  });
}

function main(): void {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      size: { type: 'string', default: '1GB' },
      agents: { type: 'string', default: 'claude,codex' },
      seed: { type: 'string', default: '1' },
      files: { type: 'string' },
      'big-line': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || values.out === undefined) {
    console.error(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const started = performance.now();
  const { written } = generateStore(values.out, {
    generator: GENERATOR_VERSION,
    agents: parseAgents(values.agents),
    seed: Number(values.seed),
    bytes: parseSize(values.size),
    files: values.files === undefined ? null : Number(values.files),
    bigLine: values['big-line'] === undefined ? null : parseSize(values['big-line']),
  });
  const seconds = (performance.now() - started) / 1000;
  let bytes = 0;
  for (const [agent, part] of Object.entries(written)) {
    bytes += part.bytes;
    console.log(
      `${agent}: ${formatSize(part.bytes)}, ${part.files} files (largest ${formatSize(part.largestFile)}), ${part.lines} lines (longest ${formatSize(part.largestLine)})`,
    );
  }
  console.log(`${formatSize(bytes)} in ${seconds.toFixed(1)} s (${formatSize(bytes / seconds)}/s)`);
}

main();
