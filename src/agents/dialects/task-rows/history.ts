/** What the history of a task's requests tells of its rows: the folder, and the model at each time. */
import { blockText } from '../anthropic.ts';
import { asObject, field, type Json, numberField, stringField } from '../json.ts';

const FOLDER = /# Current (?:Working|Workspace) Directory \(([^)\n]*)\)/;
const MODEL = /<model>([^<\n]+)<\/model>/;
const ENVIRONMENT = '<environment_details>';

/** The folder in an environment block; null where the text holds none. */
export const folderIn = (text: string): string | null => FOLDER.exec(text)?.[1] ?? null;

export class HistoryFacts {
  cwd: string | null = null;
  /** Models by time, in order; a message without a time has its place in the list. */
  private readonly models: { readonly ts: number | null; readonly model: string }[] = [];
  private readonly byUserMessage: (string | null)[] = [];

  /** Takes what user messages say; replies may quote anything. */
  add(message: Json): void {
    if (stringField(message, 'role') !== 'user') return;
    const text = blockText(field(message, 'content')) ?? '';
    const at = text.indexOf(ENVIRONMENT);
    const environment = at === -1 ? null : text.slice(at);
    const model = environment === null ? null : (MODEL.exec(environment)?.[1]?.trim() ?? null);
    if (environment !== null) this.cwd ??= folderIn(environment);
    this.byUserMessage.push(model ?? this.byUserMessage.at(-1) ?? null);
    if (model !== null) this.models.push({ ts: numberField(message, 'ts'), model });
  }

  /** The model of a row: of the last user message not after it; where those have no times, by the number of requests. */
  modelAt(ts: number | null, request: number): string | null {
    if (this.models.some(({ ts: time }) => time === null))
      return this.byUserMessage[request - 1] ?? this.byUserMessage.at(-1) ?? null;
    let found: string | null = null;
    for (const { ts: time, model } of this.models) if (ts === null || time! <= ts) found = model;
    return found;
  }
}

/** The messages of a history; null where the document is no list. */
export const messagesOf = (document: unknown): readonly Json[] | null =>
  Array.isArray(document) ? document.map(asObject).filter((message) => message !== null) : null;
