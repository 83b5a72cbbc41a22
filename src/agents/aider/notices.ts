/** What notices say of a run: version, model, folder, and figures of tokens, which are rounded. */

export interface RunFacts {
  version: string | null;
  /** The model of the replies from here on. */
  model: string | null;
  /** Rounded sums of what reports say; null: no report. */
  sent: number | null;
  received: number | null;
  /** Dollars of the session as last told. */
  cost: number | null;
}

export const noFacts = (): RunFacts => ({ version: null, model: null, sent: null, received: null, cost: null });

const VERSION = /^> Aider v(\S+)/;
const MODEL = /^> (?:Main model|Model): (\S+) with /;
const TOKENS =
  /^> Tokens: ([\d.]+)(k?) sent,.* ([\d.]+)(k?) received\.|^> Tokens: ([\d.]+)(k?) sent, ([\d.]+)(k?) received\./;
const COST = /Cost: \$[\d.]+ message, \$([\d.]+) session\./;

const figure = (digits: string, unit: string): number => Math.round(Number(digits) * (unit === 'k' ? 1000 : 1));

export function noteNotice(line: string, facts: RunFacts): void {
  facts.version ??= VERSION.exec(line)?.[1] ?? null;
  facts.model = MODEL.exec(line)?.[1] ?? facts.model;
  const tokens = TOKENS.exec(line);
  if (tokens !== null) {
    // Each report counts since the one before: one report, one reply.
    facts.sent = (facts.sent ?? 0) + figure(tokens[1] ?? tokens[5]!, tokens[2] ?? tokens[6]!);
    facts.received = (facts.received ?? 0) + figure(tokens[3] ?? tokens[7]!, tokens[4] ?? tokens[8]!);
  }
  const cost = COST.exec(line)?.[1];
  if (cost !== undefined) facts.cost = Number(cost);
}
