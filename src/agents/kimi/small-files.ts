/** Small files beside the logs. */
import type { Walker } from '../agent.ts';
import { asObject, type Json, parseOrUndefined } from '../dialects/json.ts';

const MAX_STATE = 16 * 1024 * 1024;

/** A small file that holds one object; null where there is none. */
export function readObject(path: string, walker: Walker): Json | null {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_STATE) : null;
  return bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
}
