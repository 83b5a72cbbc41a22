/** Tools by their numbers in calls and in results, which differ after 10 (`task.proto`). */

/** Names in calls. */
export const CALLS: ReadonlyMap<number, string> = new Map([
  [2, 'run_shell_command'],
  [3, 'search_codebase'],
  [4, 'server'],
  [5, 'read_files'],
  [6, 'apply_file_diffs'],
  [7, 'suggest_plan'],
  [8, 'suggest_create_plan'],
  [9, 'grep'],
  [10, 'file_glob'],
  [11, 'read_mcp_resource'],
  [12, 'call_mcp_tool'],
  [13, 'write_to_long_running_shell_command'],
  [14, 'suggest_new_conversation'],
  [15, 'file_glob_v2'],
  [16, 'suggest_prompt'],
  [17, 'open_code_review'],
  [18, 'init_project'],
  [19, 'subagent'],
  [20, 'read_documents'],
  [21, 'edit_documents'],
  [22, 'create_documents'],
  [23, 'read_shell_command_output'],
  [24, 'use_computer'],
  [25, 'insert_review_comments'],
  [26, 'read_skill'],
  [27, 'request_computer_use'],
  [28, 'fetch_conversation'],
  [29, 'start_agent'],
  [30, 'send_message_to_agent'],
  [31, 'transfer_shell_command_control_to_user'],
]);

/** `error`: number of the member whose presence means that it failed. */
interface ResultKind {
  readonly name: string;
  /** null: it cannot fail. Undefined: what is in it is not known. */
  readonly error?: number | null;
}

export const SHELL_RESULT = 2;

/** Kinds of results. */
export const RESULTS: ReadonlyMap<number, ResultKind> = new Map([
  [SHELL_RESULT, { name: 'run_shell_command', error: 6 }],
  [3, { name: 'search_codebase', error: 2 }],
  [4, { name: 'server' }],
  [5, { name: 'read_files', error: 2 }],
  [6, { name: 'apply_file_diffs', error: 2 }],
  // A plan that the user edited is no failure, and neither is a rejected suggestion.
  [7, { name: 'suggest_plan', error: null }],
  [8, { name: 'suggest_create_plan', error: null }],
  [9, { name: 'grep', error: 2 }],
  [10, { name: 'file_glob', error: 2 }],
  [14, { name: 'cancel' }],
  [15, { name: 'read_mcp_resource', error: 2 }],
  [16, { name: 'call_mcp_tool', error: 2 }],
  [17, { name: 'write_to_long_running_shell_command', error: 3 }],
  [18, { name: 'suggest_new_conversation', error: null }],
  [19, { name: 'file_glob_v2', error: 2 }],
  [20, { name: 'suggest_prompt', error: null }],
  [21, { name: 'open_code_review', error: null }],
  [22, { name: 'init_project', error: null }],
  [23, { name: 'subagent' }],
  [24, { name: 'read_documents', error: 2 }],
  [25, { name: 'edit_documents', error: 2 }],
  [26, { name: 'create_documents', error: 2 }],
  [27, { name: 'read_shell_command_output', error: 4 }],
  [28, { name: 'use_computer', error: 2 }],
  [29, { name: 'insert_review_comments', error: 3 }],
  [30, { name: 'read_skill', error: 2 }],
  [31, { name: 'request_computer_use', error: 3 }],
  [32, { name: 'fetch_conversation' }],
  [33, { name: 'start_agent' }],
  [34, { name: 'send_message_to_agent' }],
  [35, { name: 'transfer_shell_command_control_to_user', error: 3 }],
]);
