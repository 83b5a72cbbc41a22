/** The TypeScript CLI of early 2025: one JSON document a session, `{session: {…}, items: […]}`; no times, no usage. */

import { sourceError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { asObject, field, objectField, stringField } from './guards.ts';
import { readHeader, threadIdOfName } from './header.ts';
import { tellItem } from './items.ts';
import { readLine } from './line.ts';
import { environmentCwd } from './messages.ts';
import { sessionFields } from './session.ts';

const OWN = { isCopy: false, isActive: true, model: null };

/** Decodes the one frame of such a document. Its sessions cannot be resumed: the later CLIs do not read them. */
export function documentDecoder({ source }: DecodeContext, out: Emitter): Decoder {
  const tellElement = (value: unknown, ordinal: number, sessionId: string): void => {
    const position = { ordinal, byteStart: null, byteEnd: null, locator: `/items/${ordinal}` };
    const line = readLine(value);
    if (typeof line === 'string') {
      out.badRecord(position, line, 'The item is no object.');
      return;
    }
    const at = (slot: string): EventAt => ({
      sessionId,
      nativeId: null,
      slot,
      position,
      timestamp: null,
      timestampText: null,
    });
    tellItem(line, { at, state: () => OWN }, out);
  };
  return {
    frame(frame: Frame): void {
      const document = asObject(frame.json());
      const session = document === null ? null : objectField(document, 'session');
      const items = document === null ? undefined : (field(document, 'items') ?? []);
      if (session === null || !Array.isArray(items))
        throw sourceError('foreign_schema', 'The document has no session object with a list of items.');
      const header = readHeader(session, threadIdOfName(source.name));
      items.forEach((item: unknown, ordinal: number) => {
        tellElement(item, ordinal, header.id);
      });
      const prompts = items.map(asObject).filter((item) => item !== null && stringField(item, 'role') === 'user');
      const bareCwd = prompts.map((item) => environmentCwd(item ?? {})).find((cwd) => cwd !== null) ?? null;
      out.session(sessionFields(source, { header, threadName: null, bareCwd }, null));
    },
    finish(): void {},
  };
}
