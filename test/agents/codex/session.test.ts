import { describe, expect, test } from 'vitest';
import { threadIdOfName } from '../../../src/agents/codex/header.ts';
import { decode, made } from './driver.ts';
import { CHILD, event, meta, PARENT, user } from './lines.ts';

const sessionOf = (header: Record<string, unknown>, more = {}, lines: readonly unknown[] = [user('hi')]) =>
  decode(made(PARENT, [meta(PARENT, header), ...lines], more)).sessions[0];

describe('identity', () => {
  test('the first header names the session; session_id is that of the root', () => {
    expect(sessionOf({ session_id: CHILD })?.session_id).toBe(PARENT);
  });

  test('the parent is the spawning thread, else the forked one, never itself', () => {
    const spawn = { source: { subagent: { thread_spawn: { parent_thread_id: 'spawner' } } } };
    expect(sessionOf({ parent_thread_id: 'p', forked_from_id: 'f', ...spawn })?.parent_session_id).toBe('p');
    expect(sessionOf({ forked_from_id: 'f', ...spawn })?.parent_session_id).toBe('spawner');
    expect(sessionOf({ forked_from_id: 'f' })?.parent_session_id).toBe('f');
    expect(sessionOf({ forked_from_id: PARENT })?.parent_session_id).toBeNull();
  });

  test('a file without a usable header is known by the id in its name', () => {
    for (const first of ['{"timestamp":"2026', JSON.stringify(meta('', {})), JSON.stringify(user('before'))]) {
      const out = decode(made(PARENT, [first, user('hi')]));
      expect(out.sessions[0]?.session_id).toBe(PARENT);
      expect(out.messages.at(-1)?.at.sessionId).toBe(PARENT);
    }
  });

  test('after a damaged first line the parent’s header is not taken for the own, but the own later one is', () => {
    const lost = ['{"timestamp":"2026', meta('parent', { cwd: '/parent' }), user('hi')];
    expect(decode(made(PARENT, lost)).sessions[0]).toMatchObject({ session_id: PARENT, cwd: null });
    expect(decode(made(PARENT, [...lost, meta(PARENT)])).sessions[0]).toMatchObject({
      session_id: PARENT,
      cwd: '/home/dev/app',
    });
  });

  test('an empty file is no session', () => {
    expect(decode(made(PARENT, [])).sessions).toEqual([]);
    expect(decode(made(PARENT, ['{torn'])).sessions).toEqual([]);
  });

  test('names of files give the thread id', () => {
    expect(threadIdOfName(`rollout-2026-02-03T09-00-00-${PARENT}`)).toBe(PARENT);
    expect(threadIdOfName(`rollout-2026-02-03T09-00-00-${PARENT}_${CHILD}`)).toBe(PARENT);
    expect(threadIdOfName(`rollout-2025-04-20-${PARENT}`)).toBe(PARENT);
    expect(threadIdOfName('rollout-odd')).toBe('rollout-odd');
  });
});

describe('facts', () => {
  test('git, version, origin and the rest are told as recorded', () => {
    const header = {
      cli_version: '0.98.0',
      source: 'vscode',
      model_provider: 'openai',
      agent_nickname: 'Scout',
      git: { branch: 'main', commit_hash: 'abc', repository_url: 'https://example.com/app.git' },
    };
    expect(sessionOf(header)).toMatchObject({
      kind: 'main',
      origin: 'vscode',
      agent_version: '0.98.0',
      git_branch: 'main',
      git_commit: 'abc',
      cwd: '/home/dev/app',
      extra: {
        originator: 'codex_cli_rs',
        model_provider: 'openai',
        agent_nickname: 'Scout',
        repository_url: 'https://example.com/app.git',
      },
    });
  });

  test('nothing further is null, not an empty object', () => {
    expect(sessionOf({ originator: null })?.extra).toBeNull();
  });

  test('fields of the wrong type are null and the session stays', () => {
    const odd = { cwd: 7, git: 'main', cli_version: [], source: 3, originator: {}, timestamp: 5 };
    expect(sessionOf(odd)).toMatchObject({
      session_id: PARENT,
      cwd: null,
      git_branch: null,
      agent_version: null,
      origin: null,
    });
  });

  test('the title is that of the index, else the last name the thread gave itself', () => {
    const named = [
      event('thread_name_updated', { thread_id: PARENT, thread_name: 'mine' }),
      event('thread_name_updated', { thread_name: ' ' }),
    ];
    expect(sessionOf({}, {}, named)?.title).toBe('mine');
    expect(sessionOf({}, { hints: { title: 'from the index' } }, named)?.title).toBe('from the index');
    expect(
      sessionOf({}, {}, [event('thread_name_updated', { thread_id: CHILD, thread_name: 'theirs' })])?.title,
    ).toBeNull();
  });

  test.each([
    [{ source: { subagent: 'review' } }, 'subagent'],
    [{ thread_source: 'guardian_review' }, 'subagent'],
    [{ parent_thread_id: CHILD }, 'subagent'],
    [{ forked_from_id: CHILD }, 'fork'],
    [{ history_base: { thread_id: CHILD } }, 'fork'],
    [{ history_base: { thread_id: PARENT } }, 'main'],
    [{ thread_source: 'user' }, 'main'],
  ])('%j is a thread of kind %s', (header, kind) => {
    expect(sessionOf(header)?.kind).toBe(kind);
  });
});

describe('resume command', () => {
  const archived = { hints: { archived: true } };
  test.each([
    [{}, {}, `codex resume ${PARENT}`],
    [{ source: 'exec' }, {}, `codex exec resume ${PARENT}`],
    [{}, archived, `codex unarchive ${PARENT} && codex resume ${PARENT}`],
    [{ source: { subagent: 'review' } }, {}, null],
    [{ id: 'x; rm -rf ~' }, {}, null],
  ])('header %j, source %j: %s', (header, more, command) => {
    expect(sessionOf(header, more)?.resume_command).toBe(command);
  });
});
