/** Rows on their way out: in file order, though a reply is known only after rows that stand behind its first one. */
import type { Emitter, EventAt, MessageFields, ToolCallFields, ToolResultFields } from '../agent.ts';

/** A row that waits behind an open reply. JSON-able but for byte arrays; see `saveEntries`. */
export type HeldRow =
  | { readonly kind: 'message'; readonly at: EventAt; readonly fields: MessageFields }
  | { readonly kind: 'call'; readonly at: EventAt; readonly fields: ToolCallFields }
  | { readonly kind: 'result'; readonly at: EventAt; readonly fields: ToolResultFields };

/** Something that holds its place until it is complete. */
export interface Place {
  isOpen: boolean;
  tell(out: Emitter): void;
}

export type Entry = { readonly kind: 'reply'; readonly place: Place } | HeldRow;

/**
 * Beyond so many bytes of lines, what waits is let go past the open replies, which then come late: order is given up
 * before memory is.
 */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export class OutputQueue {
  private entries: Entry[] = [];
  private heldBytes = 0;
  private readonly out: Emitter;

  constructor(out: Emitter) {
    this.out = out;
  }

  open(place: Place): void {
    this.entries.push({ kind: 'reply', place });
  }

  /** Tells a row, now or when its turn comes. `bytes` is the size of its line. */
  push(row: HeldRow, bytes: number): void {
    if (this.entries.length === 0) {
      tell(this.out, row);
      return;
    }
    this.entries.push(row);
    this.heldBytes += bytes;
    if (this.heldBytes > MAX_HELD_BYTES) this.letGo();
  }

  /** Tells what no open reply stands before. */
  flush(): void {
    let done = 0;
    for (; done < this.entries.length; done++) {
      const entry = this.entries[done]!;
      if (entry.kind === 'reply') {
        if (entry.place.isOpen) break;
        entry.place.tell(this.out);
      } else tell(this.out, entry);
    }
    if (done === 0) return;
    this.entries = done === this.entries.length ? [] : this.entries.slice(done);
    if (this.entries.length === 0) this.heldBytes = 0;
  }

  /** What waits, in order. */
  get waiting(): readonly Entry[] {
    return this.entries;
  }

  private letGo(): void {
    const places: Entry[] = [];
    for (const entry of this.entries) {
      if (entry.kind === 'reply') places.push(entry);
      else tell(this.out, entry);
    }
    this.entries = places;
    this.heldBytes = 0;
  }
}

function tell(out: Emitter, row: HeldRow): void {
  if (row.kind === 'message') out.message(row.at, row.fields);
  else if (row.kind === 'call') out.toolCall(row.at, row.fields);
  else out.toolResult(row.at, row.fields);
}

/** Rows with their byte arrays as text, for a saved state. */
export function saveRow(row: HeldRow): HeldRow {
  const fields: Record<string, unknown> = { ...row.fields };
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Uint8Array) fields[name] = Buffer.from(value).toString('utf8');
  }
  return { ...row, fields } as HeldRow;
}

/** Rough size of a row in a saved state. */
export const savedSize = (row: HeldRow): number =>
  Object.values(row.fields).reduce(
    (sum: number, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8),
    200,
  );
