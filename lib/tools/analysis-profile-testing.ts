/** The tools of the analysis profile that need the sandbox. */
export const SANDBOX_TOOLS = ["read_file", "write_file", "list_files", "run_shell", "view_image"] as const;

/** The tools of the analysis profile that need the browser. */
export const BROWSER_TOOLS = [
  "browser_execute",
  "browser_search",
  "dom_query",
  "save_cleaned_html",
  "inspect_frames",
  "capture_preview",
] as const;

/**
 * The tools that a structured session (a session with an output schema) has by default. Source: specification,
 * Structured sessions, the left column.
 */
export const ANALYSIS_PROFILE = [
  ...SANDBOX_TOOLS,
  "fetch_url",
  "elicit_user_input",
  "read_tool_result",
  "list_evidence",
  "read_message",
  "list_transcript",
  "search_transcript",
  ...BROWSER_TOOLS,
] as const;
