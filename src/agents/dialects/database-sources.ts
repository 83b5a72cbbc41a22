/** The sessions of a database as sources. */
import type { StoreDatabase } from '../../framing/database.ts';
import type { SourceFault, SourceSpec, Walker } from '../agent.ts';
import { checkSchema, type StoreSchema } from './schema.ts';

/** A session in a database, as a definition lists it. */
export interface DatabaseMember {
  /** The session's key: handed to the format's query. */
  readonly member: string;
  /** Changes whenever a row of the session does. */
  readonly state: string;
  /** Bytes of its rows, about; for progress and for cutting the work. */
  readonly bytes?: number;
  readonly hints?: SourceSpec['hints'];
}

export interface DatabasePlace {
  readonly storeKind: string;
  readonly path: string;
  readonly schema: StoreSchema;
}

/** Looks into a database that has the tables that are needed; else the fault says which it lacks. */
export const lookInto = <T>(
  walker: Walker,
  { path, schema }: Pick<DatabasePlace, 'path' | 'schema'>,
  look: (database: StoreDatabase) => T,
): { readonly value: T } | { readonly fault: SourceFault } =>
  walker.database(path, (database) => {
    checkSchema(database, schema);
    return look(database);
  });

/**
 * Sources of a database: one a session; the database itself where it has none, or cannot be read (it is reported then).
 * `list` may throw a source-scoped error for a schema it does not know.
 */
export function databaseSources(
  walker: Walker,
  { storeKind, path, schema }: DatabasePlace,
  list: (database: StoreDatabase) => readonly DatabaseMember[],
): SourceSpec[] {
  const whole = { storeKind, path, identity: path, name: '', hints: {}, sidecars: {} };
  const found = lookInto(walker, { path, schema }, list);
  if ('fault' in found) return [{ ...whole, fault: found.fault }];
  const size = walker.stat(path)?.size ?? 0;
  if (found.value.length === 0) return [{ ...whole, state: 'empty', bytes: 0 }];
  return found.value.map(({ member, state, bytes, hints }) => ({
    ...whole,
    identity: `${path}#${member}`,
    name: member,
    hints: hints ?? {},
    member,
    state,
    bytes: bytes ?? Math.ceil(size / found.value.length),
  }));
}
