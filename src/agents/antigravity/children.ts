/** Subagents: the parent's step that starts them lists their ids. */
import type { Frame } from '../../framing/frame.ts';
import type { Claims, FamilyMember, Kinship } from '../agent.ts';
import { recordKey } from '../dialects/forks.ts';
import { objectOf } from '../dialects/frames.ts';
import { stringField } from '../dialects/json.ts';

const CHILD = /"conversationId"\s*:\s*"([^"\\]+)"/g;

/** Ids of the conversations that a transcript starts. */
export function childrenOf(frames: Iterable<Frame>): Claims {
  const keys: number[] = [];
  for (const frame of frames) {
    const step = objectOf(frame);
    if (step === null || stringField(step, 'type') !== 'INVOKE_SUBAGENT') continue;
    for (const match of (stringField(step, 'content') ?? '').matchAll(CHILD)) keys.push(recordKey(match[1]!));
  }
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp: null };
}

export function resolveParents(members: readonly FamilyMember[]): Kinship[] {
  return members.map((member) => {
    const key = recordKey(member.links.ids[0] ?? '');
    const parent = members.find((other) => other !== member && other.claims.keys.includes(key));
    return { copies: new Float64Array(0), foundRelated: parent !== undefined, parentId: parent?.links.ids[0] ?? null };
  });
}
