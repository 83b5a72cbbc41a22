-- Codex rollouts as tables, in the same manner: parsed once, to one row a line with the fields that are needed.

CREATE TEMP TABLE codex_items AS
SELECT
  regexp_extract(filename, '([0-9a-f-]{36})\.jsonl$', 1) AS session_id,
  "type", "timestamp", payload
FROM read_ndjson('@store@/.codex/**/rollout-*.jsonl',
  columns = {
    "timestamp": 'TIMESTAMPTZ', "type": 'VARCHAR',
    payload: 'STRUCT("type" VARCHAR, role VARCHAR, content JSON, summary JSON, name VARCHAR, arguments VARCHAR, input VARCHAR, call_id VARCHAR, output JSON, model VARCHAR, info STRUCT(total_token_usage STRUCT(input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_input_tokens BIGINT, output_tokens BIGINT, reasoning_output_tokens BIGINT, total_tokens BIGINT), last_token_usage STRUCT(input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_input_tokens BIGINT, output_tokens BIGINT, reasoning_output_tokens BIGINT, total_tokens BIGINT)))'
  },
  filename = true, maximum_object_size = @max_object_size@)
WHERE "type" IN ('response_item', 'turn_context') OR ("type" = 'event_msg' AND payload."type" = 'token_count');

COPY (
  SELECT
    'codex' AS agent, session_id, "timestamp", coalesce(payload.role, 'assistant') AS role,
    CASE WHEN payload."type" = 'message' THEN array_to_string(payload.content ->> '$[*].text', chr(10)) END AS "text",
    CASE WHEN payload."type" = 'reasoning' THEN array_to_string(payload.summary ->> '$[*].text', chr(10)) END AS thinking
  FROM codex_items
  WHERE "type" = 'response_item'
    AND (payload."type" = 'message' OR (payload."type" = 'reasoning' AND json_array_length(payload.summary) > 0))
) TO '@out@/codex_messages.parquet' (FORMAT parquet, COMPRESSION zstd);

COPY (
  SELECT
    'codex' AS agent, session_id, "timestamp", payload.call_id AS call_id, payload.name AS name,
    coalesce(payload.arguments, payload.input) AS arguments
  FROM codex_items WHERE payload."type" IN ('function_call', 'custom_tool_call')
) TO '@out@/codex_tool_calls.parquet' (FORMAT parquet, COMPRESSION zstd);

COPY (
  SELECT
    'codex' AS agent, session_id, "timestamp", payload.call_id AS call_id,
    CASE json_type(payload.output)
      WHEN 'VARCHAR' THEN payload.output ->> '$'
      WHEN 'ARRAY' THEN array_to_string(payload.output ->> '$[*].text', chr(10))
    END AS output
  FROM codex_items WHERE payload."type" IN ('function_call_output', 'custom_tool_call_output')
) TO '@out@/codex_tool_results.parquet' (FORMAT parquet, COMPRESSION zstd);

-- The totals only grow, so equal totals are a line repeated, in its own thread or in a fork's copy of it; the last reply
-- is what it adds. The model is that of the turn.
COPY (
  WITH replies AS (
    SELECT
      payload.info.last_token_usage AS last, arg_min(session_id, "timestamp") AS session_id, min("timestamp") AS "timestamp"
    FROM codex_items
    WHERE payload."type" = 'token_count' AND payload.info.last_token_usage.input_tokens > 0
    GROUP BY payload.info.total_token_usage, payload.info.last_token_usage
  ),
  turns AS (SELECT session_id, "timestamp", payload.model AS model FROM codex_items WHERE "type" = 'turn_context')
  SELECT
    'codex' AS agent, session_id, "timestamp", turns.model,
    last.input_tokens AS input_tokens, last.output_tokens AS output_tokens, last.cached_input_tokens AS cache_read_tokens,
    last.cache_write_input_tokens AS cache_write_tokens, last.reasoning_output_tokens AS reasoning_tokens
  FROM replies ASOF LEFT JOIN turns USING (session_id, "timestamp")
) TO '@out@/codex_usage.parquet' (FORMAT parquet, COMPRESSION zstd);

DROP TABLE codex_items;
