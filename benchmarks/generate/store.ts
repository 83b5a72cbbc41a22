import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBigLine } from './big-line.ts';
import { writeClaudeStore } from './claude.ts';
import { writeCodexStore } from './codex.ts';
import { nothingWritten, type Written } from './sink.ts';
import { Texts } from './text.ts';

export type GeneratedAgent = 'claude' | 'codex';

/** What one agent's part of a store shall be. */
export interface StoreOptions {
  /** The folder that stands for the home folder. */
  out: string;
  seed: number;
  /** About how many bytes to write. */
  bytes: number;
  /** Instead of that many bytes: that many small sessions. */
  files: number | null;
}

/** What a store is made from; equal parameters give equal bytes. */
export interface StoreParameters {
  generator: number;
  agents: GeneratedAgent[];
  seed: number;
  /** Bytes, unless `files` says how much to write. */
  bytes: number;
  files: number | null;
  bigLine: number | null;
}

export interface StoreManifest {
  parameters: StoreParameters;
  written: Record<string, Written>;
}

/** To be raised with every change of what is written, so that no store of an older generator is taken for a new one. */
export const GENERATOR_VERSION = 1;

/** Claude Code's share of the bytes where both agents are asked for. */
const CLAUDE_SHARE = 0.6;

export function manifestPath(out: string): string {
  return join(out, 'store.json');
}

/** The manifest of a finished store, or null. It is written last, so an interrupted run has none. */
export function readManifest(out: string): StoreManifest | null {
  const path = manifestPath(out);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as StoreManifest) : null;
}

export function generateStore(out: string, parameters: StoreParameters): StoreManifest {
  for (const folder of ['.claude', '.codex']) {
    // A real home folder must not end up half invented.
    if (existsSync(join(out, folder))) throw new Error(`${join(out, folder)} is there already: choose an empty folder`);
  }
  mkdirSync(out, { recursive: true });
  const { agents, seed, bytes, files, bigLine } = parameters;
  const texts = new Texts(seed);
  const written: Record<string, Written> = {};
  for (const agent of agents) {
    const share = agents.length === 1 ? 1 : agent === 'claude' ? CLAUDE_SHARE : 1 - CLAUDE_SHARE;
    const options = {
      out,
      seed,
      bytes: Math.round(bytes * share),
      files: files === null ? null : Math.round(files * share),
    };
    written[agent] = nothingWritten();
    if (agent === 'claude') writeClaudeStore(options, texts, written[agent]);
    else writeCodexStore(options, texts, written[agent]);
  }
  if (bigLine !== null) {
    written['claude'] ??= nothingWritten();
    writeBigLine(out, bigLine, texts, written['claude']);
  }
  const manifest = { parameters, written };
  writeFileSync(manifestPath(out), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
