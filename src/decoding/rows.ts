/**
 * Rows of the event tables, column by column. Written out because it is the hot path: objects made in one literal are
 * several times cheaper, here and in every sink that reads them, than the same put together from parts. The types, which
 * derive from the tables, see to it that no column is missing.
 */
import type { MessageFields, ToolCallFields, ToolResultFields, UsageObservation } from '../agents/agent.ts';
import type { Normalized } from '../ledger/normalize.ts';
import type { EventColumns, MessageRow, ToolCallRow, ToolResultRow, UsageRow } from '../records/tables.ts';

export function messageRow(event: EventColumns, fields: MessageFields): MessageRow {
  return {
    agent: event.agent,
    session_id: event.session_id,
    source_id: event.source_id,
    event_id: event.event_id,
    ordinal: event.ordinal,
    byte_start: event.byte_start,
    byte_end: event.byte_end,
    locator: event.locator,
    timestamp: event.timestamp,
    timestamp_text: event.timestamp_text,
    generation: event.generation,
    revision: event.revision,
    is_copy: fields.is_copy,
    message_id: fields.message_id,
    record_id: fields.record_id,
    parent_record_id: fields.parent_record_id,
    role: fields.role,
    author: fields.author,
    kind: fields.kind,
    model: fields.model,
    text: fields.text,
    thinking: fields.thinking,
    is_meta: fields.is_meta,
    is_active: fields.is_active,
    content_kinds: fields.content_kinds,
  };
}

export function toolCallRow(event: EventColumns, fields: ToolCallFields): ToolCallRow {
  return {
    agent: event.agent,
    session_id: event.session_id,
    source_id: event.source_id,
    event_id: event.event_id,
    ordinal: event.ordinal,
    byte_start: event.byte_start,
    byte_end: event.byte_end,
    locator: event.locator,
    timestamp: event.timestamp,
    timestamp_text: event.timestamp_text,
    generation: event.generation,
    revision: event.revision,
    is_copy: fields.is_copy,
    message_id: fields.message_id,
    call_id: fields.call_id,
    name: fields.name,
    kind: fields.kind,
    arguments: fields.arguments,
  };
}

export function toolResultRow(event: EventColumns, fields: ToolResultFields): ToolResultRow {
  return {
    agent: event.agent,
    session_id: event.session_id,
    source_id: event.source_id,
    event_id: event.event_id,
    ordinal: event.ordinal,
    byte_start: event.byte_start,
    byte_end: event.byte_end,
    locator: event.locator,
    timestamp: event.timestamp,
    timestamp_text: event.timestamp_text,
    generation: event.generation,
    revision: event.revision,
    is_copy: fields.is_copy,
    call_id: fields.call_id,
    is_error: fields.is_error,
    output: fields.output,
    output_json: fields.output_json,
  };
}

/** A usage row as if it were counted in full. A reply without a key of its own is keyed by its event. */
export function usageRow(event: EventColumns, observation: UsageObservation, normalized: Normalized): UsageRow {
  return {
    agent: event.agent,
    session_id: event.session_id,
    source_id: event.source_id,
    event_id: event.event_id,
    ordinal: event.ordinal,
    byte_start: event.byte_start,
    byte_end: event.byte_end,
    locator: event.locator,
    timestamp: event.timestamp,
    timestamp_text: event.timestamp_text,
    generation: event.generation,
    revision: event.revision,
    message_id: observation.message_id,
    request_id: observation.request_id,
    model: observation.model,
    provider: observation.provider,
    usage_key: observation.key ?? event.event_id,
    input_tokens: normalized.native.input_tokens,
    output_tokens: normalized.native.output_tokens,
    cache_read_tokens: normalized.native.cache_read_tokens,
    cache_write_tokens: normalized.native.cache_write_tokens,
    cache_write_1h_tokens: normalized.native.cache_write_1h_tokens,
    reasoning_tokens: normalized.native.reasoning_tokens,
    total_tokens: normalized.native.total_tokens,
    input_includes_cache_read: observation.input_includes_cache_read,
    input_includes_cache_write: observation.input_includes_cache_write,
    output_includes_reasoning: observation.output_includes_reasoning,
    basis: observation.basis,
    adjustments: normalized.adjustments,
    reported_cost_usd: observation.reported_cost_usd,
    service_tier: observation.service_tier,
    state: observation.state,
    counted_input_tokens: normalized.counted.counted_input_tokens,
    counted_output_tokens: normalized.counted.counted_output_tokens,
    counted_cache_read_tokens: normalized.counted.counted_cache_read_tokens,
    counted_cache_write_tokens: normalized.counted.counted_cache_write_tokens,
    counted_cache_write_1h_tokens: normalized.counted.counted_cache_write_1h_tokens,
    counted_reasoning_tokens: normalized.counted.counted_reasoning_tokens,
  };
}
