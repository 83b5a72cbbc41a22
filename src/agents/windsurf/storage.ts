/**
 * The chat panel's values in a window's key-value store. A value is one JSON document of tabs, or one session in the
 * form of VS Code's chat.
 */
import { createHash } from 'node:crypto';
import type { StoreDatabase } from '../../framing/database.ts';
import { recordError, ScopedError, sourceError } from '../../framing/errors.ts';
import { defaultLimits } from '../../framing/limits.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { asObject, field, type Json, listField, stringField } from '../dialects/json.ts';

/** In the order in which they count: a session under both is the first one's. */
const KEYS = ['workbench.panel.aichat.view.aichat.chatdata', 'aiChat.chatdata'];

/** Ids are trimmed: none begins so. */
const DAMAGED = ' damaged ';
const NAMELESS = 'workspace-';

interface Found {
  /** null: a session without one. */
  readonly id: string | null;
  readonly value: Json;
  readonly locator: string;
}

interface KeyContent {
  readonly sessions: readonly Found[];
  readonly damage: readonly { readonly locator: string; readonly error: ScopedError }[];
}

/** First text of a bubble that is not blank, trimmed. */
export function bubbleText(bubble: Json): string | null {
  for (const key of ['text', 'rawText', 'initText']) {
    const text = stringField(bubble, key)?.trim() ?? '';
    if (text !== '') return text;
  }
  return null;
}

const idIn = (object: Json, key: string): string | null => stringField(object, key)?.trim() || null;

function readKey(database: StoreDatabase, key: string, limit: number): KeyContent {
  const [row] = database.all(`SELECT ${cappedColumn('value', limit)} FROM ItemTable WHERE key = ?`, key);
  const locator = `ItemTable/${key}`;
  const damaged = (error: ScopedError, at = locator): KeyContent['damage'] => [{ locator: at, error }];
  let value: unknown;
  try {
    value = row === undefined ? null : jsonColumn(row, 'value');
  } catch (error) {
    if (error instanceof ScopedError && error.scope === 'record') return { sessions: [], damage: damaged(error) };
    throw error;
  }
  if (value === null) return { sessions: [], damage: [] };
  const document = asObject(value);
  if (document === null)
    return { sessions: [], damage: damaged(recordError('wrong_type', 'the value of the chat panel is no object')) };
  if (listField(document, 'requests').length > 0)
    return { sessions: [{ id: idIn(document, 'sessionId'), value: document, locator }], damage: [] };
  const tabs = field(document, 'tabs') ?? [];
  if (!Array.isArray(tabs))
    return { sessions: [], damage: damaged(recordError('wrong_type', 'the tabs of the chat panel are no list')) };
  const sessions: Found[] = [];
  const damage: KeyContent['damage'][number][] = [];
  tabs.forEach((entry, index) => {
    const tab = asObject(entry);
    const at = `${locator}/tabs/${index}`;
    if (tab === null) damage.push(...damaged(recordError('wrong_type', 'a tab of the chat panel is no object'), at));
    else if (idIn(tab, 'tabId') !== null && isTalkedIn(tab))
      sessions.push({ id: idIn(tab, 'tabId'), value: tab, locator: at });
  });
  return { sessions, damage };
}

const isTalkedIn = (tab: Json): boolean =>
  listField(tab, 'bubbles')
    .map(asObject)
    .some((bubble) => bubble !== null && bubbleText(bubble) !== null);

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Sessions, and what is damaged, which is told as a source of its own. `workspace`: name of the window's folder. */
export function listSessions(database: StoreDatabase, workspace = ''): DatabaseMember[] {
  const columns = database.columns('itemtable');
  if (columns?.has('key') !== true || !columns.has('value'))
    throw sourceError('foreign_schema', 'has no ItemTable of keys and values');
  const members = new Map<string, DatabaseMember>();
  KEYS.forEach((name, key) => {
    const { sessions, damage } = readKey(database, name, defaultLimits.maxLine);
    for (const { id, value } of sessions) {
      const member = id ?? `${NAMELESS}${workspace}`;
      const text = JSON.stringify(value);
      if (!members.has(member)) members.set(member, { member, state: sha1(text), bytes: text.length, hints: { key } });
    }
    if (damage.length > 0) {
      const state = sha1(damage.map(({ locator, error }) => `${locator} ${error.message}`).join('\n'));
      members.set(DAMAGED + name, { member: DAMAGED + name, state, bytes: 0, hints: { key, isDamaged: true } });
    }
  });
  return [...members.values()];
}

const throwing = (locator: string, error: ScopedError): StoreRow => ({
  locator,
  value: () => {
    throw error;
  },
});

export function* querySession(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const tooLong: StoreRow[] = [];
  for (const key of KEYS) {
    const { sessions, damage } = readKey(database, key, limit);
    const isDamage = member === DAMAGED + key;
    for (const { locator, error } of damage) {
      if (isDamage) yield throwing(locator, error);
      else if (error.code === 'record_too_long') tooLong.push(throwing(locator, error));
    }
    const found = sessions.find(({ id }) => (id === null ? member.startsWith(NAMELESS) : id === member));
    if (found !== undefined && !isDamage) {
      yield { locator: found.locator, value: () => found.value };
      return;
    }
  }
  // The session was seen when there was no such limit.
  if (!member.startsWith(DAMAGED)) yield* tooLong;
}
