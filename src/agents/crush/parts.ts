/** Parts of a message: each names its type, and holds the rest under `data`. */
import type { Emitter } from '../agent.ts';
import {
  asObject,
  boolField,
  joinTexts,
  nameField,
  objectField,
  parseOrUndefined,
  stringField,
  textOrNull,
} from '../dialects/json.ts';
import type { ReadCall, ReadResult } from '../dialects/tell-tools.ts';

export interface Parts {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly calls: readonly ReadCall[];
  readonly results: readonly ReadResult[];
  readonly kinds: readonly string[];
  /** Type of the first part whose contents are not what its type says; null for none. */
  readonly damaged: string | null;
}

export function readParts(parts: readonly unknown[], out: Pick<Emitter, 'ignored' | 'unknown'>): Parts {
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const calls: ReadCall[] = [];
  const results: ReadResult[] = [];
  const kinds = new Set<string>();
  let damaged: string | null = null;
  for (const value of parts) {
    const part = asObject(value);
    const type = (part === null ? null : stringField(part, 'type')) ?? '(no type)';
    const data = part === null ? null : objectField(part, 'data');
    if (data === null) {
      damaged ??= type.slice(0, 100);
      continue;
    }
    switch (type) {
      case 'text':
        texts.push(stringField(data, 'text'));
        kinds.add('text');
        break;
      case 'reasoning':
        thoughts.push(stringField(data, 'thinking'));
        kinds.add('thinking');
        break;
      case 'tool_call': {
        const input = stringField(data, 'input');
        calls.push({
          id: nameField(data, 'id'),
          name: nameField(data, 'name'),
          input: input === null ? undefined : parseOrUndefined(input),
          arguments: textOrNull(input),
        });
        kinds.add('tool_use');
        break;
      }
      case 'tool_result': {
        // JSON of what the tool did, beside what the model was told.
        const metadata = stringField(data, 'metadata');
        results.push({
          callId: nameField(data, 'tool_call_id'),
          isError: boolField(data, 'is_error'),
          output: textOrNull(stringField(data, 'content')),
          outputJson: metadata !== null && parseOrUndefined(metadata) !== undefined ? metadata : null,
        });
        break;
      }
      case 'binary':
        kinds.add((stringField(data, 'MIMEType') ?? '').startsWith('image/') ? 'image' : 'file');
        break;
      case 'image_url':
        kinds.add('image');
        break;
      case 'finish':
        break;
      case 'shell_command':
        // A command that the user ran by hand.
        out.ignored('part/shell_command');
        break;
      default:
        out.unknown(`part/${type}`);
    }
  }
  return { text: joinTexts(texts), thinking: joinTexts(thoughts), calls, results, kinds: [...kinds], damaged };
}
