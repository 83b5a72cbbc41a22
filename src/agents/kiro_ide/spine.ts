/** A spine: the history of a session, whose replies stand in the files of their executions. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import {
  asObject,
  dig,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, textHint, toolCallFields } from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { contentText } from './content.ts';
import { executionSidecar } from './paths.ts';

/** What stands in a history beside an execution that has the answer (peer). */
const PLACEHOLDER = 'On it.';
const CALLS = new Set(['replace', 'create', 'readCode']);

export class SpineDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  /** Executions that were told: entries of one execution share its answer. */
  private readonly told = new Map<string, string | null>();

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const spine = asObject(frame.json());
    if (spine === null || !Array.isArray(field(spine, 'history')))
      throw sourceError('foreign_schema', 'is no session: it has no history');
    const { source } = this.context;
    const sessionId = nameField(spine, 'sessionId') ?? source.name;
    listField(spine, 'history').forEach((value, index) => {
      const position: Position = { ordinal: index, byteStart: null, byteEnd: null, locator: `/history/${index}` };
      const entry = asObject(value);
      const message = entry === null ? null : objectField(entry, 'message');
      if (entry === null || message === null)
        this.out.badRecord(position, 'wrong_type', 'the entry of the history holds no message object');
      else this.entry(entry, message, sessionId, position);
    });
    this.out.session(
      sessionFields({
        session_id: sessionId,
        origin: 'ide',
        title: nameField(spine, 'title') ?? textHint(source, 'title'),
        cwd: nameField(spine, 'workspaceDirectory') ?? textHint(source, 'cwd'),
      }),
    );
  }

  finish(): void {}

  private entry(entry: Json, message: Json, sessionId: string, position: Position): void {
    const role = stringField(message, 'role');
    if (role !== 'user' && role !== 'assistant') {
      if (role === 'tool') this.out.ignored('history/tool');
      else this.out.unknown(`history/${role ?? '(no role)'}`);
      return;
    }
    const id = nameField(message, 'id');
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(sessionId, id, slot, position);
    reportContent(field(message, 'content'), position, this.out);
    const content = contentText(field(message, 'content'));
    const executionId = role === 'assistant' ? nameField(entry, 'executionId') : null;
    const wasTold = executionId !== null && this.told.has(executionId);
    const execution = executionId === null || wasTold ? null : this.execution(executionId, position);
    const actions = execution === null ? [] : objectsField(execution, 'actions');
    const answer = answerIn(actions);
    if (executionId !== null && !wasTold) this.told.set(executionId, answer);
    const isPlaceholder = wasTold && content === PLACEHOLDER && (this.told.get(executionId as string) ?? null) !== null;
    const text = isPlaceholder ? null : (answer ?? content ?? (role === 'assistant' ? completionsOf(entry) : null));
    if (text !== null) {
      this.out.message(
        at('message'),
        messageFields({ role, message_id: id, record_id: id, text, content_kinds: ['text'] }),
      );
    }
    for (const [index, action] of actions.entries()) this.action(action, index, id, at);
  }

  /** null where the file is absent: not all are kept. */
  private execution(id: string, position: Position): Json | null {
    const name = executionSidecar(id);
    const bytes = Object.hasOwn(this.context.sidecars, name) ? this.context.sidecars[name] : undefined;
    if (bytes === undefined) return null;
    const execution = asObject(parseOrUndefined(bytes.toString('utf8')));
    if (execution === null)
      this.out.issue('warning', 'malformed_json', 'the file of an execution does not parse as a JSON object', position);
    return execution;
  }

  private action(
    action: Json,
    index: number,
    messageId: string | null,
    at: (slot: string) => ReturnType<typeof eventAt>,
  ): void {
    const type = stringField(action, 'actionType') ?? '(no type)';
    if (type === 'say') return;
    if (!CALLS.has(type)) {
      this.out.unknown(`action/${type}`);
      return;
    }
    const callId = nameField(action, 'actionId');
    const input = field(action, 'input');
    this.out.toolCall(
      at(`call:${callId ?? index}`),
      toolCallFields({
        message_id: messageId,
        call_id: callId,
        ...identifyTool(type, input),
        arguments: jsonText(input),
      }),
    );
  }
}

/** What an execution said; null where that is nothing. */
function answerIn(actions: readonly Json[]): string | null {
  const said = actions
    .filter((action) => stringField(action, 'actionType') === 'say')
    .map((action) => dig(action, 'output', 'message'))
    .map((message) => (typeof message === 'string' && message.trim() !== '' ? message : null));
  return joinTexts(said);
}

const completionsOf = (entry: Json): string | null =>
  joinTexts(objectsField(entry, 'promptLogs').map((log) => stringField(log, 'completion')?.trim() ?? null));
