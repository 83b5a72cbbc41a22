-- Claude Code's transcripts as tables: what an analyst would write by hand. The files are parsed once, to one row a
-- content block; the tables come from that. @store@, @out@ and @max_object_size@ are filled in by duckdb.ts.

CREATE TEMP TABLE claude_blocks AS
WITH rows AS (
  SELECT
    filename,
    parse_filename(filename, true) AS session_id,
    "type", uuid, "timestamp", requestId AS request_id, isMeta AS is_meta, isSidechain AS is_sidechain,
    message.id AS message_id,
    message.model AS model,
    message.usage AS usage,
    toolUseResult AS side,
    -- A prompt is a string, everything else a list of blocks.
    CASE json_type(message.content)
      WHEN 'ARRAY' THEN from_json(message.content,
        '[{"type":"VARCHAR","text":"VARCHAR","thinking":"VARCHAR","id":"VARCHAR","name":"VARCHAR","input":"JSON","tool_use_id":"VARCHAR","content":"JSON","is_error":"BOOLEAN"}]')
      ELSE [{type: 'text', "text": message.content ->> '$', thinking: NULL, id: NULL, name: NULL, input: NULL, tool_use_id: NULL, content: NULL, is_error: NULL}]
    END AS blocks
  FROM read_ndjson('@store@/.claude/projects/**/*.jsonl',
    columns = {
      "type": 'VARCHAR', uuid: 'VARCHAR', "timestamp": 'TIMESTAMPTZ', requestId: 'VARCHAR', isMeta: 'BOOLEAN', isSidechain: 'BOOLEAN',
      message: 'STRUCT(id VARCHAR, model VARCHAR, content JSON, usage STRUCT(input_tokens BIGINT, output_tokens BIGINT, cache_read_input_tokens BIGINT, cache_creation_input_tokens BIGINT, cache_creation STRUCT(ephemeral_1h_input_tokens BIGINT)))',
      toolUseResult: 'JSON'
    },
    filename = true, maximum_object_size = @max_object_size@)
  WHERE "type" IN ('user', 'assistant') AND message IS NOT NULL
)
SELECT * EXCLUDE (blocks), unnest(blocks) AS block, generate_subscripts(blocks, 1) AS block_index FROM rows;

-- One message a reply: its text and thinking blocks stand on rows of their own and are joined again.
COPY (
  SELECT
    'claude' AS agent, session_id, coalesce(message_id, uuid) AS message_id, "type" AS role, min("timestamp") AS "timestamp",
    any_value(model) AS model,
    string_agg(block."text", chr(10) ORDER BY "timestamp", block_index) AS "text",
    string_agg(block.thinking, chr(10) ORDER BY "timestamp", block_index) AS thinking,
    bool_or(is_meta) AS is_meta, any_value(is_sidechain) AS is_sidechain
  FROM claude_blocks
  WHERE block."type" IN ('text', 'thinking')
  GROUP BY session_id, coalesce(message_id, uuid), "type"
) TO '@out@/claude_messages.parquet' (FORMAT parquet, COMPRESSION zstd);

COPY (
  SELECT 'claude' AS agent, session_id, message_id, "timestamp", block.id AS call_id, block.name AS name, block.input AS arguments
  FROM claude_blocks WHERE block."type" = 'tool_use'
) TO '@out@/claude_tool_calls.parquet' (FORMAT parquet, COMPRESSION zstd);

-- A result's content is a string or a list of blocks of which the texts count.
COPY (
  SELECT
    'claude' AS agent, session_id, "timestamp", block.tool_use_id AS call_id, block.is_error AS is_error,
    CASE json_type(block.content)
      WHEN 'VARCHAR' THEN block.content ->> '$'
      WHEN 'ARRAY' THEN array_to_string(block.content ->> '$[*].text', chr(10))
    END AS output,
    side AS output_json
  FROM claude_blocks WHERE block."type" = 'tool_result'
) TO '@out@/claude_tool_results.parquet' (FORMAT parquet, COMPRESSION zstd);

-- Usage stands on each of a reply's rows, and in each file that copies it: one row a reply, with its greatest output.
COPY (
  SELECT
    'claude' AS agent, message_id, request_id, arg_min(session_id, "timestamp") AS session_id, min("timestamp") AS "timestamp", any_value(model) AS model,
    max(usage.input_tokens) AS input_tokens, max(usage.output_tokens) AS output_tokens,
    max(usage.cache_read_input_tokens) AS cache_read_tokens, max(usage.cache_creation_input_tokens) AS cache_write_tokens,
    max(usage.cache_creation.ephemeral_1h_input_tokens) AS cache_write_1h_tokens
  FROM claude_blocks WHERE "type" = 'assistant' AND usage IS NOT NULL AND model <> '<synthetic>'
  GROUP BY message_id, request_id
) TO '@out@/claude_usage.parquet' (FORMAT parquet, COMPRESSION zstd);

DROP TABLE claude_blocks;
