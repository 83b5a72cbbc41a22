/** What is counted of a session while its rows go by. JSON-able: an `append` read goes on from a saved one. */
export interface SessionTally {
  startedAt: number | null;
  endedAt: number | null;
  messages: number;
  userMessages: number;
  toolCalls: number;
  /** In order of first answer. */
  models: string[];
  lastModel: string | null;
  usage: 'per_reply' | 'session_total' | null;
}

export const emptyTally = (): SessionTally => ({
  startedAt: null,
  endedAt: null,
  messages: 0,
  userMessages: 0,
  toolCalls: 0,
  models: [],
  lastModel: null,
  usage: null,
});

export function noteTime(tally: SessionTally, timestamp: number | null): void {
  if (timestamp === null) return;
  if (tally.startedAt === null || timestamp < tally.startedAt) tally.startedAt = timestamp;
  if (tally.endedAt === null || timestamp > tally.endedAt) tally.endedAt = timestamp;
}

export function noteModel(tally: SessionTally, model: string | null): void {
  if (model === null || model === tally.lastModel) return;
  tally.lastModel = model;
  if (!tally.models.includes(model)) tally.models.push(model);
}
