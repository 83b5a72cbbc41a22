/** What of a session must be known before its first item is told: which items were replaced, and which are live. */
import type { Frame } from '../../framing/frame.ts';
import { objectOf } from '../dialects/frames.ts';
import { boolField, type Json, nameField, objectField, stringField } from '../dialects/json.ts';

export interface ItemsOutline {
  /** Records that a later one with the same envelope id takes the place of, by the first of them: the last one. */
  readonly slots: ReadonlyMap<number, number>;
  /** All of them but the last. */
  readonly replaced: ReadonlySet<number>;
  /** Ids that several items have: they do not tell these apart. */
  readonly repeated: ReadonlySet<string>;
  /** Ids on the live branch; null where nothing was sent again, or it cannot be told. */
  readonly live: ReadonlySet<string> | null;
  readonly isAmbiguous: boolean;
  /** All up to here was cleared away; -1 where nothing was. */
  readonly clearedUpTo: number;
}

const CONVERSATION = new Set(['message', 'reasoning', 'function_call', 'function_call_result', 'function_call_output']);

export const isConversation = (type: string): boolean => CONVERSATION.has(type);

export interface Item {
  readonly item: Json;
  readonly type: string;
  /** Id of the envelope that the item is in; null without one. */
  readonly envelope: string | null;
}

/** The item in a line, or in the envelope that the line is. */
export function itemOf(line: Json): Item {
  const payload = objectField(line, 'payload');
  const item = payload ?? line;
  return {
    item,
    type: stringField(item, 'type') ?? stringField(line, 'type') ?? '',
    envelope: payload === null ? null : nameField(line, 'uuid'),
  };
}

interface Node {
  readonly ordinal: number;
  readonly id: string | null;
  readonly parent: string | null;
  readonly kind: 'item' | 'notice' | 'other';
}

export function readOutline(frames: Iterable<Frame>): ItemsOutline {
  const nodes: Node[] = [];
  const first = new Map<string, number>();
  const latest = new Map<string, number>();
  const slots = new Map<number, number>();
  const replaced = new Set<number>();
  const separators: number[] = [];
  for (const frame of frames) {
    const line = objectOf(frame);
    if (line === null) continue;
    const { item, type, envelope } = itemOf(line);
    const { ordinal } = frame;
    if (envelope !== null) {
      const before = latest.get(envelope);
      if (before === undefined) first.set(envelope, ordinal);
      else {
        replaced.add(before);
        slots.set(first.get(envelope)!, ordinal);
      }
      latest.set(envelope, ordinal);
    }
    if (boolField(objectField(item, 'providerData') ?? {}, 'isSessionSeparator') === true) separators.push(ordinal);
    nodes.push({
      ordinal,
      id: nameField(item, 'id'),
      parent: nameField(item, 'parentId'),
      kind: type === 'resend-fork-notice' ? 'notice' : isConversation(type) ? 'item' : 'other',
    });
  }
  // A record that was replaced stands at its first place with its last content.
  const placeOf = new Map([...slots].map(([place, last]) => [last, place]));
  const kept = nodes.filter((node) => !replaced.has(node.ordinal));
  const cleared = separators
    .filter((ordinal) => !replaced.has(ordinal))
    .map((ordinal) => placeOf.get(ordinal) ?? ordinal);
  const ids = new Set<string>();
  const repeated = new Set<string>();
  for (const { id, kind } of kept) {
    if (id === null || kind === 'other') continue;
    if (ids.has(id)) repeated.add(id);
    ids.add(id);
  }
  const branch = kept.some((node) => node.kind === 'notice') ? liveBranch(kept, placeOf) : null;
  const isAmbiguous = branch !== null && (branch.isBroken || repeated.size > 0);
  return {
    slots,
    replaced,
    repeated,
    live: branch === null || isAmbiguous ? null : branch.live,
    isAmbiguous,
    clearedUpTo: cleared.at(-1) ?? -1,
  };
}

/** From where the last notice points to, or from the last item after it. */
function liveBranch(
  nodes: readonly Node[],
  placeOf: ReadonlyMap<number, number>,
): { live: ReadonlySet<string>; isBroken: boolean } {
  const parents = new Map<string, string | null>();
  const place = (node: Node): number => placeOf.get(node.ordinal) ?? node.ordinal;
  for (const node of nodes) if (node.id !== null) parents.set(node.id, node.parent);
  const inOrder = [...nodes].sort((a, b) => place(a) - place(b));
  const end = inOrder.findLast((node) => node.kind === 'notice' || (node.kind === 'item' && node.id !== null));
  let at = end === undefined ? null : end.kind === 'notice' ? end.parent : end.id;
  const live = new Set<string>();
  while (at !== null) {
    if (live.has(at) || !parents.has(at)) return { live, isBroken: true };
    live.add(at);
    at = parents.get(at) ?? null;
  }
  return { live, isBroken: false };
}
