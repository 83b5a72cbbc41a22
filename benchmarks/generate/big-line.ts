import { join } from 'node:path';
import { Random } from './random.ts';
import { FileSink, type Written } from './sink.ts';
import type { Texts } from './text.ts';

const SESSION = '00000b16-0000-4000-8000-00000000b161';
const COMMON =
  '"userType":"external","entrypoint":"cli","cwd":"/home/dev/app","sessionId":"00000b16-0000-4000-8000-00000000b161","version":"2.1.143","gitBranch":"main"';

function uuid(n: number): string {
  return `00000b16-0000-4000-8000-00000000000${n}`;
}

function assistant(n: number, block: string, stop: string): string {
  return `{"parentUuid":"${uuid(n - 1)}","isSidechain":false,"message":{"model":"claude-opus-4-6","id":"msg_01BIG${n}","type":"message","role":"assistant","content":[${block}],"stop_reason":"${stop}","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":20,"service_tier":"standard"}},"requestId":"req_011BIG${n}","type":"assistant","uuid":"${uuid(n)}","timestamp":"2026-05-04T10:00:0${n}.000Z",${COMMON}}`;
}

/** A session of four lines; the third, a tool result, has exactly that many bytes. */
export function writeBigLine(out: string, bytes: number, texts: Texts, written: Written): void {
  const sink = new FileSink(join(out, '.claude', 'projects', '-home-dev-app', `${SESSION}.jsonl`), written);
  const line = (text: string): void => {
    sink.text(text);
    sink.endLine();
  };
  line(
    `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"print the whole log"},"uuid":"${uuid(1)}","timestamp":"2026-05-04T10:00:01.000Z",${COMMON}}`,
  );
  line(
    assistant(2, '{"type":"tool_use","id":"toolu_01BIG","name":"Bash","input":{"command":"cat all.log"}}', 'tool_use'),
  );
  const head = `{"parentUuid":"${uuid(2)}","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_01BIG","type":"tool_result","content":"`;
  const tail = `"}]},"uuid":"${uuid(3)}","timestamp":"2026-05-04T10:00:03.000Z","toolUseResult":{"stdout":"","stderr":"","interrupted":false,"isImage":false},${COMMON}}`;
  sink.text(head);
  let left = bytes - head.length - tail.length;
  const random = new Random(7, 7);
  while (left > 0) {
    const span = texts.span(random, 'log', Math.min(left, 100_000));
    if (span.to - span.from > left) break;
    sink.span(span);
    left -= span.to - span.from;
  }
  sink.text('x'.repeat(Math.max(0, left)));
  line(tail);
  line(assistant(4, '{"type":"text","text":"That is the log."}', 'end_turn'));
  sink.close();
}
