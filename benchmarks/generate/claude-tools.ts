import type { Random } from './random.ts';
import type { FileSink } from './sink.ts';
import { filePath, identifier, lineStart, type Span, sentence, type TextKind, type Texts, trimmed } from './text.ts';
import { NOUNS, VERBS } from './words.ts';

/** One tool call of Claude Code with its result, in the three places where a transcript writes them down. */
export interface ToolCall {
  id: string;
  name: string;
  /** About how many bytes the model wrote, and read back: the token counters follow them. */
  inputBytes: number;
  outputBytes: number;
  /** Absent in about half of the real results. */
  isError: boolean | null;
  /** The JSON object `tool_use.input`. */
  writeInput(sink: FileSink): void;
  /** The JSON value `tool_result.content`. */
  writeContent(sink: FileSink): void;
  /** The JSON value `toolUseResult`: the tool's own side copy of the result. */
  writeSide(sink: FileSink): void;
}

export interface ToolContext {
  random: Random;
  texts: Texts;
  cwd: string;
}

type ToolMaker = (context: ToolContext) => Omit<ToolCall, 'id'>;

/** How often each tool is called, in a hundred calls. */
const TOOLS: readonly [share: number, make: ToolMaker][] = [
  [38, bash],
  [25, read],
  [11, edit],
  [4, write],
  [9, grep],
  [4, glob],
  [3, todo],
  [2, webFetch],
  [4, mcp],
];

export function makeToolCall(context: ToolContext): ToolCall {
  let roll = context.random.int(0, 99);
  const id = `toolu_01${context.random.id(22)}`;
  for (const [share, make] of TOOLS) {
    if (roll < share) return { id, ...make(context) };
    roll -= share;
  }
  return { id, ...bash(context) };
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A JSON string holding the span. */
export function writeString(sink: FileSink, span: Span): void {
  sink.text('"');
  sink.span(span);
  sink.text('"');
}

/** The span with line numbers, as the Read tool shows a file to the model. */
function writeNumbered(sink: FileSink, span: Span, first: number): void {
  for (let line = 0; line < span.lines; line++) {
    sink.text(`${String(first + line).padStart(6)}→`);
    sink.raw(
      span.pool.escaped,
      lineStart(span.pool, span.firstLine + line),
      span.pool.ends[span.firstLine + line] as number,
    );
  }
}

/** Most results are small, some are cut at the tool's limit, very few are megabytes. */
function outputSize(random: Random): number {
  if (random.chance(0.0015)) return random.size(400_000, 1, 60_000, 4_000_000);
  return random.size(1500, 1.4, 30, 30_000);
}

function bash({ random, texts, cwd }: ToolContext): Omit<ToolCall, 'id'> {
  const kind: TextKind = random.chance(0.12)
    ? 'worldlog'
    : random.pick(['log', 'log', 'listing', 'diff', 'code', 'json']);
  const out = trimmed(texts.span(random, kind, outputSize(random)));
  const failed = random.chance(0.08);
  const command = random.chance(0.1)
    ? `cat <<'EOF' > /tmp/${random.pick(NOUNS)}.txt\n${sentence(random)}\n${sentence(random)}\nEOF`
    : `cd "${cwd}" && npm run ${random.pick(VERBS)} -- ${filePath(random)} 2>&1 | tail -n ${random.int(5, 200)}`;
  const description = `${random.pick(VERBS)} the ${random.pick(NOUNS)}`;
  return {
    name: 'Bash',
    inputBytes: command.length + 60,
    outputBytes: out.to - out.from,
    isError: failed ? true : random.chance(0.5) ? false : null,
    writeInput: (sink) => sink.text(`{"command":${quoted(command)},"description":${quoted(description)}}`),
    writeContent: (sink) => {
      sink.text(failed ? '"Exit code 1\\n' : '"');
      sink.span(out);
      sink.text('"');
    },
    writeSide: (sink) => {
      sink.text(failed ? '"Error: Exit code 1\\n' : '{"stdout":"');
      sink.span(out);
      sink.text(failed ? '"' : '","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}');
    },
  };
}

function read(context: ToolContext): Omit<ToolCall, 'id'> {
  const { random, texts, cwd } = context;
  if (random.chance(0.01)) return readImage(context);
  const path = quoted(`${cwd}/${filePath(random)}`);
  const file = texts.span(random, random.chance(0.08) ? 'world' : 'code', random.size(4000, 1.1, 80, 100_000));
  const first = random.chance(0.7) ? 1 : random.int(2, 900);
  return {
    name: 'Read',
    inputBytes: 100,
    outputBytes: file.to - file.from + 9 * file.lines,
    isError: null,
    writeInput: (sink) => sink.text(`{"file_path":${path}}`),
    writeContent: (sink) => {
      sink.text('"');
      writeNumbered(sink, file, first);
      sink.text('"');
    },
    writeSide: (sink) => {
      sink.text(`{"type":"text","file":{"filePath":${path},"content":`);
      writeString(sink, file);
      sink.text(`,"numLines":${file.lines},"startLine":${first},"totalLines":${first + file.lines + 20}}}`);
    },
  };
}

function readImage({ random, texts, cwd }: ToolContext): Omit<ToolCall, 'id'> {
  const path = quoted(`${cwd}/docs/${random.pick(NOUNS)}.png`);
  const [bytes, from, to] = texts.base64(random, random.size(90_000, 1.1, 4_000, 2_000_000) & ~3);
  return {
    name: 'Read',
    inputBytes: 100,
    outputBytes: 6_000,
    isError: null,
    writeInput: (sink) => sink.text(`{"file_path":${path}}`),
    writeContent: (sink) => {
      sink.text('[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"');
      sink.raw(bytes, from, to);
      sink.text('"}}]');
    },
    writeSide: (sink) => {
      sink.text('{"type":"image","file":{"base64":"');
      sink.raw(bytes, from, to);
      sink.text(`","type":"image/png","originalSize":${((to - from) / 4) * 3}}}`);
    },
  };
}

/** `structuredPatch`: one hunk, each line a string of its own. */
function writePatch(sink: FileSink, span: Span): void {
  sink.text(
    `[{"oldStart":${span.firstLine % 900},"oldLines":6,"newStart":${span.firstLine % 900},"newLines":${span.lines},"lines":[`,
  );
  for (let line = 0; line < span.lines; line++) {
    sink.text(line === 0 ? '"-' : line % 3 === 1 ? ',"+' : '," ');
    sink.raw(
      span.pool.escaped,
      lineStart(span.pool, span.firstLine + line),
      (span.pool.ends[span.firstLine + line] as number) - 2,
    );
    sink.text('"');
  }
  sink.text(']}]');
}

function edit({ random, texts, cwd }: ToolContext): Omit<ToolCall, 'id'> {
  const path = quoted(`${cwd}/${filePath(random)}`);
  const before = trimmed(texts.span(random, 'code', random.size(300, 1, 20, 8_000)));
  const after = trimmed(texts.span(random, random.chance(0.1) ? 'world' : 'code', random.size(500, 1.1, 20, 20_000)));
  const original = texts.span(random, 'code', random.size(6000, 1, 200, 90_000));
  const strings = (sink: FileSink, oldName: string, newName: string): void => {
    sink.text(`"${oldName}":`);
    writeString(sink, before);
    sink.text(`,"${newName}":`);
    writeString(sink, after);
  };
  return {
    name: 'Edit',
    inputBytes: before.to - before.from + after.to - after.from + 120,
    outputBytes: after.to - after.from,
    isError: null,
    writeInput: (sink) => {
      sink.text(`{"replace_all":false,"file_path":${path},`);
      strings(sink, 'old_string', 'new_string');
      sink.text('}');
    },
    writeContent: (sink) => {
      sink.text(
        `"The file ${path.slice(1, -1)} has been updated. Here's the result of running \`cat -n\` on a snippet of it:\\n`,
      );
      writeNumbered(sink, after, 1);
      sink.text('"');
    },
    writeSide: (sink) => {
      sink.text(`{"filePath":${path},`);
      strings(sink, 'oldString', 'newString');
      sink.text(',"originalFile":');
      writeString(sink, original);
      sink.text(',"structuredPatch":');
      writePatch(sink, after);
      sink.text(',"userModified":false,"replaceAll":false}');
    },
  };
}

function write({ random, texts, cwd }: ToolContext): Omit<ToolCall, 'id'> {
  const path = quoted(`${cwd}/${filePath(random)}`);
  const file = texts.span(
    random,
    random.pick(['code', 'code', 'code', 'prose', 'world']),
    random.size(3500, 1, 60, 60_000),
  );
  return {
    name: 'Write',
    inputBytes: file.to - file.from + 100,
    outputBytes: 120,
    isError: null,
    writeInput: (sink) => {
      sink.text(`{"file_path":${path},"content":`);
      writeString(sink, file);
      sink.text('}');
    },
    writeContent: (sink) => sink.text(`"File created successfully at: ${path.slice(1, -1)}"`),
    writeSide: (sink) => {
      sink.text(`{"type":"create","filePath":${path},"content":`);
      writeString(sink, file);
      sink.text(',"structuredPatch":[],"originalFile":null}');
    },
  };
}

function grep({ random, texts, cwd }: ToolContext): Omit<ToolCall, 'id'> {
  const found = trimmed(
    texts.span(random, random.chance(0.1) ? 'worldlog' : 'log', random.size(1100, 1.3, 30, 20_000)),
  );
  const pattern = quoted(`${identifier(random)}|\\b${random.pick(NOUNS)}\\(`);
  return {
    name: 'Grep',
    inputBytes: 140,
    outputBytes: found.to - found.from,
    isError: null,
    writeInput: (sink) => sink.text(`{"pattern":${pattern},"path":${quoted(cwd)},"output_mode":"content","-n":true}`),
    writeContent: (sink) => writeString(sink, found),
    writeSide: (sink) => {
      sink.text('{"mode":"content","numFiles":0,"filenames":[],"content":');
      writeString(sink, found);
      sink.text(`,"numLines":${found.lines}}`);
    },
  };
}

function glob({ random, cwd }: ToolContext): Omit<ToolCall, 'id'> {
  const names = Array.from({ length: random.int(0, 40) }, () => `${cwd}/${filePath(random)}`);
  const pattern = `**/*${random.pick(NOUNS)}*.ts`;
  const content = quoted(names.length === 0 ? 'No files found' : names.join('\n'));
  return {
    name: 'Glob',
    inputBytes: 60,
    outputBytes: content.length,
    isError: null,
    writeInput: (sink) => sink.text(`{"pattern":"${pattern}"}`),
    writeContent: (sink) => sink.text(content),
    writeSide: (sink) =>
      sink.text(`{"filenames":${JSON.stringify(names)},"durationMs":24,"numFiles":${names.length},"truncated":false}`),
  };
}

function todo({ random }: ToolContext): Omit<ToolCall, 'id'> {
  const todos = JSON.stringify(
    Array.from({ length: random.int(3, 9) }, (_, i) => ({
      content: sentence(random),
      status: i < 2 ? 'completed' : i === 2 ? 'in_progress' : 'pending',
      activeForm: sentence(random),
    })),
  );
  return {
    name: 'TodoWrite',
    inputBytes: todos.length,
    outputBytes: 160,
    isError: null,
    writeInput: (sink) => sink.text(`{"todos":${todos}}`),
    writeContent: (sink) =>
      sink.text('"Todos have been modified successfully. Please proceed with the current tasks."'),
    writeSide: (sink) => sink.text(`{"oldTodos":[],"newTodos":${todos}}`),
  };
}

function webFetch({ random, texts }: ToolContext): Omit<ToolCall, 'id'> {
  const page = texts.spoken(random, random.size(3000, 0.8, 200, 20_000));
  const prompt = `What does it say about ${random.pick(NOUNS)}?`;
  const url = quoted(`https://example.com/${random.pick(NOUNS)}/${random.pick(NOUNS)}?id=${random.hex(6)}`);
  return {
    name: 'WebFetch',
    inputBytes: 160,
    outputBytes: page.to - page.from,
    isError: null,
    writeInput: (sink) => sink.text(`{"url":${url},"prompt":"${prompt}"}`),
    writeContent: (sink) => writeString(sink, page),
    writeSide: (sink) => {
      sink.text(`{"bytes":${page.to * 3},"code":200,"codeText":"OK","result":`);
      writeString(sink, page);
      sink.text(`,"durationMs":${page.lines * 31 + 800},"url":${url}}`);
    },
  };
}

/** Tools of MCP servers answer with blocks of JSON text, sometimes with a great deal of it. */
function mcp({ random, texts }: ToolContext): Omit<ToolCall, 'id'> {
  const rows = trimmed(texts.span(random, 'json', random.size(2500, 1.7, 40, 3_500_000)));
  const query = quoted(`select * from ${random.pick(NOUNS)} where ${random.pick(NOUNS)} = '${random.pick(NOUNS)}'`);
  const writeBlocks = (sink: FileSink): void => {
    sink.text('[{"type":"text","text":');
    writeString(sink, rows);
    sink.text('}]');
  };
  return {
    name: `mcp__${random.pick(['warehouse', 'tickets', 'browser'])}__${random.pick(VERBS)}_${random.pick(NOUNS)}`,
    inputBytes: 120,
    outputBytes: rows.to - rows.from,
    isError: null,
    writeInput: (sink) => sink.text(`{"query":${query}}`),
    writeContent: writeBlocks,
    writeSide: writeBlocks,
  };
}
