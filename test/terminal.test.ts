/** What stores hold is shown to people as text, and does nothing to their terminal. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plural } from '../src/cli/people.ts';
import { visible } from '../src/cli/terminal.ts';
import { run, temporaryFolder } from './support/command.ts';

/** Everything that moves a cursor, ends a line or turns the reading direction. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('visible', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['two\nlines\r\n', 'two\\nlines\\r\\n'],
    ['a\tb\u0000\u0007', 'a\\tb\\x00\\x07'],
    ['\u007f\u009b2J', '\\x7f\\x9b2J'],
    ['safe\u202etxt.exe', 'safe\\u202etxt.exe'],
    ['\u2066x\u2069\u200f\u061c', '\\u2066x\\u2069\\u200f\\u061c'],
    ['\u2028\u2029\ud800', '\\u2028\\u2029\\ud800'],
    ['naïve 日本語 👩‍💻 C:\\tmp עברית', 'naïve 日本語 👩‍💻 C:\\tmp עברית'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('leaves nothing unsafe, and is done with after one pass', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const shown = visible(text);
        expect(shown).not.toMatch(UNSAFE);
        expect(visible(shown)).toBe(shown);
      }),
    );
  });
});

it('counts in the singular and in the plural', () => {
  expect([plural(1, 'source'), plural(0, 'source'), plural(1234, 'row'), plural(2, 'batch', 'batches')]).toEqual([
    '1 source',
    '0 sources',
    '1,234 rows',
    '2 batches',
  ]);
});

const ESCAPE = '\u001b[2J\u001b]0;owned\u0007';
const FORGED = 'x\nclaude  yes  99\u202e';

/** A store whose folder, link and model have names that would do something to a terminal. */
function hostileHome(): string {
  const home = join(temporaryFolder(), `home-${ESCAPE}`);
  const project = join(home, '.claude', 'projects', `-p${FORGED}`);
  mkdirSync(project, { recursive: true });
  const reply = {
    type: 'assistant',
    sessionId: '11111111-0000-4000-8000-000000000001',
    uuid: '22222222-0000-4000-8000-000000000001',
    parentUuid: null,
    version: `2.0.0${ESCAPE}`,
    timestamp: '2026-01-05T10:00:00.000Z',
    requestId: 'req_1',
    message: {
      id: 'msg_1',
      role: 'assistant',
      model: `model-${ESCAPE}${FORGED}`,
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 5 },
    },
  };
  writeFileSync(
    join(project, '11111111-0000-4000-8000-000000000001.jsonl'),
    `${JSON.stringify(reply)}\n{"type":"odd${'\\u001b'}[2J","uuid":"u"}\nbroken\n`,
  );
  symlinkSync(project, join(home, '.claude', 'projects', `-link${ESCAPE}`));
  return home;
}

it.each([
  ['detect'],
  ['sources'],
  ['sources', '--explain'],
  ['usage'],
  ['stream', '--gate', 'strict'],
  ['stream', '--max-file', '9'],
  ['stream', '--agent', `none${ESCAPE}`],
  [`no-command${ESCAPE}`],
])('%j shows people nothing that their terminal would obey', async (...args) => {
  const { stdout, stderr } = await run(args, { HOME: hostileHome() });
  const forPeople = args[0] === 'stream' ? stderr : stdout + stderr;
  expect(forPeople).toMatch(/\\x1b/);
  for (const line of forPeople.split('\n')) expect(line).not.toMatch(UNSAFE);
  // Nothing forged: no line begins with what a name holds after its line feed.
  expect(forPeople).not.toMatch(/^claude {2}yes {2}99/m);
});

it('gives programs the names as they are', async () => {
  const home = hostileHome();
  const { stdout } = await run(['sources', '--json'], { HOME: home });
  expect((JSON.parse(stdout) as { source_path: string }).source_path).toBe(
    join(home, '.claude', 'projects', `-p${FORGED}`, '11111111-0000-4000-8000-000000000001.jsonl'),
  );
  const totals = JSON.parse((await run(['usage', '--json'], { HOME: home })).stdout) as { totals: { model: string }[] };
  expect(totals.totals.map((total) => total.model)).toEqual([`model-${ESCAPE}${FORGED}`]);
});
