import { Random } from './random.ts';
import { EXTENSIONS, FILLERS, NOUNS, VERBS, WORLD_FRAMES, WORLD_SENTENCES } from './words.ts';

/**
 * Text is made once, as pools of a few megabytes already escaped for JSON, and sessions copy line ranges of them.
 * That keeps a generator in JavaScript at disk speed; pools are larger than a compressor's window, so that the
 * store compresses about as well as real ones do (3 to 5 times), not better because of the repeats.
 */
export type TextKind = 'code' | 'log' | 'listing' | 'json' | 'diff' | 'prose' | 'world' | 'worldlog';

export interface Pool {
  /** All lines, each with its line feed, as they stand inside a JSON string. */
  escaped: Buffer;
  /** Where each line ends in `escaped`, the line feed included. */
  ends: Uint32Array;
  /** The same text escaped twice: a JSON document that is itself a string value. */
  twice: Buffer;
  twiceEnds: Uint32Array;
}

/** Whole lines of a pool. */
export interface Span {
  pool: Pool;
  from: number;
  to: number;
  firstLine: number;
  lines: number;
}

const POOL_BYTES: Record<TextKind, number> = {
  code: 5e6,
  log: 5e6,
  listing: 2e6,
  json: 4e6,
  diff: 2e6,
  prose: 4e6,
  world: 4e6,
  worldlog: 4e6,
};

const BASE64_BYTES = 4 << 20;

/** The texts of one store. Each pool has its own random stream, so the order in which they are first used does not matter. */
export class Texts {
  readonly #seed: number;
  readonly #pools = new Map<TextKind, Pool>();
  #base64: Buffer | undefined;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** About `bytes` of escaped text: at least one line, at most the whole pool. */
  span(random: Random, kind: TextKind, bytes: number): Span {
    const pool = this.pool(kind);
    const { ends } = pool;
    const total = pool.escaped.length;
    const wanted = Math.min(bytes, total - 1);
    const firstLine = Math.min(lineAt(ends, Math.floor(random.next() * (total - wanted))), ends.length - 1);
    const from = firstLine === 0 ? 0 : (ends[firstLine - 1] as number);
    const lastLine = Math.min(lineAt(ends, from + Math.max(1, wanted) - 1), ends.length - 1);
    return { pool, from, to: ends[lastLine] as number, firstLine, lines: lastLine - firstLine + 1 };
  }

  /** Something that is said: in about 15 % of the cases not in plain English. */
  spoken(random: Random, bytes: number): Span {
    return trimmed(this.span(random, random.chance(0.15) ? 'world' : 'prose', bytes));
  }

  /** Bytes that do not compress: images, signatures, encrypted reasoning. */
  base64(random: Random, bytes: number): [buffer: Buffer, from: number, to: number] {
    this.#base64 ??= makeBase64(new Random(this.#seed, 99));
    const length = Math.min(bytes, BASE64_BYTES);
    const from = Math.floor(random.next() * (BASE64_BYTES - length));
    return [this.#base64, from, from + length];
  }

  /** All text of one kind. */
  pool(kind: TextKind): Pool {
    let pool = this.#pools.get(kind);
    if (pool === undefined) {
      const stream = Object.keys(POOL_BYTES).indexOf(kind) + 1;
      pool = makePool(new Random(this.#seed, stream), LINE_MAKERS[kind], POOL_BYTES[kind]);
      this.#pools.set(kind, pool);
    }
    return pool;
  }
}

/** The span without the line feed of its last line. */
export function trimmed(span: Span): Span {
  return { ...span, to: span.to - 2 };
}

export function lineStart(pool: Pool, line: number): number {
  return line === 0 ? 0 : (pool.ends[line - 1] as number);
}

/** The span's lines in the twice escaped text. */
export function twiceRange(span: Span): [from: number, to: number] {
  const { twiceEnds } = span.pool;
  const from = span.firstLine === 0 ? 0 : (twiceEnds[span.firstLine - 1] as number);
  return [from, twiceEnds[span.firstLine + span.lines - 1] as number];
}

/** The first line that ends after the offset. */
function lineAt(ends: Uint32Array, offset: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] as number) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

function makePool(random: Random, makeLine: (random: Random) => string, bytes: number): Pool {
  const once: string[] = [];
  const twice: string[] = [];
  const ends: number[] = [];
  const twiceEnds: number[] = [];
  let at = 0;
  let twiceAt = 0;
  while (at < bytes) {
    const line = JSON.stringify(`${makeLine(random)}\n`).slice(1, -1);
    const again = JSON.stringify(line).slice(1, -1);
    once.push(line);
    twice.push(again);
    at += Buffer.byteLength(line);
    twiceAt += Buffer.byteLength(again);
    ends.push(at);
    twiceEnds.push(twiceAt);
  }
  return {
    escaped: Buffer.from(once.join('')),
    ends: Uint32Array.from(ends),
    twice: Buffer.from(twice.join('')),
    twiceEnds: Uint32Array.from(twiceEnds),
  };
}

function makeBase64(random: Random): Buffer {
  const bytes = Buffer.allocUnsafe((BASE64_BYTES / 4) * 3);
  for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE(random.bits(), i);
  return Buffer.from(bytes.toString('base64'), 'latin1');
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A name as programs have them: readable, and rarely the same twice. */
export function identifier(random: Random): string {
  const name = `${random.pick(VERBS)}${capital(random.pick(NOUNS))}`;
  return random.chance(0.3) ? name + capital(random.pick(NOUNS)) : name;
}

export function filePath(random: Random): string {
  const folder = `${random.pick(NOUNS)}/${random.chance(0.5) ? `${random.pick(NOUNS)}/` : ''}`;
  return `src/${folder}${random.pick(NOUNS)}-${random.pick(VERBS)}.${random.pick(EXTENSIONS)}`;
}

export function sentence(random: Random): string {
  const words: string[] = [];
  for (let count = random.int(5, 18); count > 0; count--) {
    const roll = random.next();
    words.push(random.pick(roll < 0.5 ? FILLERS : roll < 0.8 ? NOUNS : VERBS));
  }
  return `${capital(words.join(' '))}${random.chance(0.9) ? '.' : ':'}`;
}

const INDENTS = ['', '  ', '  ', '    ', '    ', '      ', '\t', '\t\t'];

function codeLine(random: Random): string {
  const indent = random.pick(INDENTS);
  const noun = random.pick(NOUNS);
  switch (random.int(0, 11)) {
    case 0:
      return '';
    case 1:
      return `${indent}// ${sentence(random)}`;
    case 2:
      return `${indent}const ${noun}${capital(random.pick(NOUNS))} = await ${identifier(random)}(${random.pick(NOUNS)}, ${random.int(0, 4096)});`;
    case 3:
      return `${indent}if (${noun}.${random.pick(NOUNS)} !== undefined && ${random.pick(NOUNS)}.length > ${random.int(0, 99)}) {`;
    case 4:
      return `${indent}return { ${noun}: "${random.pick(VERBS)}-${random.pick(NOUNS)}", ${random.pick(NOUNS)}: ${random.chance(0.5)} };`;
    case 5:
      return `import { ${identifier(random)} } from '../${filePath(random)}';`;
    case 6:
      return `${indent}}`;
    case 7:
      return `${indent}export function ${identifier(random)}(${noun}: ${capital(random.pick(NOUNS))}, ${random.pick(NOUNS)}: number): string {`;
    case 8:
      return `${indent}throw new Error(\`${random.pick(VERBS)} ${noun}: "\${${random.pick(NOUNS)}}" is no ${random.pick(NOUNS)}\\n\`);`;
    case 9:
      return `${indent}expect(${identifier(random)}("${random.hex(8)}")).toEqual(${random.int(1, 90000)});`;
    default:
      return `${indent}${noun}.${identifier(random)}(${random.pick(NOUNS)});`;
  }
}

function logLine(random: Random): string {
  const clock = `${random.int(10, 23)}:${random.int(10, 59)}:${random.int(10, 59)}.${random.int(100, 999)}`;
  switch (random.int(0, 9)) {
    case 0:
      return `\u001b[32m✓\u001b[39m ${filePath(random)} \u001b[2m(${random.int(1, 60)} tests)\u001b[22m ${random.int(2, 900)}ms`;
    case 1:
      return `\u001b[31m✗\u001b[39m ${sentence(random)}`;
    case 2:
      return `    at ${identifier(random)} (${filePath(random)}:${random.int(1, 900)}:${random.int(1, 80)})`;
    case 3:
      return `{"level":"${random.pick(['info', 'warn', 'error'])}","msg":"${random.pick(VERBS)} ${random.pick(NOUNS)}","id":"${random.hex(12)}","ms":${random.int(1, 9000)}}`;
    case 4:
      return `${filePath(random)}:${random.int(1, 900)}: ${sentence(random)}`;
    case 5:
      return `npm \u001b[33mwarn\u001b[39m ${random.pick(VERBS)} ${random.pick(NOUNS)}@${random.int(1, 9)}.${random.int(0, 30)}.${random.int(0, 9)}`;
    default:
      return `2026-0${random.int(1, 6)}-${random.int(10, 28)} ${clock} ${random.pick(['INFO', 'INFO', 'DEBUG', 'WARN'])} [${random.pick(NOUNS)}-${random.int(1, 16)}] ${random.pick(VERBS)} ${random.pick(NOUNS)}=${random.hex(6)}`;
  }
}

function listingLine(random: Random): string {
  if (random.chance(0.4)) return filePath(random);
  return `-rw-r--r--  1 dev dev ${random.int(100, 999999)} ${random.pick(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'])} ${random.int(10, 28)} ${random.int(10, 23)}:${random.int(10, 59)} ${random.pick(NOUNS)}-${random.pick(NOUNS)}.${random.pick(EXTENSIONS)}`;
}

function jsonLine(random: Random): string {
  return `  {"id": "${random.hex(16)}", "${random.pick(NOUNS)}": {"${random.pick(NOUNS)}": ${random.int(0, 1e6)}, "path": "C:\\\\${random.pick(NOUNS)}\\\\${random.pick(NOUNS)}"}, "${random.pick(NOUNS)}": "${sentence(random)}"},`;
}

function diffLine(random: Random): string {
  if (random.chance(0.05))
    return `@@ -${random.int(1, 900)},${random.int(3, 20)} +${random.int(1, 900)},${random.int(3, 20)} @@`;
  return random.pick([' ', ' ', '+', '-']) + codeLine(random);
}

function proseLine(random: Random): string {
  if (random.chance(0.12)) return '';
  if (random.chance(0.15)) return `- \`${identifier(random)}\`: ${sentence(random)}`;
  let line = sentence(random);
  for (let count = random.int(0, 3); count > 0; count--) line += ` ${sentence(random)}`;
  return line;
}

function worldLine(random: Random): string {
  let line = `${random.pick(WORLD_SENTENCES)} ${random.pick(WORLD_FRAMES)} ${identifier(random)}`;
  for (let count = random.int(0, 2); count > 0; count--)
    line += ` ${random.pick(WORLD_SENTENCES)} ${random.int(1, 9999)}`;
  return line;
}

const LINE_MAKERS: Record<TextKind, (random: Random) => string> = {
  code: codeLine,
  log: logLine,
  listing: listingLine,
  json: jsonLine,
  diff: diffLine,
  prose: proseLine,
  world: worldLine,
  worldlog: (random) => (random.chance(0.35) ? `${logLine(random)} ${worldLine(random)}` : logLine(random)),
};
