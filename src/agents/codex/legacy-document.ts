/** The TypeScript CLI of early 2025: one JSON document a session, `{session: {…}, items: […]}`; no times, no usage. */

import { sourceError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { asObject, field, nameField, objectField, stringField } from './guards.ts';
import { readHeader, threadIdOfName } from './header.ts';
import { readLine } from './line.ts';
import { environmentCwd, messageItem, reasoningItem } from './messages.ts';
import { toolResult } from './results.ts';
import { sessionFields } from './session.ts';
import { toolCall } from './tools.ts';
import { IGNORED } from './types.ts';

const OWN = { isCopy: false, isActive: true, model: null };

/** Tells one element of `items`: like a bare line of the CLIs that followed. */
function tellItem(value: unknown, at: (slot: string) => EventAt, out: Emitter): void {
  const line = readLine(value);
  if (typeof line === 'string') return out.badRecord(at('item').position, line, 'The item is no object with a type.');
  const { payload } = line;
  const type = line.payloadType ?? '';
  if (type === 'message') {
    const message = messageItem(payload, OWN);
    if (message !== null) return out.message(at('message'), message);
    return out.badRecord(at('message').position, 'no_role', 'The message has no role that is known.');
  }
  if (type === 'reasoning') {
    const reasoning = reasoningItem(payload, OWN);
    if (reasoning !== null) out.message(at('message'), reasoning);
    return;
  }
  const call = toolCall(type, payload, false);
  if (call !== null) return out.toolCall(at('call'), call);
  const result = toolResult(type, payload, false);
  if (result !== null) return out.toolResult(at('result'), result);
  if (IGNORED.has(line.name)) out.ignored(line.name);
  else out.unknown(line.name);
}

/** Decodes the one frame of such a document. Its sessions cannot be resumed: the later CLIs do not read them. */
export function documentDecoder({ source }: DecodeContext, out: Emitter): Decoder {
  return {
    frame(frame: Frame): void {
      const document = asObject(frame.json());
      const session = document === null ? null : objectField(document, 'session');
      const items = document === null ? undefined : field(document, 'items');
      if (session === null || !(items === undefined || Array.isArray(items)))
        throw sourceError('foreign_schema', 'The document has no session object with a list of items.');
      const header = readHeader(session, threadIdOfName(source.name));
      let bareCwd: string | null = null;
      (items ?? []).forEach((item: unknown, ordinal: number) => {
        const position = { ordinal, byteStart: null, byteEnd: null, locator: `/items/${ordinal}` };
        const timestampText = nameField(asObject(item) ?? {}, 'timestamp');
        if (bareCwd === null && stringField(asObject(item) ?? {}, 'role') === 'user')
          bareCwd = environmentCwd(asObject(item) ?? {});
        const at = (slot: string): EventAt => ({
          sessionId: header.id,
          nativeId: null,
          slot,
          position,
          timestamp: null,
          timestampText,
        });
        tellItem(item, at, out);
      });
      out.session(sessionFields(source, { header, threadName: null, bareCwd }, null));
    },
    finish(): void {},
  };
}
