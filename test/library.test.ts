/** The library: types that say what is given, and errors that say what is wrong. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  discover,
  exportTo,
  type LakeOptions,
  type OptionsInput,
  type ReadRow,
  type ReportRecord,
  read,
  sync,
  UsageError,
  usage,
} from '../src/index.ts';
import { copyOf, parseRows, projectFolder, run, temporaryFolder } from './support/command.ts';

const store = (agent: string, name: string): string => copyOf(join(projectFolder, 'fixtures', agent, name, 'store'));

/** Compiles modules that import the built package, and gives what the compiler says. */
async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectFolder, join(folder, 'node_modules', 'sessionlake'));
  symlinkSync(join(projectFolder, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2024'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    types: ['node'],
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts'], exclude: ['node_modules'] }),
  );
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const tsc = join(projectFolder, 'node_modules', '.bin', 'tsc');
  try {
    return (await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder })).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout || String(error);
  }
}

describe('types', () => {
  it('let the example of the README compile against the package', async () => {
    const readme = readFileSync(join(projectFolder, 'README.md'), 'utf8');
    const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toContain("from 'sessionlake'");
    expect(await compile(Object.fromEntries(examples.map((text, i) => [`example${i}.ts`, text])))).toBe('');
  });

  it('say of every row exactly what it holds', async () => {
    const check = `
      import { type MessageRow, type RawRow, type ReadRow, read, type SessionRow, usage, type UsageRow } from 'sessionlake';
      type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
      const is = <A, B>(equal: Equal<A, B>): void => void equal;
      is<MessageRow['text'], string | null>(true);
      is<MessageRow['timestamp'], string | null>(true);
      is<MessageRow['ordinal'], number | null>(true);
      is<MessageRow['content_kinds'], readonly string[]>(true);
      is<MessageRow['record'], 'message'>(true);
      is<SessionRow['extra'], string | null>(true);
      is<SessionRow['message_count'], number>(true);
      is<UsageRow['counted_input_tokens'], number | null>(true);
      is<RawRow['record'], 'raw'>(true);
      is<RawRow['record_bytes'], string>(true);
      is<ReadRow['record'], 'session' | 'message' | 'tool_call' | 'tool_result' | 'usage' | 'source' | 'issue' | 'raw' | 'history'>(true);
      for await (const row of read()) {
        // @ts-expect-error only messages, prompts and so on have a text
        row.text;
        if (row.record === 'message') is<typeof row.text, string | null>(true);
        if (row.record === 'tool_call') is<typeof row.arguments, string | null>(true);
      }
      const found = await usage({ 'time-zone': 'UTC' });
      is<(typeof found.totals)[number]['cache_read_tokens'], number | null>(true);
      is<typeof found.exit_status, 0 | 2 | 3>(true);
      // @ts-expect-error not a known agent option
      await usage({ agents: ['claude'] });
    `;
    expect(await compile({ 'check.ts': check })).toBe('');
    expect(
      await compile({
        'wrong.ts': check.replace(
          "is<MessageRow['text'], string | null>(true)",
          "is<MessageRow['text'], Uint8Array>(true)",
        ),
      }),
    ).toMatch(/wrong\.ts.*TS2345/);
  });
});

describe('results', () => {
  let root: { claude: string };
  beforeAll(() => {
    root = { claude: store('claude', 'streamed-blocks-final-usage') };
  });

  async function all(input: OptionsInput): Promise<{ rows: ReadRow[]; report: ReportRecord }> {
    const rows: ReadRow[] = [];
    const reading = read(input);
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return { rows, report: next.value };
      rows.push(next.value);
    }
  }

  it('are rows as the command gives them, and a report with its exit status', async () => {
    const input: OptionsInput = { agent: 'claude', root, host: 'test-host', tables: 'messages,usage' };
    const { rows, report } = await all(input);
    const args = ['stream', '--agent', 'claude', '--root', `claude=${root.claude}`, '--tables', 'messages,usage'];
    expect(rows).toEqual(parseRows((await run(args)).stdout));
    for (const row of rows) if (row.record === 'message' && row.text !== null) expect(row.text).toBeTypeOf('string');
    expect(report).toMatchObject({ format_version: 1, exit_status: 0, held_back: [], read: { complete: 1 } });
    expect(report.rows.messages).toBe(rows.filter((row) => row.record === 'message').length);
  });

  it('of usage have the names of --json, and the same values', async () => {
    const args = ['usage', '--agent', 'claude', '--root', `claude=${root.claude}`, '--time-zone', 'UTC', '--json'];
    const printed = JSON.parse((await run(args)).stdout) as unknown;
    expect(await usage({ agent: 'claude', root, 'time-zone': 'UTC' })).toEqual(printed);
    expect(printed).toMatchObject({
      format_version: 1,
      time_zone: 'UTC',
      total: { input_tokens: 16, cache_read_tokens: 17_500, cache_write_tokens: 1500, reasoning_tokens: 40 },
      exit_status: 0,
    });
  });

  it('of export and sync have the names of --json', async () => {
    const out = join(temporaryFolder(), 'lake');
    const printed = await run([
      'export',
      '--out',
      out,
      '--json',
      '--agent',
      'claude',
      '--root',
      `claude=${root.claude}`,
    ]);
    const report = await exportTo({ out: join(temporaryFolder(), 'lake'), agent: 'claude', root });
    expect(report).toEqual(JSON.parse(printed.stdout));
    expect(Object.keys(report)).toEqual([
      'format_version',
      'exit_status',
      'read',
      'unchanged',
      'held_back',
      'with_errors',
      'unsupported',
      'bytes',
      'rows',
      'unknown_types',
      'passed_by',
      'batches',
      'rolled_forward',
    ]);
    const held = await exportTo({ out: join(temporaryFolder(), 'lake'), agent: 'claude', root, 'max-file': 9 });
    expect(held.exit_status).toBe(3);
    expect(held.held_back).toMatchObject([{ agent: 'claude', status: 'failed', byte_start: null }]);
  });

  it('are of the listed sources only', async () => {
    const list = join(temporaryFolder(), 'list');
    writeFileSync(list, `${join(root.claude, 'nothing.jsonl')}\n`);
    expect((await all({ agent: 'claude', root, 'sources-from': list })).rows).toEqual([]);
    const [source] = discover({ agent: 'claude', root }).sources;
    writeFileSync(list, `${source!.spec.path}\n`);
    expect((await all({ agent: 'claude', root, 'sources-from': list })).rows.length).toBeGreaterThan(3);
  });
});

describe('errors', () => {
  /** As a caller without types may call. */
  const loose = <T>(value: unknown): T => value as T;

  it.each([
    [() => exportTo(loose<LakeOptions>({})), /^exportTo needs --out DIR/],
    [() => sync(loose<LakeOptions>({})), /^sync needs --out DIR/],
    [() => exportTo(loose<LakeOptions>(undefined)), /^the options are undefined; they must be an object/],
    [() => exportTo(loose<LakeOptions>('lake')), /^the options are 'lake'; they must be an object/],
    [() => exportTo(loose<LakeOptions>({ out: 5 })), /^--out: 5 is not the path of a folder$/],
    [() => usage({ threads: Number.NaN }), /^--threads: NaN is not a whole number from 1 to 64$/],
    [() => usage({ threads: 1.5 }), /^--threads: 1.5 is not a whole number from 1 to 64$/],
    [() => usage(loose({ threads: true })), /^--threads: true is not a whole number from 1 to 64$/],
    [() => usage({ 'max-line': Number.NaN }), /^--max-line: NaN is not a number of bytes or a size like 64MiB$/],
    [() => usage({ 'max-line': -1 }), /^--max-line: -1 is not a number of bytes/],
    [() => usage({ 'max-line': '9999999999TiB' }), /^--max-line: '9999999999TiB' is no size/],
    [() => usage(loose({ gate: 'lenient' })), /^--gate: 'lenient' is not strict or quarantine$/],
    [() => usage(loose({ since: new Date(0) })), /^--since: an object is not a time like 2026-01-31/],
    [() => usage({ since: '2026-02-30' }), /^--since: '2026-02-30' is no time/],
    [() => usage({ until: '2026-02-30T10:00:00Z' }), /^--until: '2026-02-30T10:00:00Z' is no time/],
    [() => usage({ agent: [] }), /^--agent: the list is empty$/],
    [() => usage({ agent: ' , ' }), /^--agent: the list is empty$/],
    [() => usage(loose({ agent: ['claude', 7] })), /^--agent: it holds 7, and must be a list of names of agents$/],
    [() => usage({ 'time-zone': 'Mars/Olympus' }), /^--time-zone: 'Mars\/Olympus' is no IANA time zone/],
    [() => usage(loose({ maxLine: 5 })), /^unknown option 'maxLine'; did you mean 'max-line'\?$/],
    [() => usage(loose({ colour: 5 })), /^unknown option 'colour'; known: agent, root/],
    [() => usage({ root: { claude: '/does/not/exist' } }), /^--root claude=\/does\/not\/exist: there is no such/],
    [() => read({ format: 'arrow' }).next(), /^--format: read gives objects/],
    [
      async () => discover({ root: { claude: '/does/not/exist' } }),
      /^--root claude=\/does\/not\/exist: there is no such/,
    ],
    [async () => discover({ 'sources-from': 'x' }), /^discover does not read --sources-from/],
  ])('%s names the option, its value and what it should be', async (call, message) => {
    const error = await call().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toMatch(message);
  });

  it('say in a file that is no store file what it was taken for', () => {
    const file = join(temporaryFolder(), 'x.txt');
    writeFileSync(file, '');
    expect(() => discover({ agent: 'claude', root: { claude: file } })).toThrow(UsageError);
  });
});
