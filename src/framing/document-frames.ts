/** Frames of a JSON document that is a head and long lists of records, like `{"id": …, "messages": […]}`. */
import type { ByteBudget } from './byte-budget.ts';
import type { ByteSource } from './byte-source.ts';
import { readDocument } from './document.ts';
import { type ListPath, streamElements, streamHead } from './document-stream.ts';
import { recordError, sourceError } from './errors.ts';
import type { Frame, Position } from './frame.ts';
import type { ReadLimits } from './limits.ts';

/** Up to this size a document is parsed in one go, which is faster; beyond it, memory is what counts. */
const PARSE_WHOLE = 8 * 1024 * 1024;
/** Parsing holds bytes, their text and the values at once. */
const PARSE_FACTOR = 4;

class ValueFrame implements Frame {
  readonly ordinal: number;
  readonly byteStart = null;
  readonly byteEnd = null;
  readonly locator: string;
  private readonly value: () => unknown;

  constructor(ordinal: number, locator: string, value: () => unknown) {
    this.ordinal = ordinal;
    this.locator = locator;
    this.value = value;
  }

  json(): unknown {
    return this.value();
  }

  bytes(): Buffer {
    return Buffer.from(JSON.stringify(this.value()));
  }

  includes(needle: Buffer): boolean {
    return this.bytes().includes(needle);
  }

  position(): Position {
    return { ordinal: this.ordinal, byteStart: null, byteEnd: null, locator: this.locator };
  }
}

/** Keys as a JSON Pointer (RFC 6901). */
export const pointer = (...keys: readonly (string | number)[]): string =>
  keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Takes the list at a path out of a document; null where there is none. */
function takeList(document: unknown, path: ListPath): { readonly list: unknown[]; readonly rest: unknown } | null {
  const [key, ...below] = path;
  if (key === undefined) return Array.isArray(document) ? { list: document, rest: undefined } : null;
  if (!isObject(document) || !Object.hasOwn(document, key)) return null;
  const taken = takeList(document[key], below);
  if (taken === null) return null;
  const rest = { ...document };
  if (taken.rest === undefined) delete rest[key];
  else rest[key] = taken.rest;
  return { list: taken.list, rest };
}

/**
 * Throws a source-scoped error where something else stands in a list's place, or no list is there at all: what it should
 * hold is lost, and must not pass for a document that holds nothing.
 */
function checkLists(rest: unknown, lists: readonly ListPath[], found: readonly ListPath[]): void {
  const isFound = (path: ListPath): boolean => found.some((other) => pointer(...other) === pointer(...path));
  for (const path of lists) {
    if (path.length === 0 || isFound(path)) continue;
    const value = path.reduce<unknown>(
      (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      rest,
    );
    if (value !== undefined && value !== null) throw sourceError('wrong_type', `${pointer(...path)} is no list`);
  }
  if (found.length > 0 || lists.some((path) => path.length === 0)) return;
  throw sourceError('foreign_schema', `holds none of its lists: ${lists.map((path) => pointer(...path)).join(', ')}`);
}

/** Counts frames as they go by: what a summary calls records. */
export interface DocumentFrames {
  readonly frames: Iterable<Frame>;
  /** Elements of lists; 1 for a document without any. */
  records(): number;
}

/**
 * First the document without its lists (locator ``, ordinal 0; left out where the document is a list itself), then the
 * elements of each list in the order of the document (locator like `/messages/12`). An element over `limits.maxLine` is
 * a frame whose `json()` throws. Throws a source-scoped error where the document does not parse: of a large one, the
 * elements before the fault have been given by then.
 */
export function documentFrames(
  source: ByteSource,
  limits: ReadLimits,
  lists: readonly ListPath[],
  options: { readonly budget?: ByteBudget | null; readonly onProgress?: ((bytes: number) => void) | null } = {},
): DocumentFrames {
  let records = 0;
  function* frames(): Generator<Frame, void, undefined> {
    if (source.size > PARSE_WHOLE) {
      yield* streamed();
      return;
    }
    const frame = readDocument(source, limits);
    options.onProgress?.(source.size);
    const parse = (): unknown => frame.json();
    const document = options.budget == null ? parse() : options.budget.during(source.size * PARSE_FACTOR, parse);
    let rest = document;
    const taken: { path: ListPath; list: unknown[] }[] = [];
    for (const path of lists) {
      const found = takeList(rest, path);
      if (found === null) continue;
      rest = found.rest;
      taken.push({ path, list: found.list });
      if (rest === undefined) break;
    }
    checkLists(
      rest,
      lists,
      taken.map(({ path }) => path),
    );
    if (rest !== undefined) yield new ValueFrame(0, '', () => rest);
    if (taken.length === 0) records = 1;
    for (const { path, list } of taken) {
      for (const [index, value] of list.entries()) {
        yield new ValueFrame(records++, pointer(...path, index), () => value);
      }
    }
  }
  function* streamed(): Generator<Frame, void, undefined> {
    const { head, found } = streamHead(source, lists, limits.maxLine);
    checkLists(head, lists, found);
    if (head !== undefined) yield new ValueFrame(0, '', () => head);
    if (found.length === 0) {
      records = 1;
      return;
    }
    for (const element of streamElements(source, lists, limits.maxLine, options.onProgress ?? null)) {
      const value = (): unknown => {
        if (!element.overflow) return element.value;
        throw recordError(
          'record_too_long',
          `the record is larger than --max-line ${limits.maxLine}, or nested too deeply; raise it to read the record`,
        );
      };
      yield new ValueFrame(records++, pointer(...element.list, element.index), value);
    }
  }
  return { frames: frames(), records: () => records };
}
