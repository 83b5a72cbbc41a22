/** One line of a session file, looked at without parsing it: the facts that copies, branches and usage rest on. */
import { isAscii, isUtf8 } from 'node:buffer';
import { ObjectScanner, type ScanMode, scanPaths } from '../../framing/json-scan.ts';
import { keepBytes } from '../../framing/keep-bytes.ts';
import { hash53 } from '../../records/identity.ts';
import { idOrNull } from './guards.ts';
import { hashAscii } from './id-hash.ts';

const PATHS = [
  'type',
  'uuid',
  'parentUuid',
  'logicalParentUuid',
  'isSidechain',
  'sessionId',
  'timestamp',
  'version',
  'cwd',
  'gitBranch',
  'entrypoint',
  'slug',
  'sessionKind',
  'requestSessionId',
  'forkedFrom',
  'forkedFrom.sessionId',
  'isMeta',
  'isCompactSummary',
  'origin.kind',
  'toolUseResult',
  'requestId',
  'isApiErrorMessage',
  'costUSD',
  'subtype',
  'attachment.type',
  'leafUuid',
  'explicit',
  'message',
  'message.id',
  'message.model',
  'message.content',
  'message.stop_reason',
  'message.pausedResponses',
  'message.usage',
  'message.usage.input_tokens',
  'message.usage.output_tokens',
  'message.usage.cache_read_input_tokens',
  'message.usage.cache_creation_input_tokens',
  'message.usage.cache_creation.ephemeral_1h_input_tokens',
  'message.usage.output_tokens_details.thinking_tokens',
  'message.usage.service_tier',
  'message.usage.iterations',
] as const;

type Path = (typeof PATHS)[number];

/** What copies, branches and links are told by: all that a loose look is for. Other paths are absent for it. */
const LOOSE_PATHS: ReadonlySet<string> = new Set<Path>([
  'type',
  'uuid',
  'parentUuid',
  'logicalParentUuid',
  'isSidechain',
  'sessionId',
  'timestamp',
  'sessionKind',
  'requestSessionId',
  'forkedFrom',
  'forkedFrom.sessionId',
  'isCompactSummary',
  'toolUseResult',
  'requestId',
  'subtype',
  'attachment.type',
  'leafUuid',
  'explicit',
  'message.id',
  'message.content',
]);

const WANTED = { strict: scanPaths(PATHS), loose: scanPaths(PATHS, (path) => LOOSE_PATHS.has(path)) };

/** Slot of each path in the scanner. */
const slots = Object.fromEntries(PATHS.map((path, slot) => [path, slot])) as Readonly<Record<Path, number>>;

/** Types of transcript rows; `other` are rows about the session. */
export type RowKind = 'user' | 'assistant' | 'system' | 'attachment' | 'progress' | 'other';

export class Row {
  kind: RowKind = 'other';
  private readonly scanner: ObjectScanner;

  /** `loose` is faster: it sees `LOOSE_PATHS` only, and leaves escapes and control bytes in strings unchecked. */
  constructor(mode: ScanMode) {
    this.scanner = new ObjectScanner(WANTED[mode], mode);
  }

  /** Looks at a line; false where it is not one JSON object in UTF-8. What is asked then is void. */
  read(bytes: Buffer): boolean {
    if (!this.scanner.scan(bytes) || !(isAscii(bytes) || isUtf8(bytes))) return false;
    this.kind = this.readKind();
    return true;
  }

  private readKind(): RowKind {
    const { scanner } = this;
    const slot = slots.type;
    if (scanner.equals(slot, 'user')) return 'user';
    if (scanner.equals(slot, 'assistant')) return 'assistant';
    if (scanner.equals(slot, 'attachment')) return 'attachment';
    if (scanner.equals(slot, 'system')) return 'system';
    return scanner.equals(slot, 'progress') ? 'progress' : 'other';
  }

  has(path: Path): boolean {
    return this.scanner.isPresent(slots[path]);
  }

  isTrue(path: Path): boolean {
    return this.scanner.isTrue(slots[path]);
  }

  isObject(path: Path): boolean {
    return this.scanner.isObject(slots[path]);
  }

  /** Whether the value is a string or a list. */
  isContent(path: Path): boolean {
    return this.scanner.isString(slots[path]) || this.scanner.isArray(slots[path]);
  }

  equals(path: Path, ascii: string): boolean {
    return this.scanner.equals(slots[path], ascii);
  }

  text(path: Path): string | null {
    return this.scanner.text(slots[path]);
  }

  number(path: Path): number | null {
    return this.scanner.number(slots[path]);
  }

  /** A string that is more than white space. */
  id(path: Path): string | null {
    return idOrNull(this.scanner.text(slots[path]));
  }

  /** `hash53` of an id; 0 where there is none. */
  idHash(path: Path): number {
    const slot = slots[path];
    if (!this.scanner.isString(slot)) return 0;
    const hash = hashAscii(this.scanner.memory, this.scanner.starts[slot]! + 1, this.scanner.ends[slot]! - 1);
    if (hash !== -1) return hash;
    const id = this.id(path);
    return id === null ? 0 : hash53(id);
  }

  parse(path: Path): unknown {
    return this.scanner.parse(slots[path]);
  }

  /** The bytes of a value, copied: JSON text exactly as recorded. null where it is absent or `null`. */
  copyRaw(path: Path): Uint8Array | null {
    return this.has(path) ? keepBytes(this.scanner.raw(slots[path])) : null;
  }

  /** Whether a value's bytes hold the needle. */
  rawIncludes(path: Path, needle: Buffer): boolean {
    return this.scanner.has(slots[path]) && this.scanner.raw(slots[path]).includes(needle);
  }

  /** The elements of an array value, as views of the line; empty for anything else. */
  elements(path: Path): Buffer[] {
    return this.scanner.elements(slots[path]);
  }

  /** Whether the row carries results of tools (which are a user row's content, but nobody's words). */
  holdsToolResult(): boolean {
    if (this.kind !== 'user' || !this.scanner.isArray(slots['message.content'])) return false;
    // In a string the quotes would be escaped.
    return this.has('toolUseResult') || this.scanner.raw(slots['message.content']).includes(TOOL_RESULT);
  }

  /** Whether the row is a message that stands in an attachment or a system row. */
  isDisguisedPrompt(): boolean {
    if (this.kind === 'attachment') return this.equals('attachment.type', 'queued_command');
    return this.kind === 'system' && this.equals('subtype', 'voice_call_talk');
  }

  /**
   * Whether the row says itself that another session wrote it first: old resumes left the old sessionId on copies,
   * forks carry `forkedFrom`, and 2.1.332 names the session that made the request.
   */
  looksCopied(sessionId: string): boolean {
    return (
      this.isObject('forkedFrom') ||
      this.isForeign('sessionId', sessionId) ||
      this.isForeign('requestSessionId', sessionId)
    );
  }

  isForeign(path: 'sessionId' | 'requestSessionId', sessionId: string): boolean {
    return this.scanner.isString(slots[path]) && !this.equals(path, sessionId) && this.id(path) !== null;
  }
}

const TOOL_RESULT = Buffer.from('"tool_result"');
