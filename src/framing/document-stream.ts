/** A JSON document too large to hold: read in windows, its long list element by element. */
import { jsonParser } from 'stream-json/core/parser.js';
import type { ByteSource } from './byte-source.ts';
import { sourceError } from './errors.ts';

const WINDOW = 256 * 1024;
/** What a value takes beyond its text, about: many tiny ones must not pass for a small record. */
const VALUE_BYTES = 32;
/** Deeper than any store, and not so deep that the value could not be written as JSON again. */
const MAX_DEPTH = 2000;
/** A longer key is none that a list stands under. */
const MAX_KEY = 1024;

interface Token {
  readonly name: string;
  readonly value?: unknown;
}

/**
 * The tokens of a document, window by window; texts come in pieces, so that one of gigabytes is never put together
 * before its length is known. Throws a source-scoped error where it is no JSON.
 */
function* tokensOf(source: ByteSource, onProgress: ((bytes: number) => void) | null): Generator<Token> {
  const parser = jsonParser({ packValues: false, packKeys: false, streamValues: true, streamKeys: true });
  // Strips a byte order mark; throws at what is no UTF-8.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const window = Buffer.allocUnsafeSlow(WINDOW);
  let position = 0;
  const feed = (bytes: Buffer, isLast: boolean): readonly Token[] => {
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: !isLast });
    } catch (error) {
      throw sourceError('invalid_utf8', `is not valid UTF-8 before byte ${position}`, error);
    }
    try {
      const answer = parser(text) as { readonly values?: readonly Token[] } | symbol | undefined;
      return typeof answer === 'object' ? (answer.values ?? []) : [];
    } catch (error) {
      throw sourceError('malformed_json', `does not parse as JSON before byte ${position}`, error);
    }
  };
  let depth = 0;
  let isBegun = false;
  while (position < source.size) {
    const read = source.read(window, 0, Math.min(WINDOW, source.size - position), position);
    if (read === 0) break;
    position += read;
    onProgress?.(read);
    for (const token of feed(window.subarray(0, read), position >= source.size)) {
      isBegun = true;
      if (token.name === 'startObject' || token.name === 'startArray') depth++;
      else if (token.name === 'endObject' || token.name === 'endArray') depth--;
      yield token;
    }
  }
  if (!isBegun || depth > 0) throw sourceError('malformed_json', 'ends before the JSON value does');
}

type Container = Record<string, unknown> | unknown[];

/** Puts one value together from its tokens, up to a size. */
class ValueBuilder {
  /** Whether the value was too large or too deep: it is not kept, only followed to its end. */
  overflow = false;
  /** Characters so far, with something for each value. */
  private size = 0;
  private readonly limit: number;
  private stack: Container[] = [];
  private keys: string[] = [];
  private depth = 0;
  private pieces: string[] = [];
  private value: unknown;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Takes the next token; true where the value ended with it. */
  token({ name, value }: Token): boolean {
    switch (name) {
      case 'startObject':
        return this.open({});
      case 'startArray':
        return this.open([]);
      case 'endObject':
      case 'endArray':
        return this.shut();
      case 'startString':
      case 'startKey':
      case 'startNumber':
        this.pieces = [];
        return false;
      case 'stringChunk':
      case 'numberChunk':
        this.count((value as string).length);
        if (!this.overflow) this.pieces.push(value as string);
        return false;
      case 'endKey':
        if (!this.overflow) this.keys[this.depth] = this.pieces.join('');
        return false;
      case 'endString':
        return this.put(this.overflow ? null : this.pieces.join(''));
      case 'endNumber':
        return this.put(this.overflow ? null : Number(this.pieces.join('')));
      case 'nullValue':
        return this.put(null);
      case 'trueValue':
        return this.put(true);
      case 'falseValue':
        return this.put(false);
      default:
        return false;
    }
  }

  result(): unknown {
    return this.value;
  }

  private count(bytes: number): void {
    this.size += bytes;
    if (this.size <= this.limit || this.overflow) return;
    this.overflow = true;
    this.stack = [];
    this.keys = [];
    this.pieces = [];
    this.value = undefined;
  }

  private open(container: Container): boolean {
    this.add(container);
    this.depth++;
    if (this.depth > MAX_DEPTH) this.count(Number.POSITIVE_INFINITY);
    if (!this.overflow) this.stack.push(container);
    return false;
  }

  private shut(): boolean {
    this.depth--;
    if (!this.overflow) this.stack.pop();
    return this.depth === 0;
  }

  private put(value: unknown): boolean {
    this.add(value);
    return this.depth === 0;
  }

  private add(value: unknown): void {
    this.count(VALUE_BYTES);
    if (this.overflow) return;
    const parent = this.stack.at(-1);
    if (parent === undefined) this.value = value;
    else if (Array.isArray(parent)) parent.push(value);
    else {
      const key = this.keys[this.depth]!;
      if (key === '__proto__') {
        Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
      } else parent[key] = value;
    }
  }
}

/** Keys that lead to a list, from the top of the document; empty: the document itself is the list. */
export type ListPath = readonly string[];

/** Follows tokens and says which of them stand in one of the lists. */
class ListFinder {
  /** The list whose elements the tokens stand in; null outside. */
  list: ListPath | null = null;
  private readonly lists: readonly ListPath[];
  private readonly maxDepth: number;
  private readonly path: (string | null)[] = [];
  private depth = 0;
  private key = '';
  private listDepth = -1;

  constructor(lists: readonly ListPath[]) {
    this.lists = lists;
    this.maxDepth = Math.max(...lists.map((list) => list.length));
  }

  /** `outside`; `begin` and `end` of a list; `inside` it. */
  token({ name, value }: Token): 'outside' | 'begin' | 'inside' | 'end' {
    if (this.listDepth !== -1) {
      if (name === 'startObject' || name === 'startArray') this.depth++;
      else if (name === 'endObject' || name === 'endArray') {
        this.depth--;
        if (this.depth === this.listDepth) {
          this.listDepth = -1;
          this.list = null;
          return 'end';
        }
      }
      return 'inside';
    }
    switch (name) {
      case 'startArray': {
        const list = this.listHere();
        if (list !== null) {
          this.list = list;
          this.listDepth = this.depth;
          this.depth++;
          return 'begin';
        }
        this.path[this.depth++] = null;
        break;
      }
      case 'startObject':
        this.path[this.depth++] = null;
        break;
      case 'endObject':
      case 'endArray':
        this.depth--;
        break;
      case 'startKey':
        this.key = '';
        break;
      case 'stringChunk':
        if (this.depth <= this.maxDepth && this.key.length < MAX_KEY) this.key += value as string;
        break;
      case 'endKey':
        this.path[this.depth - 1] = this.key;
        break;
    }
    return 'outside';
  }

  private listHere(): ListPath | null {
    if (this.depth > this.maxDepth) return null;
    return (
      this.lists.find((list) => list.length === this.depth && list.every((key, i) => this.path[i] === key)) ?? null
    );
  }
}

/** The document without its lists. Throws a source-scoped error where that is larger than `limit`. */
export function streamHead(
  source: ByteSource,
  lists: readonly ListPath[],
  limit: number,
): { readonly head: unknown; readonly found: readonly ListPath[] } {
  const finder = new ListFinder(lists);
  const builder = new ValueBuilder(limit);
  const found: ListPath[] = [];
  for (const token of tokensOf(source, null)) {
    const where = finder.token(token);
    if (where === 'begin') found.push(finder.list!);
    else if (where === 'outside') builder.token(token);
    if (builder.overflow) {
      throw sourceError(
        'document_too_large',
        `holds more than ${limit} bytes outside its list of records, over --max-line; raise it to read the document`,
      );
    }
  }
  return { head: builder.result(), found };
}

export interface StreamedElement {
  readonly list: ListPath;
  readonly index: number;
  /** undefined where it is over the limit. */
  readonly value: unknown;
  readonly overflow: boolean;
}

/** The elements of the lists, in the order of the document. */
export function* streamElements(
  source: ByteSource,
  lists: readonly ListPath[],
  limit: number,
  onProgress: ((bytes: number) => void) | null,
): Generator<StreamedElement, void, undefined> {
  const finder = new ListFinder(lists);
  let builder = new ValueBuilder(limit);
  let index = 0;
  for (const token of tokensOf(source, onProgress)) {
    const where = finder.token(token);
    if (where === 'begin') {
      index = 0;
      builder = new ValueBuilder(limit);
    } else if (where === 'inside' && builder.token(token)) {
      yield { list: finder.list!, index: index++, value: builder.result(), overflow: builder.overflow };
      builder = new ValueBuilder(limit);
    }
  }
}
