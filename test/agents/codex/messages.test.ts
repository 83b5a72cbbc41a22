import { describe, expect, test } from 'vitest';
import { decode, made } from './driver.ts';
import { assistant, event, item, meta, PARENT, turn, user } from './lines.ts';

const messagesOf = (lines: readonly unknown[]) => decode(made(PARENT, [meta(PARENT), ...lines])).messages;
const only = (lines: readonly unknown[]) => {
  const rows = messagesOf(lines);
  expect(rows).toHaveLength(1);
  return rows[0];
};

describe('who said it', () => {
  test('developer messages are system and meta', () => {
    expect(
      only([item('message', { role: 'developer', content: [{ type: 'input_text', text: 'rules' }] })]),
    ).toMatchObject({
      role: 'system',
      is_meta: true,
      text: 'rules',
      model: null,
    });
  });

  test('one row an item: text items joined by a line feed, images only named', () => {
    const content = [
      { type: 'input_text', text: 'a' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'input_text', text: 'b' },
    ];
    expect(only([item('message', { role: 'user', content })])).toMatchObject({
      text: 'a\nb',
      content_kinds: ['text', 'image'],
    });
  });

  test('a message whose role is not known is a damaged line', () => {
    const out = decode(made(PARENT, [meta(PARENT), item('message', { role: 7, content: [] }), assistant('hi')]));
    expect([out.messages.length, out.lineErrors]).toEqual([1, 1]);
  });

  test('the id and phase of the item are kept', () => {
    expect(only([assistant('done', { id: 'msg_1', phase: 'final_answer' })])).toMatchObject({
      message_id: 'msg_1',
      kind: 'final_answer',
    });
  });
});

describe('what nobody typed', () => {
  const injected = [
    '<environment_context>\n</environment_context>',
    '  \n# AGENTS.md instructions for /home/dev/app\n\nbe kind',
    '<user_instructions>x',
    '<turn_aborted>',
    '<skill>\n<name>review</name>',
    '<user_shell_command>ls',
    '<subagent_notification>{}',
    '<recommended_plugins>',
    '<goal_context>',
    '<codex_internal_context kind="x">',
    '<hook_prompt name="y">',
    '<external_codex_apps_open_page>',
  ];
  test.each(injected)('a user message that begins %j is meta', (text) => {
    expect(only([user(text)])).toMatchObject({ role: 'user', is_meta: true, text });
  });

  const typed = [
    '<skills> are what I want',
    '<codex_internal_context>',
    '<html>',
    '#AGENTS.md instructions',
    'see <environment_context>',
    '<EXTERNAL SESSION IMPORTED>',
    '',
  ];
  test.each(typed)('a user message that begins %j was typed', (text) => {
    expect(only([user(text)])?.is_meta).toBe(false);
  });

  test('a message that mixes both holds the typed items only', () => {
    expect(
      only([user(['<environment_context></environment_context>', 'do it', '<turn_aborted>', 'please'])]),
    ).toMatchObject({
      text: 'do it\nplease',
      is_meta: false,
    });
  });

  test('several injected items are one meta message', () => {
    expect(only([user(['# AGENTS.md instructions', '<environment_context>'])])).toMatchObject({
      text: '# AGENTS.md instructions\n<environment_context>',
      is_meta: true,
    });
  });

  const kinds = (...names: unknown[]) => ({
    internal_chat_message_metadata_passthrough: { content_item_kinds: names },
  });
  test('where the row names the kinds of its items, they decide and not the beginnings', () => {
    expect(only([user('<skill> is the word I typed', kinds('user.text'))])?.is_meta).toBe(false);
    expect(only([user('Be brief.', kinds('hooks.additional_context'))])?.is_meta).toBe(true);
    expect(only([user(['Be brief.', 'do it'], kinds('hooks.additional_context', 'user.text'))])).toMatchObject({
      text: 'do it',
      is_meta: false,
    });
  });

  test('kinds for another number of items say nothing', () => {
    expect(only([user('<skill>x', kinds('user.text', 'user.text'))])?.is_meta).toBe(true);
    expect(only([user('plain', kinds())])?.is_meta).toBe(false);
  });
});

describe('reasoning', () => {
  const reasoning = (summary: string[], content: string[] | null) =>
    item('reasoning', {
      summary: summary.map((text) => ({ type: 'summary_text', text })),
      content: content?.map((text) => ({ type: 'reasoning_text', text })) ?? null,
      encrypted_content: 'gAAA',
    });

  test('it is a row of its own: summaries, then raw texts that do not repeat them', () => {
    expect(only([turn('t', 'model-a'), reasoning(['one', 'two'], ['two', 'three'])])).toMatchObject({
      role: 'assistant',
      text: null,
      thinking: 'one\ntwo\nthree',
      model: 'model-a',
    });
  });

  test('only encrypted reasoning is no row', () => {
    expect(messagesOf([reasoning([], null)])).toEqual([]);
  });
});

describe('events that mirror messages', () => {
  const mirrors = [
    event('user_message', { message: 'hello', images: ['data:image/png;base64,AA'] }),
    event('agent_reasoning', { text: 'hm' }),
    event('agent_message', { message: 'hi there' }),
    event('item_completed', { item: { type: 'UserMessage', content: [{ type: 'text', text: 'again' }] } }),
    event('item_completed', {
      item: { type: 'AgentMessage', content: [{ type: 'Text', text: 'yes' }], phase: 'commentary' },
    }),
    event('item_completed', { item: { type: 'Reasoning', summary_text: ['because'], raw_content: [] } }),
    event('item_completed', { item: { type: 'Plan', text: 'a plan' } }),
  ];

  test('they are no messages in a file with a response item message, even a later one', () => {
    const out = decode(made(PARENT, [meta(PARENT), ...mirrors, assistant('hi there')]));
    expect(out.messages.map((row) => row.text)).toEqual(['hi there']);
    expect(out.ignoredTypes).toMatchObject({ 'event_msg/user_message': 1, 'event_msg/item_completed': 4 });
  });

  test('they are the messages of a file that has none', () => {
    expect(messagesOf(mirrors).map((row) => [row.role, row.text ?? row.thinking, row.content_kinds])).toEqual([
      ['user', 'hello', ['text', 'image']],
      ['assistant', 'hm', ['thinking']],
      ['assistant', 'hi there', ['text']],
      ['user', 'again', ['text']],
      ['assistant', 'yes', ['text']],
      ['assistant', 'because', ['thinking']],
    ]);
  });
});

test('types that are not known are counted by name, known ones without rows as ignored', () => {
  const out = decode(
    made(PARENT, [
      meta(PARENT),
      item('telepathy', {}),
      event('hum', {}),
      { timestamp: 'x', type: 'rollout_reference', payload: {} },
      { type: 'oracle' },
      item('ghost_snapshot', {}),
      event('task_complete', {}),
      { timestamp: 'x', type: 'compacted', payload: { message: 'so far' } },
    ]),
  );
  expect(out.unknownTypes).toEqual({
    'response_item/telepathy': 1,
    'event_msg/hum': 1,
    rollout_reference: 1,
    'response_item/oracle': 1,
  });
  expect(out.ignoredTypes).toEqual({ 'response_item/ghost_snapshot': 1, 'event_msg/task_complete': 1, compacted: 1 });
  expect(out.messages).toEqual([]);
});
