/** Tells calls and answers of tools in the forms in which dialects read them. */
import type { Emitter, EventAt } from '../agent.ts';
import { toolCallFields, toolResultFields } from './rows.ts';
import { identifyTool } from './tools.ts';

export interface ReadCall {
  readonly id: string | null;
  readonly name: string | null;
  readonly input: unknown;
  readonly arguments: string | null;
}

export interface ReadResult {
  readonly callId: string | null;
  readonly isError: boolean | null;
  readonly output: string | null;
  /** Where the answer is structured. */
  readonly outputJson?: string | null;
}

export interface ToolPlace {
  /** Of a slot in the record that holds the calls. */
  readonly at: (slot: string) => EventAt;
  readonly isCopy?: boolean;
  readonly messageId?: string | null;
}

/** Calls of a record; those without an id are known by their number. */
export function tellCalls(calls: readonly ReadCall[], { at, isCopy, messageId }: ToolPlace, out: Emitter): void {
  calls.forEach((call, index) => {
    out.toolCall(
      at(`call:${call.id ?? index}`),
      toolCallFields({
        is_copy: isCopy ?? false,
        message_id: messageId ?? null,
        call_id: call.id,
        ...identifyTool(call.name, call.input),
        arguments: call.arguments,
      }),
    );
  });
}

/** Answers in a record; those without the id of their call are known by their number. */
export function tellResults(results: readonly ReadResult[], { at, isCopy }: ToolPlace, out: Emitter): void {
  results.forEach((result, index) => {
    out.toolResult(
      at(`result:${result.callId ?? index}`),
      toolResultFields({
        is_copy: isCopy ?? false,
        call_id: result.callId,
        is_error: result.isError,
        output: result.output,
        output_json: result.outputJson ?? null,
      }),
    );
  });
}
