/** An argument or a definition is wrong: exit status 1, and the message says what and how it should be. */
export class UsageError extends Error {}
