import type { Random } from './random.ts';
import type { FileSink } from './sink.ts';
import { filePath, type Span, sentence, type TextKind, type Texts, trimmed, twiceRange } from './text.ts';
import { NOUNS, VERBS } from './words.ts';

/** One call with its output, as rollout items and (older versions) as the event that mirrors it. */
export interface CodexCall {
  callId: string;
  custom: boolean;
  inputBytes: number;
  outputBytes: number;
  /** The payload of the call item, from `"name"` on. */
  writeCall(sink: FileSink): void;
  /** The JSON value `output`. */
  writeOutput(sink: FileSink): void;
  /** The mirroring event's fields, if there is one. */
  writeMirror?: (sink: FileSink) => void;
}

export interface CodexToolContext {
  random: Random;
  texts: Texts;
  cwd: string;
}

export function makeCodexCall(context: CodexToolContext): CodexCall {
  const roll = context.random.next();
  if (roll < 0.17) return applyPatch(context);
  if (roll < 0.21) return updatePlan(context);
  if (roll < 0.25) return mcpTool(context);
  if (roll < 0.252) return viewImage(context);
  return execCommand(context);
}

function callId(random: Random): string {
  return `call_${random.id(24)}`;
}

/** Arguments are a JSON document inside a JSON string. */
function argumentsField(value: unknown): string {
  return `"arguments":${JSON.stringify(JSON.stringify(value))}`;
}

function outputSize(random: Random): number {
  if (random.chance(0.001)) return random.size(500_000, 0.9, 80_000, 4_000_000);
  return random.size(1600, 1.5, 20, 40_000);
}

function execCommand({ random, texts, cwd }: CodexToolContext): CodexCall {
  const kind: TextKind = random.chance(0.12)
    ? 'worldlog'
    : random.pick(['code', 'code', 'log', 'listing', 'diff', 'json']);
  const out = texts.span(random, kind, outputSize(random));
  const cmd = random.chance(0.5)
    ? `sed -n '${random.int(1, 400)},${random.int(401, 900)}p' ${filePath(random)}`
    : `rg -n "${random.pick(NOUNS)}|${random.pick(VERBS)}\\(" ${filePath(random)} && npm run ${random.pick(VERBS)}`;
  const id = callId(random);
  const exit = random.chance(0.07) ? 1 : 0;
  const header = `Chunk ID: ${random.hex(6)}\\nWall time: 0.${random.int(1000, 9999)} seconds\\nProcess exited with code ${exit}\\nOriginal token count: ${(out.to - out.from) >> 2}\\nOutput:\\n`;
  const args = argumentsField({ cmd, workdir: cwd, yield_time_ms: 10000, max_output_tokens: 12000 });
  return {
    callId: id,
    custom: false,
    inputBytes: args.length,
    outputBytes: out.to - out.from + header.length,
    writeCall: (sink) => sink.text(`"name":"exec_command",${args}`),
    writeOutput: (sink) => {
      sink.text(`"${header}`);
      sink.span(out);
      sink.text('"');
    },
  };
}

function applyPatch({ random, texts, cwd }: CodexToolContext): CodexCall {
  const path = filePath(random);
  const patch = texts.span(random, 'diff', random.size(1400, 1.1, 60, 40_000));
  const seconds = random.next().toFixed(1);
  const writePatch = (sink: FileSink): void => {
    sink.text(`"*** Begin Patch\\n*** Update File: ${path}\\n@@\\n`);
    sink.span(patch);
    sink.text('*** End Patch"');
  };
  const success = `Success. Updated the following files:\\\\nM ${path}\\\\n`;
  return {
    callId: callId(random),
    custom: true,
    inputBytes: patch.to - patch.from + 60,
    outputBytes: 160,
    writeCall: (sink) => {
      sink.text('"name":"apply_patch","input":');
      writePatch(sink);
    },
    writeOutput: (sink) =>
      sink.text(
        `"{\\"output\\":\\"${success}\\",\\"metadata\\":{\\"exit_code\\":0,\\"duration_seconds\\":${seconds}}}"`,
      ),
    writeMirror: (sink) => {
      sink.text(
        `"stdout":"Success. Updated the following files:\\nM ${path}\\n","stderr":"","success":true,"changes":{${JSON.stringify(`${cwd}/${path}`)}:{"type":"update","unified_diff":"`,
      );
      sink.span(patch);
      sink.text('","move_path":null}},"status":"completed"');
    },
  };
}

function updatePlan({ random }: CodexToolContext): CodexCall {
  const plan = Array.from({ length: random.int(3, 7) }, (_, i) => ({
    step: sentence(random),
    status: i === 0 ? 'in_progress' : 'pending',
  }));
  const args = argumentsField({ plan });
  return {
    callId: callId(random),
    custom: false,
    inputBytes: args.length,
    outputBytes: 12,
    writeCall: (sink) => sink.text(`"name":"update_plan",${args}`),
    writeOutput: (sink) => sink.text('"Plan updated"'),
  };
}

/** An MCP server's JSON answer, a document in a document: escaped twice. */
function mcpTool({ random, texts }: CodexToolContext): CodexCall {
  const rows: Span = trimmed(texts.span(random, 'json', random.size(3000, 1.6, 100, 2_000_000)));
  const [from, to] = twiceRange(rows);
  const args = argumentsField({ query: `find ${random.pick(NOUNS)}`, limit: random.int(1, 500) });
  const name = `mcp__tickets__${random.pick(VERBS)}_${random.pick(NOUNS)}`;
  return {
    callId: callId(random),
    custom: false,
    inputBytes: args.length,
    outputBytes: to - from,
    writeCall: (sink) => sink.text(`"name":"${name}",${args}`),
    writeOutput: (sink) => {
      sink.text('"[{\\"type\\":\\"text\\",\\"text\\":\\"');
      sink.raw(rows.pool.twice, from, to);
      sink.text('\\"}]"');
    },
  };
}

function viewImage({ random, texts, cwd }: CodexToolContext): CodexCall {
  const args = argumentsField({ path: `${cwd}/docs/${random.pick(NOUNS)}.png` });
  const [bytes, from, to] = texts.base64(random, random.size(180_000, 1, 8_000, 3_000_000) & ~3);
  return {
    callId: callId(random),
    custom: false,
    inputBytes: args.length,
    outputBytes: 4_000,
    writeCall: (sink) => sink.text(`"name":"view_image",${args}`),
    writeOutput: (sink) => {
      sink.text('[{"type":"input_image","image_url":"data:image/png;base64,');
      sink.raw(bytes, from, to);
      sink.text('"}]');
    },
  };
}
