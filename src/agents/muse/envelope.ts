/** The envelopes of a log, and what they say of the session as a whole. */
import {
  asObject,
  field,
  type Json,
  nameField,
  numberField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { NO_TIME, type Time } from '../dialects/rows.ts';

export interface Envelope {
  readonly id: string | null;
  readonly streamId: string | null;
  readonly sequence: number | null;
  readonly version: number | null;
  readonly time: Time;
  readonly type: string;
  readonly payload: Json;
}

/** Envelopes in a record: itself, or those of a frame around several; null for one that does not parse. */
export function unwrapped(record: Json): (Json | null)[] {
  if (field(record, 'retained_frame') === undefined) return [record];
  return objectsField(record, 'children').map((child) =>
    asObject(parseOrUndefined(stringField(child, 'record_json') ?? '')),
  );
}

/** Null where no payload is named. */
export function readEnvelope(record: Json): Envelope | null {
  const type = nameField(record, 'payload_type');
  if (type === null) return null;
  const stream = objectField(record, 'stream');
  return {
    id: nameField(record, 'id'),
    streamId: stream === null ? null : nameField(stream, 'id'),
    sequence: numberField(record, 'sequence'),
    version: numberField(record, 'schema_version'),
    time: timeOf(field(record, 'recorded_at')),
    type,
    payload: objectField(record, 'payload') ?? {},
  };
}

/** Microseconds; readers have also seen milliseconds and seconds, which sizes tell apart. Cut off, not rounded. */
function timeOf(value: unknown): Time {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return NO_TIME;
  const millis = value >= 1e14 ? value / 1000 : value >= 1e11 ? value : value * 1000;
  return { timestamp: Math.trunc(millis), timestampText: String(value) };
}

/** What the log says of the session. */
export interface Facts {
  readonly workspace: string | null;
  readonly cwd: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly version: string | null;
  readonly title: string | null;
}

export const noFacts: Facts = { workspace: null, cwd: null, model: null, provider: null, version: null, title: null };

/** The facts, with what an envelope adds to them. */
export function withFacts(facts: Facts, { type, payload }: Envelope): Facts {
  const record = objectField(payload, 'record') ?? {};
  if (type === 'runtime.session.metadata') {
    const build = objectField(record, 'build');
    const workspace = nameField(record, 'workspace_root') ?? facts.workspace;
    return {
      ...facts,
      workspace,
      cwd: workspace ?? facts.cwd,
      model: nameField(record, 'model_id') ?? facts.model,
      provider: nameField(record, 'provider_id') ?? facts.provider,
      version: (build === null ? nameField(record, 'build') : nameField(build, 'semver')) ?? facts.version,
    };
  }
  if (type === 'runtime.session.route_facts')
    return { ...facts, cwd: facts.workspace ?? nameField(record, 'cwd') ?? facts.cwd };
  // The program makes up names too.
  if (type === 'session.name.changed' && stringField(payload, 'source') !== 'automatic')
    return { ...facts, title: nameField(payload, 'new_name') ?? facts.title };
  return facts;
}
