/** What was lost must not pass for what was never there: damaged heads, lists and contents of documents and logs. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyOf, parseRows, run } from './support/command.ts';
import { argumentsOf, casesOf, environmentOf } from './support/corpus.ts';

type Damage = (content: Buffer) => Buffer | string;

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

const firstLine =
  (damage: (line: string) => string): Damage =>
  (content) => {
    const [first = '', ...others] = content.toString('utf8').split('\n');
    return [damage(first), ...others].join('\n');
  };

const document =
  (damage: (value: Record<string, unknown>) => unknown): Damage =>
  (content) =>
    JSON.stringify(damage(JSON.parse(content.toString('utf8')) as Record<string, unknown>));

const eachLine =
  (damage: (value: Record<string, unknown>) => unknown): Damage =>
  (content) =>
    content
      .toString('utf8')
      .split('\n')
      .map((line) => (line === '' ? '' : JSON.stringify(damage(JSON.parse(line) as Record<string, unknown>))))
      .join('\n');

/** Reads a damaged copy of a case's store; `matching` files are damaged. */
async function readDamaged(agent: string, name: string, matching: RegExp, damage: Damage) {
  const found = casesOf().find((one) => one.agent === agent && one.name === name);
  if (found === undefined) throw new Error(`there is no case ${agent}/${name}`);
  const store = copyOf(found.store);
  const damaged = filesBelow(store).filter((path) => matching.test(path));
  expect(damaged.length).toBeGreaterThan(0);
  for (const path of damaged) writeFileSync(path, damage(readFileSync(path)));
  const { stdout } = await run(
    ['stream', '--agent', agent, ...argumentsOf(found.expected, store)],
    environmentOf(found.expected, store),
  );
  const rows = parseRows(stdout);
  return {
    messages: rows.filter(({ record }) => record === 'message').length,
    statuses: [...new Set(rows.filter(({ record }) => record === 'source').map(({ status }) => status))],
    codes: [...new Set(rows.filter(({ record }) => record === 'issue').map(({ code }) => code))].sort(),
  };
}

const withContent = (content: unknown) =>
  eachLine((row) =>
    typeof row['message'] === 'object' && row['message'] !== null
      ? { ...row, message: { ...row['message'], content } }
      : row,
  );

test.each<[string, string, Damage, number, string[]]>([
  ['whose line was torn', 'usage-outside-assistant', firstLine(() => '{"type":"sess'), 6, ['malformed_json']],
  ['that is null', 'usage-outside-assistant', firstLine(() => 'null'), 6, ['wrong_type']],
  [
    'whose id is a number',
    'usage-outside-assistant',
    firstLine((line) => line.replace(/"id":"[^"]*"/, '"id":7')),
    6,
    ['no_header'],
  ],
  [
    'that is missing',
    'usage-outside-assistant',
    (content) => content.subarray(content.indexOf(10) + 1),
    6,
    ['no_header'],
  ],
])('pi: entries behind a header %s are told, and the damage with them', async (_, name, damage, messages, codes) => {
  expect(await readDamaged('pi_agent', name, /\.jsonl$/, damage)).toEqual({
    messages,
    statuses: ['complete_with_errors'],
    codes,
  });
});

test('a byte order mark before a header, a document or a history changes nothing', async () => {
  const mark: Damage = (content) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), content]);
  for (const [agent, name, files] of [
    ['pi_agent', 'usage-outside-assistant', /\.jsonl$/],
    ['aider', 'pasted-role-marks', /history\.md$/],
    ['amp', 'openai-family-buckets', /T-[^/]*\.json$/],
    ['codex', 'token-count-repeats', /\.jsonl$/],
  ] as const) {
    const plain = await readDamaged(agent, name, files, (content) => content);
    expect(plain.messages).toBeGreaterThan(0);
    expect(await readDamaged(agent, name, files, mark), agent).toEqual(plain);
  }
});

test.each<[string, string, RegExp, string]>([
  ['amp', 'openai-family-buckets', /T-[^/]*\.json$/, 'messages'],
  ['continue', 'ide-duplicate-tool-result', /sessions\/(?!sessions\.json)[^/]*\.json$/, 'history'],
])('%s: a list that is an object, or gone, fails the document', async (agent, name, files, key) => {
  const asObject = document((value) => ({ ...value, [key]: { 0: (value[key] as unknown[])[0] } }));
  const gone = document((value) => ({ ...value, [key]: undefined }));
  expect(await readDamaged(agent, name, files, asObject)).toMatchObject({
    statuses: ['failed'],
    codes: ['wrong_type'],
  });
  expect(await readDamaged(agent, name, files, gone)).toMatchObject({
    statuses: ['failed'],
    codes: ['foreign_schema'],
  });
});

test.each([
  ['pi_agent', 'usage-outside-assistant'],
  ['factory', 'compact-inherits-usage'],
  ['claude', 'streamed-blocks-final-usage'],
])('%s: a content that is an object, or holds texts that are none, is damage', async (agent, name) => {
  for (const content of [{}, [{ type: 'text', text: 5 }], [5]]) {
    const { statuses, codes } = await readDamaged(agent, name, /\.jsonl$/, withContent(content));
    expect([agent, content, statuses]).toEqual([agent, content, ['complete_with_errors']]);
    expect(codes.filter((code) => code === 'wrong_type' || code === 'no_content')).not.toEqual([]);
  }
});

test.each([
  ['codebuddy', 'usage-on-function-calls', /\.jsonl$/],
  ['claude_ai', 'edited-prompt-branches', /conversations\.json$/],
  ['kiro_ide', 'v2-event-log', /messages\.jsonl$/],
  ['grok_bot', 'kind-not-role', /./],
])('%s: texts that are numbers are damage', async (agent, name, files) => {
  const damage: Damage = (content) =>
    content.toString('utf8').replaceAll(/"(content|text)":\s*"(?:[^"\\]|\\.)*"/g, '"$1":5');
  const { statuses, codes } = await readDamaged(agent, name, files, damage);
  expect([statuses, codes]).toEqual([['complete_with_errors'], ['wrong_type']]);
});
