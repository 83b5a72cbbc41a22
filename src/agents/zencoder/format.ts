/** How sessions are read, and which of them others began. */
import type { Frame } from '../../framing/frame.ts';
import type { FamilyMember, FormatCode, Kinship, Links, SourceSpec } from '../agent.ts';
import { objectOf } from '../dialects/frames.ts';
import { nameField } from '../dialects/json.ts';
import { SessionDecoder } from './decode.ts';
import { isHeader, resultTexts } from './parts.ts';

const NO_CLAIMS = { keys: new Float64Array(0), ranks: new Uint8Array(0), firstTimestamp: null };

/** The session itself, and those that its tools' answers name: they ran on its behalf. */
function links(frames: Iterable<Frame>, source: SourceSpec): Links {
  let id = source.name;
  let isFirst = true;
  const refs = new Set<string>();
  for (const frame of frames) {
    const record = objectOf(frame);
    if (record !== null && isFirst && isHeader(record)) id = nameField(record, 'id') ?? id;
    isFirst = false;
    if (record === null) continue;
    for (const text of resultTexts(record)) {
      for (const [, named] of text.matchAll(/<session-id>\s*([0-9A-Za-z-]{8,64})\s*<\/session-id>/g)) refs.add(named!);
    }
  }
  refs.delete(id);
  return { ids: [id], refs: [...refs] };
}

const resolve = (members: readonly FamilyMember[]): Kinship[] =>
  members.map((member) => {
    const id = member.links.ids[0] ?? '';
    const parent = members.find((other) => other !== member && other.links.refs.includes(id));
    return {
      copies: new Float64Array(0),
      foundRelated: parent !== undefined,
      parentId: parent?.links.ids[0] ?? null,
    };
  });

export const sessionCode: FormatCode = {
  peek: links,
  claims: () => NO_CLAIMS,
  resolve,
  decoder: (context, out) => new SessionDecoder(context, out),
};
