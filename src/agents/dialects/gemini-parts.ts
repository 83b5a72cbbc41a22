/** Parts as the Gemini API spells them: text, thoughts, calls and their answers. Gemini CLI, Qwen Code and others. */
import { asObject, boolField, field, type Json, jsonText, nameField, objectField, stringField } from './json.ts';

export interface FunctionCall {
  readonly id: string | null;
  readonly name: string | null;
  readonly args: unknown;
}

export interface FunctionResponse {
  readonly id: string | null;
  readonly name: string | null;
  readonly response: Json | null;
}

export interface Parts {
  readonly texts: readonly string[];
  readonly thoughts: readonly string[];
  readonly calls: readonly FunctionCall[];
  readonly responses: readonly FunctionResponse[];
  /** Kinds of the parts, each once. */
  readonly kinds: readonly string[];
}

/** Reads content: a string, one part, or a list of both. `unknown` is told what is no known part. */
export function readParts(content: unknown, unknown: (type: string) => void): Parts {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: FunctionCall[] = [];
  const responses: FunctionResponse[] = [];
  const kinds = new Set<string>();
  for (const value of Array.isArray(content) ? content : [content]) {
    if (typeof value === 'string') {
      texts.push(value);
      if (value !== '') kinds.add('text');
      continue;
    }
    const part = asObject(value);
    if (part === null) continue;
    const text = stringField(part, 'text');
    const call = objectField(part, 'functionCall');
    const answer = objectField(part, 'functionResponse');
    if (call !== null) {
      calls.push({ id: nameField(call, 'id'), name: nameField(call, 'name'), args: field(call, 'args') });
      kinds.add('tool_use');
    } else if (answer !== null) {
      responses.push({
        id: nameField(answer, 'id'),
        name: nameField(answer, 'name'),
        response: objectField(answer, 'response'),
      });
      kinds.add('tool_result');
    } else if (text !== null) {
      const isThought = boolField(part, 'thought') === true;
      (isThought ? thoughts : texts).push(text);
      kinds.add(isThought ? 'thinking' : 'text');
    } else {
      const kind = Object.keys(part).find((key) => Object.hasOwn(KINDS, key));
      if (kind === undefined) unknown(`part/${Object.keys(part)[0] ?? '(empty)'}`);
      else kinds.add(KINDS[kind]!);
    }
  }
  return { texts, thoughts, calls, responses, kinds: [...kinds] };
}

const KINDS: Readonly<Record<string, string>> = {
  inlineData: 'image',
  fileData: 'file',
  executableCode: 'code',
  codeExecutionResult: 'code_result',
};

/** Whether a tool failed: by the status beside its answer, else by which member the answer has; null: not said. */
export function isFailed(status: string | null, response: Json | null): boolean | null {
  if (status === 'error' || status === 'cancelled') return true;
  if (status === 'success') return false;
  if (response === null) return null;
  if (Object.hasOwn(response, 'error')) return true;
  return Object.hasOwn(response, 'output') ? false : null;
}

/** Text and structure of an answer: `output` or `error` where that is a text, else the whole as JSON. */
export function answerOf(response: Json | null): { output: string | null; output_json: string | null } {
  if (response === null) return { output: null, output_json: null };
  const text = stringField(response, 'output') ?? stringField(response, 'error');
  return { output: text, output_json: text !== null && Object.keys(response).length === 1 ? null : jsonText(response) };
}
