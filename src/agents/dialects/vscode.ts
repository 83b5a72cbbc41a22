/** Where editors of the VS Code family keep what their extensions store, on every platform. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate } from '../agent.ts';

/** Products by the name of their folder. */
export const VSCODE_PRODUCTS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'] as const;

/** Folders below the home folder where servers of remote sessions keep theirs. */
const REMOTE_SERVERS = ['.vscode-server', '.vscode-server-insiders', '.cursor-server', '.windsurf-server'];

/** The folder in which a platform's products have theirs. */
export function configHome({ env, home, platform }: AgentEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA']?.trim() || join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME']?.trim() || join(home, '.config');
}

/** `User` folders of products: a portable install and the variables of VS Code first, as the vendor has it. */
export function userFolders(
  environment: AgentEnvironment,
  products: readonly string[] = VSCODE_PRODUCTS,
  options: { readonly servers?: boolean } = {},
): RootCandidate[] {
  const { env, home } = environment;
  const found: RootCandidate[] = [];
  const portable = env['VSCODE_PORTABLE']?.trim() ?? '';
  if (portable !== '') found.push({ path: join(portable, 'user-data', 'User'), reason: 'env VSCODE_PORTABLE' });
  const appData = env['VSCODE_APPDATA']?.trim() ?? '';
  const base = appData === '' ? configHome(environment) : appData;
  const reason = appData === '' ? 'default' : 'env VSCODE_APPDATA';
  for (const product of products) found.push({ path: join(base, product, 'User'), reason: `${reason} (${product})` });
  if (options.servers === true) {
    for (const server of REMOTE_SERVERS)
      found.push({ path: join(home, server, 'data', 'User'), reason: `default (${server})` });
  }
  return found;
}
