/** Tool results, and whether they failed: no flag is stored, so only what the output says of itself counts. */
import type { ToolResultFields } from '../agent.ts';
import { asObject, field, type Json, nameField, numberField, objectField, stringField } from './guards.ts';

/** A header is a few lines; anything longer before `Output:` is output itself. */
const MAX_HEADER = 4096;

/** The lines before the line `Output:`; null where there are none. */
function headerOf(output: string): string | null {
  const start = output.slice(0, MAX_HEADER);
  const end = start.startsWith('Output:') ? 0 : start.indexOf('\nOutput:');
  return end === -1 ? null : start.slice(0, end);
}

const exitFailed = (code: number | null): boolean | null => (code === null ? null : code !== 0);

function headerFailed(header: string | null): boolean | null {
  const code =
    header === null ? undefined : /^(?:Process exited with code|Exit code:) (-?\d+)[ \t\r]*$/m.exec(header)?.[1];
  return code === undefined ? null : exitFailed(Number(code));
}

/** `{"output":"…","metadata":{"exit_code":N,…}}`, as the shell tools and `apply_patch` answer. */
function envelopeOf(output: string): Json | null {
  if (!/^\s*\{/.test(output) || !output.includes('"metadata"')) return null;
  try {
    const envelope = asObject(JSON.parse(output));
    return envelope !== null && objectField(envelope, 'metadata') !== null ? envelope : null;
  } catch {
    return null;
  }
}

type Outcome = Pick<ToolResultFields, 'is_error' | 'output' | 'output_json'>;

function ofText(output: string): Outcome {
  const envelope = envelopeOf(output);
  if (envelope === null) return { is_error: headerFailed(headerOf(output)), output, output_json: null };
  const metadata = objectField(envelope, 'metadata') ?? {};
  const { output: inner, ...rest } = envelope;
  const text = typeof inner === 'string' ? inner : output;
  return {
    is_error: exitFailed(numberField(metadata, 'exit_code')),
    output: text,
    output_json: typeof inner === 'string' ? JSON.stringify(rest) : null,
  };
}

/** Blocks are read as their joined texts; a script tool says `Script failed` in the header. Images are left out. */
function ofBlocks(blocks: readonly unknown[]): Outcome {
  const texts = blocks.map((block) => stringField(asObject(block) ?? {}, 'text')).filter((text) => text !== null);
  const outcome = ofText(texts.join('\n'));
  const failed = /^Script failed[ \t\r]*$/m.test(headerOf(texts.join('\n')) ?? '');
  return { ...outcome, is_error: failed ? true : outcome.is_error, output: texts.length === 0 ? null : outcome.output };
}

/** Outputs that are neither text nor blocks: kept as JSON. */
const ofOther = (value: unknown): Outcome => ({
  is_error: null,
  output: null,
  output_json: value === undefined || value === null ? null : JSON.stringify(value),
});

/** The result that a response item of this type is; null for other types. */
export function toolResult(type: string, payload: Json, isCopy: boolean): ToolResultFields | null {
  const place = { is_copy: isCopy, call_id: nameField(payload, 'call_id') };
  if (type === 'tool_search_output') return { ...place, ...ofOther(field(payload, 'tools')) };
  if (type !== 'function_call_output' && type !== 'custom_tool_call_output') return null;
  const output = field(payload, 'output');
  if (typeof output === 'string') return { ...place, ...ofText(output) };
  return { ...place, ...(Array.isArray(output) ? ofBlocks(output) : ofOther(output)) };
}
