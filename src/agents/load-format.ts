/** Gets at the code of one layout of one agent, without the definitions of all others: a thread needs a few of many. */
import type { AgentDefinition, SourceFormat } from './agent.ts';

/** Folders of agents are named by their slugs; nothing else may become part of a path. */
const SLUG = /^[a-z][a-z0-9_]*$/;
const SUFFIX = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const isDefinition = (value: unknown, slug: string): value is AgentDefinition =>
  typeof value === 'object' && value !== null && 'formats' in value && 'slug' in value && value.slug === slug;

async function definitionOf(slug: string): Promise<AgentDefinition> {
  if (!SLUG.test(slug)) throw new Error(`'${slug}' is no agent's name`);
  const module = (await import(new URL(`./${slug}/index.${SUFFIX}`, import.meta.url).href)) as Record<string, unknown>;
  const found = Object.values(module).find((value) => isDefinition(value, slug));
  if (found === undefined) throw new Error(`the folder of ${slug} holds no definition of that name`);
  return found;
}

const loaded = new Map<string, Promise<SourceFormat>>();

/** A layout of an agent's store with its code, which is imported at the first call. Throws where there is none. */
export function loadFormat(slug: string, storeKind: string): Promise<SourceFormat> {
  const key = `${slug} ${storeKind}`;
  let format = loaded.get(key);
  if (format === undefined) {
    format = load(slug, storeKind);
    loaded.set(key, format);
  }
  return format;
}

async function load(slug: string, storeKind: string): Promise<SourceFormat> {
  const store = (await definitionOf(slug)).formats[storeKind];
  if (store === undefined) throw new Error(`${slug} has no format ${storeKind}`);
  const { load: code, ...traits } = store;
  return { ...traits, ...(await code()) };
}
