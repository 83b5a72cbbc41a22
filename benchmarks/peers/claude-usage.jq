# One object a row that has usage; the same fields as sessionlake's native counters. Repeats are not removed: that needs
# the whole store at once, and jq reads row by row.
select(.type == "assistant" and .message.usage != null)
| {
    session_id: .sessionId,
    message_id: .message.id,
    request_id: .requestId,
    timestamp: .timestamp,
    model: .message.model,
    input_tokens: .message.usage.input_tokens,
    output_tokens: .message.usage.output_tokens,
    cache_read_tokens: .message.usage.cache_read_input_tokens,
    cache_write_tokens: .message.usage.cache_creation_input_tokens,
    cache_write_1h_tokens: .message.usage.cache_creation.ephemeral_1h_input_tokens
  }
