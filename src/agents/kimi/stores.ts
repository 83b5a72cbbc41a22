/** Names of the layouts. */
export const WIRE_STORE = 'kimi-cli-wire';
export const CONTEXT_STORE = 'kimi-cli-context';
export const JOURNAL_STORE = 'kimi-code-journal';
