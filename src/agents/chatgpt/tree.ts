/** The tree of a conversation's nodes: which of them are what is seen, and in which order. */
import { asObject, field, type Json, nameField, numberField } from '../dialects/json.ts';

export interface TreeNode {
  readonly id: string;
  readonly parent: string | null;
  /** null for roots and placeholders. */
  readonly message: Json | null;
  /** Seconds since 1970; null where the store does not say. */
  readonly created: number | null;
}

/** A node of `mapping`; null where it is none. Only `parent` is relied on: slim exports leave out `children`. */
export function readNode(id: string, value: unknown): TreeNode | null {
  const node = asObject(value);
  if (node === null) return null;
  const said = field(node, 'message');
  const message = asObject(said);
  if (message === null && said !== null && said !== undefined) return null;
  const created = message === null ? null : numberField(message, 'create_time');
  return { id, parent: nameField(node, 'parent'), message, created: created === 0 ? null : created };
}

type Nodes = ReadonlyMap<string, TreeNode>;

/** From a node up to its root; ends at a node that is unknown or was met before. */
function pathUp(nodes: Nodes, leaf: string): string[] {
  const path: string[] = [];
  const seen = new Set<string>();
  for (let at: string | null = leaf; at !== null && nodes.has(at) && !seen.has(at); at = nodes.get(at)!.parent) {
    seen.add(at);
    path.push(at);
  }
  return path;
}

/** The newest leaf, of equally new ones that with the longer way to its root; null where there is none. */
function newestLeaf(nodes: Nodes): string | null {
  const parents = new Set([...nodes.values()].map((node) => node.parent));
  let best: { id: string; created: number; length: number } | null = null;
  for (const { id, created } of nodes.values()) {
    if (parents.has(id)) continue;
    const time = created ?? Number.NEGATIVE_INFINITY;
    if (best !== null && time < best.created) continue;
    const { length } = pathUp(nodes, id);
    if (best === null || time > best.created || length > best.length) best = { id, created: time, length };
  }
  return best?.id ?? null;
}

/** What was abandoned, oldest first, without a time last. */
const byTime = (a: TreeNode, b: TreeNode): number => {
  const difference = (a.created ?? Number.POSITIVE_INFINITY) - (b.created ?? Number.POSITIVE_INFINITY);
  return difference < 0 || difference > 0 ? difference : a.id < b.id ? -1 : 1;
};

/** The seen path from its root, then what was abandoned. Times say nothing of the order of a path: they run back too. */
export function inReadingOrder(nodes: Nodes, current: string | null): { node: TreeNode; isActive: boolean }[] {
  const leaf = current !== null && nodes.has(current) ? current : newestLeaf(nodes);
  const path = leaf === null ? [] : pathUp(nodes, leaf).reverse();
  const onPath = new Set(path);
  const others = [...nodes.values()].filter(({ id }) => !onPath.has(id)).sort(byTime);
  return [
    ...path.map((id) => ({ node: nodes.get(id)!, isActive: true })),
    ...others.map((node) => ({ node, isActive: false })),
  ];
}
