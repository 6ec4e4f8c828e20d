/**
 * The tools that a structured session (a session with an output schema) has by default. Source: specification,
 * Structured sessions, the left column.
 */
export const ANALYSIS_PROFILE = [
  "read_file",
  "write_file",
  "list_files",
  "run_shell",
  "fetch_url",
  "view_image",
  "elicit_user_input",
  "read_tool_result",
  "list_evidence",
  "read_message",
  "list_transcript",
  "search_transcript",
  "browser_execute",
  "browser_search",
  "dom_query",
  "save_cleaned_html",
  "inspect_frames",
  "capture_preview",
] as const;
