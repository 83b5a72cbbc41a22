/**
 * What spans say, found once though they are written several times: of the copies of one thing the best is told. Which
 * one that is depends on all files of a folder, so that finds can be compared without what they say.
 */
import { hash } from 'node:crypto';
import type { Position } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import type { Span } from './span.ts';

/** How good a copy is: the first number that differs decides, the greater the better. */
export type Scores = readonly [number, number, number, number];
export const SCORES = 4;

interface CommonFind {
  readonly key: number;
  readonly scores: Scores;
  readonly span: Span;
  readonly position: Position;
}

export type Find = CommonFind &
  (
    | { readonly kind: 'user'; readonly id: string; readonly text: string }
    | { readonly kind: 'reply'; readonly id: string; readonly text: string }
    | { readonly kind: 'usage'; readonly id: string }
    | {
        readonly kind: 'call';
        readonly id: string;
        readonly callId: string | null;
        readonly name: string | null;
        readonly arguments: string | null;
        readonly result: string | null;
      }
  );

export const isBetter = (a: Scores, b: Scores): boolean => {
  for (let i = 0; i < SCORES; i++) if (a[i] !== b[i]) return a[i]! > b[i]!;
  return false;
};

const digest = (text: string): string => hash('sha1', text, 'base64');

export const isChat = ({ operation, name }: Span): boolean =>
  operation === 'chat' || (name.startsWith('chat ') && operation !== 'execute_tool' && operation !== 'invoke_agent');

/** What a span of a conversation says; `fault` is told of attributes that cannot be read, `unknown` of other parts. */
export function findsOf(
  span: Span,
  position: Position,
  { fault, unknown }: { fault: (name: string) => void; unknown: (type: string) => void },
): Find[] {
  const find = <K extends object>(kind: string, id: string, scores: Scores, rest: K) => ({
    key: hash53(`${kind} ${span.conversation} ${id}`),
    id,
    scores,
    span,
    position,
    ...rest,
  });
  const { attributes } = span;
  const end = span.end.timestamp ?? 0;
  const text = (name: string): string | null => nameField(attributes, name);
  if (span.operation === 'execute_tool') {
    const callId = text('gen_ai.tool.call.id');
    const result = text('gen_ai.tool.call.result');
    const called = { callId, name: text('gen_ai.tool.name'), arguments: text('gen_ai.tool.call.arguments'), result };
    const id = callId ?? span.id ?? digest(JSON.stringify(called));
    return [find('call', id, [1, result === null ? 0 : 1, end, 0], { kind: 'call' as const, ...called })];
  }
  if (!isChat(span)) return [];
  const messages = (name: string): readonly Json[] => messagesIn(field(attributes, name), () => fault(name));
  const finds: Find[] = [];
  const typed = lastTyped(messages('gen_ai.input.messages'));
  if (typed !== null) {
    // All steps of a turn begin with the same prompt: the first of them tells it.
    const root = text('copilot_chat.root_request_id');
    const id = root === null ? `text ${digest(typed)}` : `request ${root}`;
    const scores: Scores = [-(span.start.timestamp ?? Number.MAX_SAFE_INTEGER), 0, 0, 0];
    finds.push(find('user', id, scores, { kind: 'user' as const, text: typed }));
  }
  const output = messages('gen_ai.output.messages').filter((message) => field(message, 'role') === 'assistant');
  const parts = output.flatMap((message) => objectsField(message, 'parts'));
  for (const part of parts) {
    const type = stringField(part, 'type') ?? '(no type)';
    if (type !== 'text' && type !== 'tool_call') unknown(`part/${type}`);
  }
  const said = joinTexts(parts.map((part) => (field(part, 'type') === 'text' ? stringField(part, 'content') : null)));
  const calls = parts.filter((part) => field(part, 'type') === 'tool_call');
  const [input, produced] = [tokens(attributes, 'input'), tokens(attributes, 'output')];
  const richness: Scores = [calls.length, said?.length ?? 0, (input ?? 0) + (produced ?? 0), end];
  const id = span.id ?? `text ${digest(said ?? '')}`;
  if (said !== null && said.trim() !== '')
    finds.push(find('reply', id, richness, { kind: 'reply' as const, text: said }));
  if (field(attributes, INPUT) !== undefined || field(attributes, OUTPUT) !== undefined)
    finds.push(find('usage', id, [produced ?? -1, input ?? -1, 0, 0], { kind: 'usage' as const }));
  calls.forEach((part, index) => {
    const callId = nameField(part, 'id');
    const called = {
      callId,
      name: nameField(part, 'name'),
      arguments: jsonText(field(part, 'arguments')),
      result: null,
    };
    // A span of the call itself says more.
    const scores: Scores = callId === null ? richness : [0, 0, end, 0];
    finds.push(find('call', callId ?? `${id} ${index}`, scores, { kind: 'call' as const, ...called }));
  });
  return finds;
}

export const INPUT = 'gen_ai.usage.input_tokens';
export const OUTPUT = 'gen_ai.usage.output_tokens';

function tokens(attributes: Json, kind: 'input' | 'output'): number | null {
  const value = field(attributes, kind === 'input' ? INPUT : OUTPUT);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function messagesIn(value: unknown, fault: () => void): readonly Json[] {
  if (value === undefined || value === null || value === '') return [];
  const list = typeof value === 'string' ? parseOrUndefined(value) : value;
  if (!Array.isArray(list)) {
    fault();
    return [];
  }
  return list.map(asObject).filter((message) => message !== null);
}

/** What came before it is what was said earlier. */
function lastTyped(messages: readonly Json[]): string | null {
  for (const message of [...messages].reverse()) {
    if (field(message, 'role') !== 'user') continue;
    const text = joinTexts(objectsField(message, 'parts').map((part) => stringField(part, 'content')?.trim() ?? null));
    if (text !== null) return text;
  }
  return null;
}

/** The best find of each key, of those that one file holds. */
export class BestFinds {
  private readonly finds = new Map<number, Find>();

  add(find: Find): void {
    const best = this.finds.get(find.key);
    if (best === undefined || isBetter(find.scores, best.scores)) this.finds.set(find.key, find);
  }

  /** By the beginning of their spans, then as they stand. */
  inOrder(): Find[] {
    const start = ({ span }: Find): number => span.start.timestamp ?? Number.MAX_SAFE_INTEGER;
    return [...this.finds.values()].sort((a, b) => start(a) - start(b) || a.position.ordinal - b.position.ordinal);
  }
}
