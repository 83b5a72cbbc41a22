/** Rows that several files hold: whose they are, and where their usage counts. */
import { expect, test } from 'vitest';
import { sessionCode } from '../../../src/agents/claude/format.ts';
import { agentFile, counted, framesOf, kinshipsOf, mainFile, readAll, type Source } from './driver.ts';
import { lines, reply, text, usage, user } from './rows.ts';

const A = '0000000a-0000-4000-8000-000000000000';
const B = '0000000b-0000-4000-8000-000000000000';
const C = '0000000c-0000-4000-8000-000000000000';

/** Two rows, as the session `of` wrote them. */
const turn = (of: string, n: string, fields: Record<string, unknown> = {}, at = '2026-01-05T10:00:00.000Z') => [
  user(`u${n}`, `prompt ${n}`, { sessionId: of, timestamp: at, ...fields }),
  reply(
    `a${n}`,
    [text(`answer ${n}`)],
    { id: `msg_${n}`, usage: usage(10) },
    { sessionId: of, timestamp: at, parentUuid: `u${n}`, ...fields },
  ),
];

/** Texts that each file holds as its own. */
const owned = (...sources: Source[]): unknown[] =>
  readAll(sources).map(({ messages }) =>
    messages.filter(({ fields }) => !fields.is_copy).map(({ fields }) => fields.text),
  );
const billed = (...sources: Source[]): string[] =>
  counted(readAll(sources)).map(({ at, fields }) => `${at.sessionId} ${fields.key}`);

test('a copy that kept the old session id belongs to the file of that session', () => {
  const origin = mainFile(lines(...turn(A, '1')), A);
  const resumed = mainFile(lines(...turn(A, '1'), ...turn(B, '2')), B);
  expect(owned(resumed, origin)).toEqual([
    ['prompt 2', 'answer 2'],
    ['prompt 1', 'answer 1'],
  ]);
  expect(billed(resumed, origin).sort()).toEqual([`${A} msg_1`, `${B} msg_2`]);
});

test('where the origin is gone the older holder keeps the rows, and a lone one always does', () => {
  const younger = mainFile(
    lines(
      ...turn(B, '3', {}, '2026-01-01T00:00:00.000Z').map((r) => ({ ...r, timestamp: '2026-03-01T00:00:00.000Z' })),
      ...turn(A, '1'),
    ),
    B,
  );
  const older = mainFile(lines(...turn(A, '1'), ...turn(C, '2')), C);
  expect(owned(younger, older)).toEqual([
    ['prompt 3', 'answer 3'],
    ['prompt 1', 'answer 1', 'prompt 2', 'answer 2'],
  ]);
  expect(owned(older)[0]).toHaveLength(4);
});

test('the twin of a forked row is a copy too, though only one of them says so', () => {
  const forkedFrom = { sessionId: A, messageUuid: 'x' };
  const plain = turn(B, '1');
  const origin = mainFile(lines(...turn(A, '1')), A);
  const forked = turn(B, '1', { forkedFrom });
  const fork = mainFile(lines(...plain, ...forked, ...turn(B, '2')), B);
  expect(owned(fork, origin)).toEqual([
    ['prompt 2', 'answer 2'],
    ['prompt 1', 'answer 1'],
  ]);
  const turned = mainFile(lines(...forked, ...plain, ...turn(B, '2')), B);
  expect(owned(turned, origin)[0]).toEqual(['prompt 2', 'answer 2']);
  // Without the origin, its other fork is no worse a holder: neither is native.
  const [first, second] = readAll([fork, mainFile(lines(...turn(C, '1', { forkedFrom })), C)]);
  expect(first!.observations.find(({ fields }) => fields.key === 'msg_1')!.fields.native).toBe(false);
  expect(second!.observations[0]!.fields.native).toBe(false);
});

test('a background hand-off is found by equal rows in a file of its project, and comes second', () => {
  const origin = mainFile(lines(...turn(B, '1')), B);
  const handedOff = mainFile(lines(...turn(A, '1', { sessionKind: 'bg' }), ...turn(A, '2', { sessionKind: 'bg' })), A);
  const other = mainFile(lines(...turn(C, '3')), C);
  expect(owned(handedOff, origin, other)).toEqual([
    ['prompt 2', 'answer 2'],
    ['prompt 1', 'answer 1'],
    ['prompt 3', 'answer 3'],
  ]);
});

test('sessions of one project are no family by themselves', () => {
  expect(kinshipsOf([mainFile(lines(...turn(A, '1')), A), mainFile(lines(...turn(B, '2')), B)])).toEqual([null, null]);
});

test('a reply that an agent file replays under another request id counts once, in its session', () => {
  const main = mainFile(lines(...turn(B, '1')), B);
  const replay = reply(
    'x9',
    [text('answer 1')],
    { id: 'msg_1', usage: usage(10) },
    { sessionId: B, isSidechain: true, requestId: 'other' },
  );
  const own = reply(
    'x10',
    [text('agent')],
    { id: 'msg_9', usage: usage(4) },
    { sessionId: B, isSidechain: true, requestId: 'own' },
  );
  const agent = agentFile(lines(user('x8', 'do', { sessionId: B, isSidechain: true }), replay, own), 'agent-1');
  expect(billed(agent, main).sort()).toEqual([`${B} msg_1`, 'agent-1 msg_9']);
  expect(readAll([agent, main])[0]!.observations.map(({ fields }) => fields.native)).toEqual([false, true]);
});

test('two native replies under one id and two request ids both count', () => {
  const file = (stem: string, request: string): Source =>
    mainFile(
      lines(reply(`r${stem}`, [text('x')], { id: 'chat-1', usage: usage(5) }, { sessionId: stem, requestId: request })),
      stem,
    );
  expect(billed(file(A, 'r1'), file(B, 'r2'))).toHaveLength(2);
  expect(billed(file(A, 'r1'), file(B, 'r1'))).toHaveLength(1);
});

test('the head of a file shows what it may repeat: foreign sessions, forks, who made requests', () => {
  const { peek, outline } = sessionCode;
  const refs = ({ spec, bytes }: Source): unknown => peek!(framesOf(bytes), spec).refs;
  const filler = Array.from({ length: 10 }, () => ({ type: 'mode', mode: 'normal', sessionId: C }));
  expect(refs(mainFile(lines(...filler, ...turn(A, '1')), B))).toEqual([A]);
  expect(refs(mainFile(lines(...turn(B, '1', { requestSessionId: A, forkedFrom: { sessionId: C } })), B))).toEqual([
    A,
    C,
  ]);
  expect(refs(mainFile(lines(...turn(B, '1', { requestSessionId: B })), B))).toEqual([]);
  expect(refs(agentFile(lines(...turn(B, '1')), 'agent-1', C))).toEqual([B, C]);
  // A later row is beyond the head, and is told by the full read.
  const late = mainFile(lines(...turn(B, '1'), ...turn(A, '2')), B);
  expect(refs(late)).toEqual([]);
  expect(outline!(framesOf(late.bytes), late.spec, null).links!.refs).toEqual([A]);
});

test('a full read finds the links that the head shows, where there are no more', () => {
  const { peek, outline } = sessionCode;
  for (const source of [
    mainFile(lines(...turn(A, '1'), ...turn(B, '2')), B),
    agentFile(lines(...turn(B, '1')), 'agent-1', B),
  ]) {
    expect(outline!(framesOf(source.bytes), source.spec, null).links).toEqual(
      peek!(framesOf(source.bytes), source.spec),
    );
  }
});
