/** Files that repeat each other's messages: forks, and later tasks of one agent of a team. Copies keep their ids. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { asObject, nameField } from '../dialects/json.ts';

export const messageKey = (id: string): number => hash53(`message ${id}`);

/** The agent of a team task: `<root>__<agent>__<task>`; null for other files. */
const teamAgent = (source: SourceSpec): string | null => {
  const [, agent, ...task] = source.name.split('__');
  return source.hints['isRoot'] === true || agent === undefined || task.length === 0 ? null : agent;
};

export function peekLinks(_frames: Iterable<Frame>, source: SourceSpec): Links {
  const { forkOf, root } = source.hints;
  const agent = teamAgent(source);
  const refs = [
    ...(typeof forkOf === 'string' ? [forkOf] : []),
    ...(agent === null ? [] : [`team ${String(root)} ${agent}`]),
  ];
  return { ids: [source.name], refs };
}

export function claimMessages(frames: Iterable<Frame>): Claims {
  const keys: number[] = [];
  for (const frame of frames) {
    try {
      const message = frame.locator === '' ? null : asObject(frame.json());
      const id = message === null ? null : nameField(message, 'id');
      if (id !== null) keys.push(messageKey(id));
    } catch (error) {
      if (!(error instanceof ScopedError) || error.scope !== 'record') throw error;
    }
  }
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp: null };
}

/** A fork's origin owns what both hold; of team tasks, the file with fewer messages does. */
export function resolveFamily(members: readonly FamilyMember[]): Kinship[] {
  return members.map((member) => {
    const agent = teamAgent(member.source);
    const owners = members.filter((other) => {
      if (other === member) return false;
      if (member.source.hints['forkOf'] === other.source.name) return true;
      if (
        agent === null ||
        teamAgent(other.source) !== agent ||
        other.source.hints['root'] !== member.source.hints['root']
      )
        return false;
      const [mine, theirs] = [member.claims.keys.length, other.claims.keys.length];
      return theirs < mine || (theirs === mine && other.source.name < member.source.name);
    });
    const copies = new Set(owners.flatMap((owner) => [...owner.claims.keys]));
    return { copies: Float64Array.from(copies), foundRelated: owners.length > 0 };
  });
}
