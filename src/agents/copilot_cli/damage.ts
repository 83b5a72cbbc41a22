/** What is lost in an event whose data, or what was said in it, has the wrong type. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { asObject, field, type Json } from '../dialects/json.ts';

export function reportDamage(type: string, event: Json, position: Position, out: Emitter): void {
  const data = field(event, 'data');
  const object = asObject(data);
  if (object !== null) {
    if (type.endsWith('.message')) reportContent(field(object, 'content'), position, out);
  } else if (data !== undefined) out.badRecord(position, 'wrong_type', 'the data of the event is no object');
}
