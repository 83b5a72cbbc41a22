/** One conversation has one id in all stores; which of them tells it. */
import type { SourceSpec, Walker } from '../agent.ts';
import { composersWithText } from './composers.ts';
import { CHAT_STORE, CLI_STORE, COMPOSER_STORE } from './paths.ts';

/** Facts that the stores that do not tell a conversation may lend to the one that does. */
const LENT = ['cwd', 'parent', 'title'] as const;

/**
 * The editor's store, where a bubble of it has text; else the program's, where it can be read and has a turn; else the
 * transcript. What is nowhere else is told as it is.
 */
export function choose(sources: readonly SourceSpec[], walker: Walker): readonly SourceSpec[] {
  const byId = new Map<string, SourceSpec[]>();
  const chosen: SourceSpec[] = [];
  for (const source of sources) {
    // What cannot be read is told so, and stands for nothing that can.
    if (source.fault !== undefined) chosen.push(source);
    // Databases without conversations, and those of the oldest kind, share ids with nothing.
    else if (source.storeKind === CHAT_STORE || (source.storeKind === COMPOSER_STORE && source.member === undefined))
      chosen.push(source);
    else byId.set(source.name, [...(byId.get(source.name) ?? []), source]);
  }
  const rivals = [...byId.values()].filter((group) => group.length > 1).flat();
  const withText = textfulComposers(
    rivals.filter(({ storeKind }) => storeKind === COMPOSER_STORE),
    walker,
  );
  for (const group of byId.values()) {
    const best = group.length === 1 ? group[0]! : pick(group, withText);
    chosen.push({ ...best, hints: { ...best.hints, ...lent(group.filter((other) => other !== best)) } });
  }
  return chosen;
}

function pick(group: readonly SourceSpec[], withText: ReadonlySet<string>): SourceSpec {
  const composer = group.find(({ storeKind }) => storeKind === COMPOSER_STORE);
  if (composer !== undefined && withText.has(composer.identity)) return composer;
  const cli = group.find(
    ({ storeKind, fault, hints }) => storeKind === CLI_STORE && fault === undefined && Number(hints['turns']) > 0,
  );
  if (cli !== undefined) return cli;
  return (
    group.find(({ storeKind }) => storeKind !== COMPOSER_STORE && storeKind !== CLI_STORE) ?? composer ?? group[0]!
  );
}

function textfulComposers(composers: readonly SourceSpec[], walker: Walker): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of new Set(composers.map((composer) => composer.path))) {
    const own = composers.filter((composer) => composer.path === path);
    const looked = walker.database(path, (database) =>
      composersWithText(
        database,
        own.map(({ member }) => member!),
      ),
    );
    if ('fault' in looked) continue;
    for (const { identity, member } of own) if (looked.value.has(member!)) found.add(identity);
  }
  return found;
}

function lent(group: readonly SourceSpec[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const key of LENT) {
    const value = group.map(({ hints }) => hints[key]).find((hint) => typeof hint === 'string');
    if (typeof value === 'string') found[`${key} elsewhere`] = value;
  }
  return found;
}
