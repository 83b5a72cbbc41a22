/** The oldest chats: tabs in the key-value store of a window. */
import { createHash } from 'node:crypto';
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import { asObject, type Json, nameField, objectsField } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';

export const schema: StoreSchema = { product: 'Cursor', layouts: [{ tables: { ItemTable: ['key', 'value'] } }] };

const KEY = 'workbench.panel.aichat.view.aichat.chatdata';
const MAX_BYTES = 64 * 1024 * 1024;

function tabsOf(database: StoreDatabase, limit: number): Json[] {
  const [row] = database.all(`SELECT ${cappedColumn('value', limit)} FROM ItemTable WHERE key = ?`, KEY);
  const data = row === undefined || row['value'] === null ? null : asObject(jsonColumn(row, 'value'));
  return data === null ? [] : [...objectsField(data, 'tabs')].filter((tab) => objectsField(tab, 'bubbles').length > 0);
}

const idOf = (tab: Json, index: number): string => nameField(tab, 'tabId') ?? `tab-${index}`;

export const listChats = (database: StoreDatabase): { member: string; state: string; bytes: number }[] =>
  tabsOf(database, MAX_BYTES).map((tab, index) => {
    const text = JSON.stringify(tab);
    return { member: idOf(tab, index), state: createHash('sha1').update(text).digest('hex'), bytes: text.length };
  });

export function* queryTabs(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const tab = tabsOf(database, limit).find((other, index) => idOf(other, index) === member);
  if (tab !== undefined) yield { locator: `ItemTable/${KEY}`, value: () => tab };
}
