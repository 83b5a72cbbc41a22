/** Sources that may hold each other's history, and what that says about each of them. */
import { hash } from 'node:crypto';
import type { Claims, Kinship, Links, SourceFormat } from '../agents/agent.ts';
import { loadFormat } from '../agents/load-format.ts';
import type { ClaimsFound, SourceRef } from './protocol.ts';

export interface Relative {
  readonly source: SourceRef;
  readonly links: Links;
}

export const noKinship: Kinship = { copies: new Float64Array(0), foundRelated: false };

/**
 * Identifies what a source's copies rest on: two readings with the same digest give the same rows. Keys that the source
 * does not hold itself say nothing about it (a parent that goes on growing); negative ones are marks of the format.
 */
function kinshipDigest({ copies, foundRelated, parentId }: Kinship, own: Claims): string {
  const held = new Set(own.keys);
  const relevant = copies.filter((key) => key < 0 || held.has(key)).sort();
  const keys =
    relevant.length === 0
      ? ''
      : hash('sha1', Buffer.from(relevant.buffer, relevant.byteOffset, relevant.byteLength), 'hex');
  return keys + (foundRelated ? '+' : '') + (parentId ?? '');
}

/** What families said about their members. */
export interface Families {
  readonly kinship: ReadonlyMap<string, Kinship>;
  /** Of each member's kinship. */
  readonly digests: ReadonlyMap<string, string>;
  /** Claims that were read for it. */
  readonly claims: ReadonlyMap<string, Claims>;
  /** Outlines that came along with them. */
  readonly outlines: ReadonlyMap<string, ClaimsFound['outline']>;
}

export const noFamilies: Families = { kinship: new Map(), digests: new Map(), claims: new Map(), outlines: new Map() };

class Groups {
  private readonly parent: number[];

  constructor(size: number) {
    this.parent = Array.from({ length: size }, (_, i) => i);
  }

  find(i: number): number {
    let root = i;
    while (this.parent[root] !== root) root = this.parent[root]!;
    for (let at = i; at !== root; ) {
      const next = this.parent[at]!;
      this.parent[at] = root;
      at = next;
    }
    return root;
  }

  join(a: number, b: number): void {
    this.parent[this.find(a)] = this.find(b);
  }
}

/**
 * Families of two or more, as lists of indexes in the order given. Two sources belong together where one refers to the
 * other's id, where both refer to the same id (their origin may be gone), or where both have the same id.
 */
export function familiesOf(relatives: readonly Relative[]): number[][] {
  const groups = new Groups(relatives.length);
  const holder = new Map<string, number>();
  relatives.forEach(({ source, links }, i) => {
    // The first id is the source's own; further ones are known to nobody unless somebody refers to them.
    const own = links.ids[0];
    for (const key of [...(own === undefined ? [] : [own]), ...links.refs].map((id) => `${source.agent}\u0000${id}`)) {
      const other = holder.get(key);
      if (other === undefined) holder.set(key, i);
      else groups.join(i, other);
    }
  });
  // Ids beyond the first tie a source only to those that refer to them.
  relatives.forEach(({ source, links }, i) => {
    for (const id of links.ids.slice(1)) {
      const other = holder.get(`${source.agent}\u0000${id}`);
      if (other !== undefined) groups.join(i, other);
    }
  });
  const members = new Map<number, number[]>();
  relatives.forEach((_, i) => {
    const root = groups.find(i);
    const list = members.get(root);
    if (list === undefined) members.set(root, [i]);
    else list.push(i);
  });
  return [...members.values()].filter((list) => list.length > 1);
}

async function resolverOf(members: readonly Relative[]): Promise<NonNullable<SourceFormat['resolve']> | null> {
  for (const { source } of members) {
    const { resolve } = await loadFormat(source.agent, source.spec.storeKind);
    if (resolve !== undefined) return resolve;
  }
  return null;
}

/**
 * Kinship of each source by id; sources without a family, or in one that does not concern this run, are absent.
 * `knownClaims` gives what was saved; `readClaims` is asked once, for all that have none.
 */
export async function resolveKinship(
  relatives: readonly Relative[],
  concerns: (source: SourceRef) => boolean,
  knownClaims: (source: SourceRef) => Claims | null,
  readClaims: (sources: readonly SourceRef[]) => Promise<readonly ClaimsFound[]>,
): Promise<Families> {
  const families = familiesOf(relatives).filter((family) => family.some((i) => concerns(relatives[i]!.source)));
  const claims = new Map<string, Claims>();
  const outlines = new Map<string, ClaimsFound['outline']>();
  const missing: number[] = [];
  for (const i of families.flat()) {
    const known = knownClaims(relatives[i]!.source);
    if (known === null) missing.push(i);
    else claims.set(relatives[i]!.source.sourceId, known);
  }
  const read = await readClaims(missing.map((i) => relatives[i]!.source));
  missing.forEach((i, n) => {
    claims.set(relatives[i]!.source.sourceId, read[n]!.claims);
    outlines.set(relatives[i]!.source.sourceId, read[n]!.outline);
  });
  const kinship = new Map<string, Kinship>();
  const digests = new Map<string, string>();
  for (const family of families) {
    const members = family.map((i) => relatives[i]!);
    const resolve = await resolverOf(members);
    if (resolve === null) continue;
    const found = resolve(
      members.map((m) => ({ source: m.source.spec, links: m.links, claims: claims.get(m.source.sourceId)! })),
    );
    members.forEach(({ source: { sourceId } }, n) => {
      kinship.set(sourceId, found[n]!);
      digests.set(sourceId, kinshipDigest(found[n]!, claims.get(sourceId)!));
    });
  }
  return { kinship, digests, claims, outlines };
}
