/** Which other sources a session file may repeat. */
import { dirname } from 'node:path';
import type { Frame } from '../../framing/frame.ts';
import type { Links, SourceSpec } from '../agent.ts';
import { Row } from './row.ts';

/** Rows looked at before giving up on finding a reply: titles, snapshots and attachments stand before it. */
const PEEK_ROWS = 64;

/** What every reader of a session file knows of it before reading. */
export interface FileFacts {
  /** The file's stem: rows cannot be asked, since copies keep the id of the session they were copied from. */
  readonly sessionId: string;
  readonly isAgent: boolean;
  /** Session whose folder an agent file is in; null for all others. */
  readonly parent: string | null;
}

export const factsOf = (source: SourceSpec): FileFacts => {
  const { isAgent, parent } = source.hints;
  return { sessionId: source.name, isAgent: isAgent === true, parent: typeof parent === 'string' ? parent : null };
};

/** Gathers the ids by which a file is tied to others. */
export class LinkCollector {
  readonly refs: Set<string>;
  private readonly facts: FileFacts;
  private readonly projectId: string;
  /** The foreign ids seen last: rows mostly repeat them. */
  private readonly last: Record<'sessionId' | 'requestSessionId', string> = { sessionId: '', requestSessionId: '' };

  constructor(source: SourceSpec, refs: readonly string[] = []) {
    this.facts = factsOf(source);
    this.projectId = `project:${dirname(source.path)}`;
    this.refs = new Set(refs);
    if (this.facts.parent !== null) this.refs.add(this.facts.parent);
  }

  /** Looks at a transcript row. */
  add(row: Row): void {
    this.addForeign(row, 'sessionId');
    this.addForeign(row, 'requestSessionId');
    if (row.isObject('forkedFrom')) {
      const origin = row.id('forkedFrom.sessionId');
      if (origin !== null && origin !== this.facts.sessionId) this.refs.add(origin);
    }
    // A background hand-off rewrites sessionId and leaves no pointer: any session of the project may be the origin.
    if (!this.facts.isAgent && row.equals('sessionKind', 'bg')) this.refs.add(this.projectId);
  }

  /** Sorted, so that equal files give equal links. Project ids tie only to those who refer to them. */
  links(): Links {
    const ids = this.facts.isAgent ? [this.facts.sessionId] : [this.facts.sessionId, this.projectId];
    return { ids, refs: [...this.refs].sort() };
  }

  private addForeign(row: Row, path: 'sessionId' | 'requestSessionId'): void {
    const last = this.last[path];
    if (last !== '' && row.equals(path, last)) return;
    if (!row.isForeign(path, this.facts.sessionId)) return;
    const id = row.id(path);
    if (id === null) return;
    this.last[path] = id;
    this.refs.add(id);
  }
}

/** Links as the head of the file shows them: up to its first reply, whose `requestSessionId` is the last to tell. */
export function peek(frames: Iterable<Frame>, source: SourceSpec): Links {
  const row = new Row('loose');
  const links = new LinkCollector(source);
  let looked = 0;
  for (const frame of frames) {
    if (row.read(frame.bytes()) && row.kind !== 'other') {
      links.add(row);
      if (row.kind === 'assistant') break;
    }
    if (++looked >= PEEK_ROWS) break;
  }
  return links.links();
}
