/** The record types of a rollout: what is known, and what of it carries rows. */

/** Types whose `payload` object is their content. */
export const ENVELOPE_TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'token_usage_record',
]);

/** Lines that are no conversation. `compacted` repeats the history as context; it is no new message. */
const IGNORED_LINES = [
  'compacted',
  'world_state',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
  'realtime_item',
  'retained_context',
  'security_risk_score',
  'id_allocation',
  'dynamic_tools_updated',
  'turn_context',
  'record_type/state',
];

/** Response items without rows. */
const IGNORED_ITEMS = [
  'additional_tools',
  'agent_message',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
  'context_compaction',
  'ghost_snapshot',
  'configuration_update',
];

/** Events without rows: the turn's life, and progress of what `response_item` lines hold in full. */
const IGNORED_EVENTS = [
  'task_started',
  'turn_started',
  'task_complete',
  'turn_complete',
  'turn_aborted',
  'thread_rolled_back',
  'thread_settings_applied',
  'thread_name_updated',
  'thread_goal_updated',
  'context_compacted',
  'patch_apply_begin',
  'patch_apply_end',
  'mcp_tool_call_begin',
  'mcp_tool_call_end',
  'exec_command_begin',
  'exec_command_end',
  'web_search_begin',
  'web_search_end',
  'image_generation_begin',
  'image_generation_end',
  'view_image_tool_call',
  'plan_update',
  'entered_review_mode',
  'exited_review_mode',
  'sub_agent_activity',
  'collab_agent_spawn_begin',
  'collab_agent_spawn_end',
  'collab_agent_interaction_begin',
  'collab_agent_interaction_end',
  'collab_waiting_begin',
  'collab_waiting_end',
  'collab_close_begin',
  'collab_close_end',
  'collab_resume_begin',
  'collab_resume_end',
  'dynamic_tool_call_request',
  'dynamic_tool_call_response',
  'guardian_assessment',
  'agent_reasoning_section_break',
  'agent_reasoning_raw_content',
  'item_started',
  'session_configured',
  'model_reroute',
  'background_event',
  'turn_diff',
  'stream_error',
  'warning',
  'error',
];

/** Events that repeat what `response_item` lines say: used only in a file that has no response_item message. */
export const MIRROR_EVENTS: ReadonlySet<string> = new Set([
  'user_message',
  'agent_message',
  'agent_reasoning',
  'item_completed',
]);

/** Names of lines that are known and carry no rows, as `RolloutLine.name` spells them. */
export const IGNORED: ReadonlySet<string> = new Set([
  ...IGNORED_LINES,
  ...IGNORED_ITEMS.map((type) => `response_item/${type}`),
  ...IGNORED_EVENTS.map((type) => `event_msg/${type}`),
]);

/** Lines that repeat the whole context and can be tens of megabytes: never built, whatever else is done. */
export const FAT_LINES: ReadonlySet<string> = new Set(['compacted', 'world_state']);

/** Events that must be read although they carry no rows: they move model, turn, title or activity. */
export const STATE_EVENTS: ReadonlySet<string> = new Set([
  'task_started',
  'turn_started',
  'thread_settings_applied',
  'thread_name_updated',
]);

/** Tables that a response item of this type fills. */
export const ITEM_TABLES: ReadonlyMap<string, 'messages' | 'tool_calls' | 'tool_results'> = new Map([
  ['message', 'messages'],
  ['reasoning', 'messages'],
  ['function_call', 'tool_calls'],
  ['custom_tool_call', 'tool_calls'],
  ['local_shell_call', 'tool_calls'],
  ['web_search_call', 'tool_calls'],
  ['image_generation_call', 'tool_calls'],
  ['tool_search_call', 'tool_calls'],
  ['function_call_output', 'tool_results'],
  ['custom_tool_call_output', 'tool_results'],
  ['tool_search_output', 'tool_results'],
]);
