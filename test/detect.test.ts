/** What is here, what shows it, and what was not taken: `detect` and `sources --explain`. */
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentDefinition, SourceSpec } from '../src/agents/agent.ts';
import { agents } from '../src/agents/registry.ts';
import { explain, explanationLines } from '../src/cli/explain.ts';
import { parseOptions, planRead } from '../src/options.ts';
import { projectFolder, run, temporaryFolder } from './support/command.ts';

const fixture = (agent: string, name: string): string => join(projectFolder, 'fixtures', agent, name, 'store');

function homeWith(agent: string, name: string, folder: string): string {
  const home = temporaryFolder();
  cpSync(fixture(agent, name), join(home, folder), { recursive: true });
  return home;
}

const json = async (args: readonly string[], env: Record<string, string>): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await run(args, env);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
};

const SESSION = '11111111-0000-4000-8000-000000000001';

describe('detect', () => {
  it('reports as JSON what was found, by what evidence, and in which version', async () => {
    const home = homeWith('claude', 'streamed-blocks-final-usage', '.claude');
    mkdirSync(join(home, '.codex', 'sessions'), { recursive: true });
    expect(await json(['detect', '--json'], { HOME: home, SOURCE_DATE_EPOCH: '1767600000' })).toEqual({
      format_version: 1,
      generated_at: '2026-01-05T08:00:00.000Z',
      host: 'test-host',
      installed_agents: [
        {
          slug: 'claude',
          name: 'Claude Code',
          detected: true,
          evidence: [`default: ${join(home, '.claude')}`, '1 source'],
          root_paths: [join(home, '.claude')],
          agent_version: '2.1.30',
          sources: 1,
          usage: 'per_reply',
          format_evidence: 'writer',
        },
        {
          slug: 'codex',
          name: 'OpenAI Codex',
          detected: true,
          evidence: [`default: ${join(home, '.codex')}`, '0 sources'],
          root_paths: [join(home, '.codex')],
          agent_version: null,
          sources: 0,
          usage: 'per_reply',
          format_evidence: 'writer',
        },
      ],
      summary: { detected_count: 2, total_count: agents.length },
      passed_by: [],
    });
  });

  it('takes the version from the head of the newest source, however long that is', async () => {
    const home = temporaryFolder();
    const project = join(home, '.claude', 'projects', '-p');
    mkdirSync(project, { recursive: true });
    const prompt = (version: string, n: number): string =>
      `${JSON.stringify({ type: 'user', uuid: `u${n}`, parentUuid: null, sessionId: SESSION, version, timestamp: '2026-01-05T10:00:00.000Z', message: { role: 'user', content: 'x'.repeat(1000) } })}\n`;
    writeFileSync(
      join(project, `${SESSION}.jsonl`),
      Array.from({ length: 2000 }, (_, n) => prompt('2.1.5', n)).join(''),
    );
    const older = SESSION.replace('1111', '2222');
    writeFileSync(join(project, `${older}.jsonl`), prompt('2.0.1', 0).replaceAll(SESSION, older));
    utimesSync(join(project, `${older}.jsonl`), 1, 1);
    expect(await json(['detect', '--agent', 'claude', '--json'], { HOME: home })).toMatchObject({
      installed_agents: [{ sources: 2, agent_version: '2.1.5' }],
    });
  });

  it('does not take the home folder for an agent that looks for projects in it', async () => {
    expect(await json(['detect', '--json'], { HOME: temporaryFolder() })).toMatchObject({
      installed_agents: [],
      summary: { detected_count: 0, total_count: agents.length },
    });
  });

  it('lists with --all, or by name, also what is not here, and never more than was asked about', async () => {
    const HOME = temporaryFolder();
    const all = await json(['detect', '--all', '--json'], { HOME });
    expect((all['installed_agents'] as { slug: string; detected: boolean }[]).map((a) => [a.slug, a.detected])).toEqual(
      agents.map((agent) => [agent.slug, false]),
    );
    expect(await json(['detect', '--agent', 'cc', '--json'], { HOME })).toMatchObject({
      installed_agents: [{ slug: 'claude', detected: false, evidence: [], root_paths: [], agent_version: null }],
      summary: { detected_count: 0, total_count: 1 },
    });
  });

  it('looks where --root says, and says when nothing is there', async () => {
    const store = fixture('claude', 'streamed-blocks-final-usage');
    expect(await json(['detect', '--json', '--agent', 'claude', '--root', `claude=${store}`], {})).toMatchObject({
      installed_agents: [{ detected: true, root_paths: [store], evidence: [`--root: ${store}`, '1 source'] }],
    });
    const { status, stderr } = await run(['detect', '--root', 'claude=/does/not/exist']);
    expect(status).toBe(1);
    expect(stderr).toContain('--root claude=/does/not/exist: there is no such folder or file');
  });
});

describe('sources --explain', () => {
  /** A home with one session, and all that is not read beside it. */
  function home(): { home: string; projects: string } {
    const folder = homeWith('claude', 'streamed-blocks-final-usage', '.claude');
    const projects = join(folder, '.claude', 'projects');
    const [session] = readdirSync(join(projects, '-home-dev-app'));
    mkdirSync(join(projects, '-out'));
    cpSync(join(projects, '-home-dev-app', session!), join(projects, '-out', `${SESSION}.jsonl`));
    symlinkSync(join(projects, '-out'), join(projects, '-link'));
    writeFileSync(join(projects, '-home-dev-app', 'notes.txt'), 'x');
    writeFileSync(join(projects, '-home-dev-app', 'journal.jsonl'), '{}\n');
    writeFileSync(join(projects, '-home-dev-app', 'other.jsonl'), '{}\n');
    writeFileSync(join(folder, '.claude', 'history.jsonl'), '{}\n');
    return { home: folder, projects };
  }

  it('says where was looked, what was found, and why the rest was not taken', async () => {
    const { home: HOME, projects } = home();
    const XDG_CONFIG_HOME = join(HOME, 'config');
    mkdirSync(XDG_CONFIG_HOME);
    writeFileSync(join(XDG_CONFIG_HOME, 'claude'), 'a file');
    const args = ['sources', '--explain', '--agent', 'claude', '--exclude', join(projects, '-out')];
    const env = { HOME, XDG_CONFIG_HOME };
    const told = await json([...args, '--json'], env);
    expect(told).toMatchObject({
      format_version: 1,
      agent: 'claude',
      name: 'Claude Code',
      variables: [
        { name: 'CLAUDE_CONFIG_DIR', value: null },
        { name: 'XDG_CONFIG_HOME', value: XDG_CONFIG_HOME },
      ],
      roots: [
        { path: join(HOME, '.claude'), reason: 'default', state: 'read' },
        { path: join(XDG_CONFIG_HOME, 'claude'), reason: 'XDG', state: 'no_folder' },
        { path: join(XDG_CONFIG_HOME, 'claude-code'), reason: 'XDG', state: 'absent' },
      ],
      stores: [{ store_kind: 'claude-session', sources: 1 }],
      left_out: [
        { agent: 'claude', path: join(HOME, '.claude', 'history.jsonl'), code: 'not_asked_for', by: 'history' },
      ],
      excluded: [join(projects, '-out')],
      other_files: [
        { ending: '.jsonl', files: 2, example: join(projects, '-home-dev-app', 'journal.jsonl') },
        { ending: '.txt', files: 1, example: join(projects, '-home-dev-app', 'notes.txt') },
      ],
    });
    const { stdout } = await run(args, env);
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'claude (Claude Code)',
        '  variable CLAUDE_CONFIG_DIR: not set',
        `  variable XDG_CONFIG_HOME: ${XDG_CONFIG_HOME}`,
        `  root ${join(HOME, '.claude')} (default): looked into`,
        `  root ${join(XDG_CONFIG_HOME, 'claude')} (XDG): there, but no folder`,
        `  root ${join(XDG_CONFIG_HOME, 'claude-code')} (XDG): not there`,
        expect.stringMatching(/^ {2}found: 1 source of claude-session, [\d.]+ KB$/),
        `  not asked for: ${join(HOME, '.claude', 'history.jsonl')} (--tables history reads it)`,
        `  excluded: ${join(projects, '-out')}`,
        `  not taken: 2 files *.jsonl, like ${join(projects, '-home-dev-app', 'journal.jsonl')}`,
      ]),
    );
  });

  it('counts no file twice: what is read is not among the others', async () => {
    const { home: HOME } = home();
    const listed = await json(['sources', '--explain', '--agent', 'claude', '--tables', 'history', '--json'], { HOME });
    expect(listed['left_out']).toEqual([]);
    expect(listed['stores']).toMatchObject([
      { store_kind: 'claude-history', sources: 1 },
      { store_kind: 'claude-session', sources: 2 },
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('tells a folder that cannot be read from one that is not there', async () => {
    const { home: HOME } = home();
    chmodSync(join(HOME, '.claude'), 0o000);
    const told = await json(['sources', '--explain', '--agent', 'claude', '--json'], { HOME });
    chmodSync(join(HOME, '.claude'), 0o700);
    expect(told['roots']).toMatchObject([{ state: 'unreadable' }, { state: 'absent' }, { state: 'absent' }]);
  });

  it('names the file that stands for another', () => {
    const root = temporaryFolder();
    const spec = (name: string): SourceSpec => ({
      storeKind: 'log',
      path: join(root, name),
      identity: 'one',
      name,
      hints: {},
      sidecars: {},
    });
    const agent: AgentDefinition = {
      slug: 'twice',
      name: 'Twice',
      aliases: [],
      evidence: 'doc',
      usage: 'none',
      stores: '',
      resume: null,
      formats: {},
      roots: () => [{ path: root, reason: 'default' }],
      discover: () => [spec('new.log'), spec('old.log'), { ...spec('index.db'), identity: 'two' }],
      choose: (sources) => sources.filter(({ name }) => name !== 'index.db'),
    };
    const plan = planRead(parseOptions({}), { env: {}, platform: 'linux' });
    const told = explain(agent, plan);
    expect(told.left_out).toEqual([
      { agent: 'twice', path: join(root, 'old.log'), code: 'same_source', by: join(root, 'new.log') },
      { agent: 'twice', path: join(root, 'index.db'), code: 'other_store', by: null },
    ]);
    expect(told.stores).toMatchObject([{ store_kind: 'log', sources: 1 }]);
    expect(explanationLines(told)).toContain(
      `  superseded: ${join(root, 'old.log')} (the same source as ${join(root, 'new.log')})`,
    );
  });

  it('says which reading of a variable was taken', async () => {
    const HOME = temporaryFolder();
    const odd = join(HOME, 'a,b');
    mkdirSync(odd);
    const claude = await json(['sources', '--explain', '--agent', 'claude', '--json'], {
      HOME,
      CLAUDE_CONFIG_DIR: odd,
    });
    expect(claude['roots']).toMatchObject([
      { path: odd, state: 'read' },
      { path: join(HOME, 'a'), state: 'other_reading' },
      { path: 'b', state: 'relative' },
    ]);
  });

  it('is about all agents where none is named, one JSON object each', async () => {
    const { stdout } = await run(['sources', '--explain', '--json']);
    const told = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { agent: string }).agent);
    expect(told).toEqual(agents.map((agent) => agent.slug));
  });
});
