import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatSize } from './generate/size.ts';
import {
  GENERATOR_VERSION,
  generateStore,
  readManifest,
  type StoreManifest,
  type StoreParameters,
} from './generate/store.ts';

export function storeParameters(own: Partial<StoreParameters>): StoreParameters {
  return {
    generator: GENERATOR_VERSION,
    agents: ['claude', 'codex'],
    seed: 1,
    bytes: 0,
    files: null,
    bigLine: null,
    ...own,
  };
}

/** Stores made for this run, by their parameters; an existing one with the same parameters is used again. */
export class Stores {
  readonly #folder: string;
  readonly #made = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder of a finished store. Its files have been read once, so that no side pays for a cold cache. */
  get(parameters: StoreParameters): string {
    const { generator, agents, seed, bytes, files, bigLine } = parameters;
    const name = [
      `store-v${generator}`,
      agents.join('+'),
      `seed${seed}`,
      files === null ? bytes : `${files}files`,
      ...(bigLine === null ? [] : [`line${bigLine}`]),
    ].join('-');
    const path = join(this.#folder, name);
    if (!isDeepStrictEqual(readManifest(path)?.parameters, parameters)) {
      rmSync(path, { recursive: true, force: true });
      this.#made.add(path);
      generateStore(path, parameters);
    }
    return warm(path);
  }

  /** Removes what this run has made. */
  remove(): void {
    for (const path of this.#made) rmSync(path, { recursive: true, force: true });
  }
}

export function warm(path: string): string {
  if (!existsSync(path)) throw new Error(`there is no store at ${path}`);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) readFileSync(join(entry.parentPath, entry.name));
  }
  return path;
}

export function describeStore(path: string): string {
  const manifest: StoreManifest | null = readManifest(path);
  if (!manifest) return path;
  const parts = Object.entries(manifest.written).map(
    ([agent, w]) => `${agent} ${formatSize(w.bytes)}, ${w.files} files, ${w.lines} lines`,
  );
  return parts.join('; ');
}
