import type { AgentReply, ClaudeRows } from './claude-rows.ts';
import { quoted, type ToolCall, writeString } from './claude-tools.ts';
import { filePath, type Span, sentence } from './text.ts';
import { NOUNS } from './words.ts';

/*
 * The rows that are no conversation: attachments, progress, snapshots, notes. Dice are cast for copied history too, even
 * where the row itself is not copied, or the copy would run away from its origin.
 */

function writeAttachment(rows: ClaudeRows, writeValue: () => void): void {
  rows.begin();
  rows.sink.text(',"attachment":');
  writeValue();
  rows.end(',"type":"attachment"');
}

export function writeStartOfSession(rows: ClaudeRows, skills: Span): void {
  rows.aside('"type":"permission-mode","permissionMode":"default"');
  const names = JSON.stringify(
    Array.from({ length: 30 }, () => `${rows.random.pick(NOUNS)}_${rows.random.pick(NOUNS)}`),
  );
  writeAttachment(rows, () =>
    rows.sink.text(`{"type":"deferred_tools_delta","addedNames":${names},"addedLines":${names},"removedNames":[]}`),
  );
  writeAttachment(rows, () => {
    rows.sink.text('{"type":"skill_listing","content":');
    writeString(rows.sink, skills);
    rows.sink.text(',"skillCount":24,"isInitial":true}');
  });
}

export function writeTaskReminder(rows: ClaudeRows): void {
  writeAttachment(rows, () => rows.sink.text('{"type":"task_reminder","content":[],"itemCount":0}'));
}

/** A prompt typed while the agent was at work. */
export function writeQueueOperations(rows: ClaudeRows): void {
  const content = quoted(sentence(rows.random));
  rows.aside(`"type":"queue-operation","operation":"enqueue","timestamp":"${rows.timestamp()}","content":${content}`);
  rows.wait(100, 9_000);
  rows.aside(`"type":"queue-operation","operation":"dequeue","timestamp":"${rows.timestamp()}"`);
}

export function writeFileSnapshot(rows: ClaudeRows, turn: number): void {
  const id = rows.lastUuid;
  const files = Array.from({ length: rows.random.int(0, Math.min(8, turn)) }, () => filePath(rows.random));
  const backup = (version: number): object => ({
    backupFileName: `${id.slice(0, 8)}@v${version}`,
    version,
    backupTime: rows.timestamp(),
  });
  const backups = JSON.stringify(Object.fromEntries(files.map((file, i) => [file, backup(i + 1)])));
  if (rows.view.copying) return;
  rows.sink.text(
    `{"type":"file-history-snapshot","messageId":"${id}","snapshot":{"messageId":"${id}","trackedFileBackups":${backups},"timestamp":"${rows.timestamp()}"},"isSnapshotUpdate":${turn > 1}}`,
  );
  rows.sink.endLine();
}

/** What hooks and long commands say while a tool runs. */
export function writeToolProgress(rows: ClaudeRows, call: ToolCall): void {
  const { random, sink } = rows;
  const ids = `,"toolUseID":"${call.id}","parentToolUseID":"${call.id}"`;
  for (const event of ['PreToolUse', 'PostToolUse']) {
    if (!random.chance(0.35)) continue;
    rows.begin();
    sink.text(
      `,"type":"progress","data":{"type":"hook_progress","hookEvent":"${event}","hookName":"${event}:${call.name}","command":"./hooks/check.sh"}`,
    );
    rows.end(ids);
  }
  if (call.name !== 'Bash' || !random.chance(0.15)) return;
  for (let seconds = 2; seconds < random.int(3, 9); seconds++) {
    const line = quoted(sentence(random));
    rows.begin();
    sink.text(
      `,"type":"progress","data":{"type":"bash_progress","output":${line},"fullOutput":${line},"elapsedTimeSeconds":${seconds},"totalLines":1}`,
    );
    rows.end(ids);
  }
}

/** A full copy of a sub agent's reply, usage included, in its parent's file. */
export function writeAgentProgress(rows: ClaudeRows, toolId: string, agentId: string, copy: AgentReply): void {
  rows.wait(500, 9_000);
  rows.begin();
  const path = filePath(rows.random);
  rows.sink.text(
    `,"type":"progress","data":{"type":"agent_progress","message":{"type":"assistant","message":{"model":"claude-haiku-4-5-20251001","id":"${copy.messageId}","type":"message","role":"assistant","content":[{"type":"tool_use","id":"${copy.toolId}","name":"Read","input":{"file_path":"${path}"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":${copy.usage}},"requestId":"${copy.requestId}","uuid":"${rows.random.uuid()}","timestamp":"${rows.timestamp()}"},"prompt":"","agentId":"${agentId}"}`,
  );
  rows.end(`,"toolUseID":"agent_${copy.messageId}","parentToolUseID":"${toolId}"`);
}

export function writeCompaction(rows: ClaudeRows, summary: Span, tokens: number): void {
  const before = rows.lastUuid;
  rows.parentUuid = null;
  rows.begin();
  rows.sink.text(
    `,"logicalParentUuid":"${before}","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","compactMetadata":{"trigger":"auto","preTokens":${tokens}}`,
  );
  rows.end();
  rows.begin();
  rows.sink.text(',"type":"user","message":{"role":"user","content":');
  writeString(rows.sink, summary);
  rows.end('},"isVisibleInTranscriptOnly":true,"isCompactSummary":true');
}

/** The CLI's own words in place of a reply. */
export function writeApiError(rows: ClaudeRows): void {
  rows.begin();
  rows.sink.text(
    `,"message":{"id":"${rows.random.uuid()}","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","stop_sequence":"","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: 529 Overloaded"}]},"isApiErrorMessage":true`,
  );
  rows.end(',"type":"assistant"');
}

export function writeEndOfTurn(rows: ClaudeRows, durationMs: number): void {
  if (rows.era.finalUsage !== 'none') {
    rows.begin();
    rows.sink.text(`,"type":"system","subtype":"turn_duration","durationMs":${durationMs},"isMeta":false`);
    rows.end();
  }
  if (!rows.era.rich) return;
  rows.aside(`"type":"last-prompt","lastPrompt":${quoted(sentence(rows.random))}`);
  rows.aside('"type":"permission-mode","permissionMode":"default"');
}

export function writeTitle(rows: ClaudeRows, title: string, typed: boolean): void {
  if (typed) rows.aside(`"type":"custom-title","customTitle":${quoted(title)}`);
  else if (rows.era.rich) rows.aside(`"type":"ai-title","aiTitle":${quoted(title)}`);
  else {
    rows.sink.text(`{"type":"summary","summary":${quoted(title)},"leafUuid":"${rows.lastUuid}"}`);
    rows.sink.endLine();
  }
}
