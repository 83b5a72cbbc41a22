/** What files hold as copies: rows of an ancestor are the ancestor's, whatever they say of themselves. */
import type { Claims, FamilyMember, Kinship } from '../agent.ts';
import { resolve as resolveClaude } from '../claude/copies.ts';
import { ORIGIN_RANK } from './origin.ts';

/** Weaker than any claim of a row's own file. */
const COPIED = 2;

/** The nearest ancestor whose file is there; null where there is none, and rows stay where they are. */
function ancestorOf(member: FamilyMember, members: readonly FamilyMember[]): FamilyMember | null {
  for (const ref of member.links.refs) {
    if (ref.startsWith('project:')) continue;
    const found = members.find((other) => other !== member && other.links.ids[0] === ref);
    if (found !== undefined) return found;
  }
  return null;
}

/** Claims in which what the ancestor holds counts as copied. */
function weighed({ claims }: FamilyMember, ancestor: FamilyMember | null): Claims {
  const held = new Set(ancestor?.claims.keys);
  const keys: number[] = [];
  const ranks: number[] = [];
  claims.keys.forEach((key, index) => {
    const rank = claims.ranks[index]!;
    if (rank === ORIGIN_RANK) return;
    keys.push(key);
    ranks.push(held.has(key) ? COPIED : rank);
  });
  return { keys: Float64Array.from(keys), ranks: Uint8Array.from(ranks), firstTimestamp: claims.firstTimestamp };
}

/** Rows copied under new ids whose originals the ancestor holds. */
function renamedCopies({ claims }: FamilyMember, ancestor: FamilyMember | null): number[] {
  const held = new Set(ancestor?.claims.keys);
  const found: number[] = [];
  claims.ranks.forEach((rank, index) => {
    if (rank === ORIGIN_RANK && held.has(claims.keys[index]!)) found.push(claims.keys[index - 1]!);
  });
  return found;
}

/** As for Claude Code, once it is known which claims are those of copies. */
export function resolve(members: readonly FamilyMember[]): Kinship[] {
  const ancestors = members.map((member) => ancestorOf(member, members));
  const claims = members.map((member, index) => weighed(member, ancestors[index]!));
  const kinships = resolveClaude(members.map((member, index) => ({ ...member, claims: claims[index]! })));
  return kinships.map((kinship, index) => {
    const renamed = renamedCopies(members[index]!, ancestors[index]!);
    return renamed.length === 0
      ? kinship
      : { ...kinship, copies: Float64Array.from(new Set([...kinship.copies, ...renamed])) };
  });
}
