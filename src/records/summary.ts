/** What a read is worth: the ReadSummary of one source, and the gates that it has to pass. */
import type { TableName } from './tables.ts';

/** How the reading of a source ended. */
export const statuses = [
  'complete',
  'incomplete_tail',
  'complete_with_errors',
  'stopped_early',
  'failed',
  'unsupported',
] as const;
export type ReadStatus = (typeof statuses)[number];

export const gates = ['strict', 'quarantine'] as const;
export type Gate = (typeof gates)[number];

export interface ReadSummary {
  readonly status: ReadStatus;
  /** Records framed, from the start of the source on. */
  readonly records: number;
  readonly lineErrors: number;
  readonly ignoredTypes: Readonly<Record<string, number>>;
  readonly unknownTypes: Readonly<Record<string, number>>;
  /** One past the last complete record and its line end; null where the source is not byte-addressed. */
  readonly lastCompleteByte: number | null;
  /** Rows told to each table by this read. */
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
  /** Why it failed, in one sentence; null where it did not. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Whether the rows of a source with this status may be committed. */
export function passesGate(status: ReadStatus, gate: Gate): boolean {
  switch (status) {
    case 'complete':
    case 'incomplete_tail':
      return true;
    case 'complete_with_errors':
      return gate === 'quarantine';
    case 'unsupported':
    case 'stopped_early':
    case 'failed':
      return false;
  }
}

/** Whether a source with this status makes the run end with exit status 2. */
export const isHeldBack = (status: ReadStatus, gate: Gate): boolean =>
  status !== 'unsupported' && !passesGate(status, gate);
