/** The environment in which a tool finds the store as if it were the user's home folder, and nothing else. */
export function storeEnvironment(store: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: store, USERPROFILE: store, TZ: 'UTC', NO_COLOR: '1' };
  for (const name of [
    'CLAUDE_CONFIG_DIR',
    'CODEX_HOME',
    'CODEX_SQLITE_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'NODE_OPTIONS',
  ]) {
    delete env[name];
  }
  return env;
}
