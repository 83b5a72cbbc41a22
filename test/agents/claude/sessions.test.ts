/** What a file says of its session. */
import { describe, expect, test } from 'vitest';
import { agentFile, cutsOf, MAIN, mainFile, read, readInTwo, type Source } from './driver.ts';
import { lines, reply, row, text, user } from './rows.ts';

const OTHER = '22222222-2222-4222-8222-222222222222';
const THIRD = '33333333-3333-4333-8333-333333333333';
const sessionOf = (source: Source) => read(source).recording.sessions[0];
const session = (...rows: Parameters<typeof lines>) => sessionOf(mainFile(lines(...rows)));

describe('a session', () => {
  test('is named by its file, and can be resumed by that name', () => {
    const facts = { version: '2.1.9', entrypoint: 'sdk-cli', slug: 'calm-otter' };
    expect(session(user('u1', 'a', facts))).toMatchObject({
      session_id: MAIN,
      parent_session_id: null,
      kind: 'main',
      origin: 'sdk-cli',
      cwd: '/w',
      git_branch: 'main',
      git_commit: null,
      agent_version: '2.1.9',
      resume_command: `claude --resume ${MAIN}`,
      extra: { slug: 'calm-otter' },
    });
  });

  test('needs a transcript row', () => {
    expect(session({ type: 'custom-title', customTitle: 'x' }, { type: 'file-history-snapshot' })).toBeUndefined();
    expect(session(row({ type: 'system', subtype: 'local_command', uuid: 'u1' }))).toBeDefined();
  });

  test('keeps the first folder of its own rows, not that of copied ones', () => {
    const told = session(
      user('u0', 'old', { sessionId: OTHER, cwd: '/old', gitBranch: 'old' }),
      user('u1', 'new', { cwd: '/own', gitBranch: undefined }),
      user('u2', 'on', { cwd: '/later', gitBranch: 'b', parentUuid: 'u1' }),
    );
    expect(told).toMatchObject({ cwd: '/own', git_branch: 'b', parent_session_id: OTHER });
  });

  test('comes from what forkedFrom names, else from the first foreign session id, else from who made the request', () => {
    const forked = { forkedFrom: { sessionId: THIRD, messageUuid: 'x' } };
    const copied = user('u0', 'a', { sessionId: OTHER });
    expect(session(copied, user('u1', 'b', forked))).toMatchObject({ parent_session_id: THIRD, kind: 'fork' });
    expect(session(user('u1', 'b'), copied)).toMatchObject({ parent_session_id: OTHER, kind: 'main' });
    expect(session(reply('u1', [text('a')], {}, { requestSessionId: THIRD }))).toMatchObject({
      parent_session_id: THIRD,
    });
    expect(session(reply('u1', [text('a')], {}, { requestSessionId: MAIN }))).toMatchObject({
      parent_session_id: null,
    });
  });

  test('is called by its last own title, else the last generated one, else a summary of a row of the file', () => {
    const first = user('u1', 'a');
    const own = (customTitle: unknown): object => ({ type: 'custom-title', customTitle });
    const ai = (aiTitle: unknown): object => ({ type: 'ai-title', aiTitle });
    const summary = (text: string, leafUuid: string): object => ({ type: 'summary', summary: text, leafUuid });
    const title = (...rows: object[]): unknown => session(...(rows as Record<string, unknown>[]))?.title;
    expect(title(first, own('one'), ai('x'), own('two'), ai('y'))).toBe('two');
    expect(title(first, ai('x'), ai('y'), summary('s', 'u1'))).toBe('y');
    expect(title(summary('before', 'u1'), summary('elsewhere', 'zz'), first)).toBe('before');
    expect(title(summary('first', 'u1'), first, summary('last', 'u1'))).toBe('last');
    expect(title(first, summary('elsewhere', 'zz'))).toBeNull();
    expect(title(first, own(5), ai('x'))).toBe('x');
  });

  test('that got its title from a summary of a row still to come is read whole when the row is there', () => {
    const source = mainFile(
      lines({ type: 'summary', summary: 's', leafUuid: 'u2' }, user('u1', 'a'), user('u2', 'b', { parentUuid: 'u1' })),
    );
    const cuts = cutsOf(source.bytes);
    expect(cuts.map((cut) => readInTwo(source, cut)?.second.sessions[0]?.title)).toEqual([
      's',
      undefined,
      undefined,
      's',
    ]);
  });

  test('keeps the totals of the client apart', () => {
    const cost = (usd: number, sessionId: string): Record<string, unknown> => ({
      type: 'cost-state',
      sessionId,
      totalCostUSD: usd,
      modelUsage: {
        a: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3, cacheCreationInputTokens: 4 },
        b: { inputTokens: 10, outputTokens: 'x' },
      },
    });
    expect(session(user('u1', 'a'), cost(1, MAIN), cost(2, MAIN), cost(9, OTHER))).toMatchObject({
      reported_cost_usd: 2,
      reported_input_tokens: 11,
      reported_output_tokens: 2,
      reported_cache_read_tokens: 3,
      reported_cache_write_tokens: 4,
    });
  });
});

describe('an agent file', () => {
  const rows = lines(user('u1', 'do', { isSidechain: true, sessionId: OTHER, agentId: 'a1' }));

  test('is a session of its own below the one in its rows, and cannot be resumed', () => {
    expect(sessionOf(agentFile(rows, 'agent-a1'))).toMatchObject({
      session_id: 'agent-a1',
      parent_session_id: OTHER,
      kind: 'subagent',
      cwd: '/w',
      resume_command: null,
      title: null,
      extra: null,
    });
  });

  test('has the parent that its folder names where its rows do not tell', () => {
    const silent = lines(user('u1', 'do', { isSidechain: true, sessionId: undefined }));
    expect(sessionOf(agentFile(silent, 'agent-a1', THIRD))).toMatchObject({ parent_session_id: THIRD });
  });
});
