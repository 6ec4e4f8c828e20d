/**
 * Lists every tool of the service once: what it needs, its group in the tool policy, and how the page names it. A tool
 * itself is defined in its room with `defineTool`, which reads this list. The page imports this file, so it imports
 * nothing of the service.
 */

/**
 * What a session must have so that it gets the tool: a browser, a sandbox, the permission to delegate to sub-agents, or
 * a parent session.
 */
export type ToolNeed = "browser" | "sandbox" | "delegation" | "parent";

/** What a deployment must have so that a tool can work: `files` is a workspace, `testing` a confined Chromium for test runs. */
export type ToolMeans = "browser" | "scripts" | "files" | "commands" | "testing";

/**
 * The group of a tool in the tool policy. Every session has the `analysis` tools by default, and a session without an
 * output schema also has the `editing` tools. A structured session, which is a session with an output schema, has an
 * `editing` tool only if its `tools.include` names the tool. The policy does not apply to `always` tools (planning,
 * requirements, delegation, skills). Only a structured session whose
 * `tools.include` names it has a `named` tool.
 */
export type ToolProfile = "analysis" | "editing" | "always" | "named";

/**
 * A kind of tools that most tasks do not need. The model gets their names only, and reads their inputs with `load_tools`
 * when a task needs them. Source: decision 110.
 */
export type OnDemandKind =
  | "pictures"
  | "people"
  | "publishing"
  | "reports"
  | "plan"
  | "requirements"
  | "tests"
  | "skills"
  | "imports"
  | "annotations"
  | "sub-agents"
  /** The tools of the service's own tool server. */
  | "utilities";

/** The icon of a tool call on the page. */
type ToolIcon =
  | "script"
  | "search"
  | "page"
  | "camera"
  | "file"
  | "folder"
  | "terminal"
  | "globe"
  | "person"
  | "history"
  | "plug"
  | "agents"
  | "edit"
  | "check"
  | "publish"
  | "report"
  | "tests"
  | "plan"
  | "skill"
  | "tool";

/** A tool call in plain words, which the page shows instead of the tool name. */
export type CallWords = {
  icon: ToolIcon;
  /** The words while the call runs: `Reading the page`. */
  running: string;
  /** The words after the call ended: `Read the page`. */
  done: string;
  /** The words for several calls in a row. If omitted: `Read the page, 3 times`. */
  many?: (count: number) => string;
};

type ToolEntry = {
  needs?: ToolNeed;
  /** If omitted: `browser` or `files`, for a tool that needs a browser or a sandbox. */
  means?: readonly ToolMeans[];
  profile: ToolProfile;
  /** If omitted, the definition of the tool is a part of every model call. */
  onDemand?: OnDemandKind;
  /** Whether a call uses the live browser if the session has one, although the tool does not need it. */
  mayUseBrowser?: true;
  /** Whether the tool acts for the whole session. Sub-agents and holders of MCP tokens do not have it. */
  isRootOnly?: true;
  words: CallWords;
};

const TOOLS = {
  browser_execute: {
    needs: "browser",
    means: ["browser", "scripts"],
    profile: "analysis",
    words: {
      icon: "script",
      running: "Running a script in the page",
      done: "Ran a script in the page",
      many: (count) => `Ran ${count} scripts in the page`,
    },
  },
  browser_search: {
    needs: "browser",
    profile: "analysis",
    words: { icon: "search", running: "Searching the page", done: "Searched the page" },
  },
  dom_query: {
    needs: "browser",
    profile: "analysis",
    words: { icon: "page", running: "Reading the page", done: "Read the page" },
  },
  inspect_frames: {
    needs: "browser",
    profile: "analysis",
    words: { icon: "page", running: "Listing the page’s frames", done: "Listed the page’s frames" },
  },
  screenshot: {
    needs: "browser",
    profile: "editing",
    onDemand: "pictures",
    words: {
      icon: "camera",
      running: "Taking a screenshot",
      done: "Took a screenshot",
      many: (count) => `Took ${count} screenshots`,
    },
  },
  capture_preview: {
    needs: "browser",
    profile: "analysis",
    words: {
      icon: "camera",
      running: "Capturing a preview",
      done: "Captured a preview",
      many: (count) => `Captured ${count} previews`,
    },
  },
  save_cleaned_html: {
    needs: "browser",
    profile: "analysis",
    words: { icon: "file", running: "Saving the page’s HTML", done: "Saved the page’s HTML" },
  },
  read_file: {
    needs: "sandbox",
    profile: "analysis",
    words: {
      icon: "file",
      running: "Reading a file",
      done: "Read a file",
      many: (count) => `Read ${count} files`,
    },
  },
  write_file: {
    needs: "sandbox",
    profile: "analysis",
    words: {
      icon: "file",
      running: "Writing a file",
      done: "Wrote a file",
      many: (count) => `Wrote ${count} files`,
    },
  },
  list_files: {
    needs: "sandbox",
    profile: "analysis",
    words: { icon: "folder", running: "Listing files", done: "Listed files" },
  },
  run_shell: {
    needs: "sandbox",
    means: ["files", "commands"],
    profile: "analysis",
    words: {
      icon: "terminal",
      running: "Running a command",
      done: "Ran a command",
      many: (count) => `Ran ${count} commands`,
    },
  },
  view_image: {
    needs: "sandbox",
    profile: "analysis",
    words: {
      icon: "camera",
      running: "Viewing an image",
      done: "Viewed an image",
      many: (count) => `Viewed ${count} images`,
    },
  },
  fetch_url: {
    profile: "analysis",
    words: {
      icon: "globe",
      running: "Fetching a URL",
      done: "Fetched a URL",
      many: (count) => `Fetched ${count} URLs`,
    },
  },
  elicit_user_input: {
    profile: "analysis",
    words: { icon: "person", running: "Asking a question", done: "Asked a question" },
  },
  request_handover: {
    needs: "browser",
    profile: "editing",
    onDemand: "people",
    words: { icon: "person", running: "Handing the browser over", done: "Handed the browser over" },
  },
  read_message: {
    profile: "analysis",
    words: { icon: "history", running: "Reading an earlier message", done: "Read an earlier message" },
  },
  list_transcript: {
    profile: "analysis",
    words: {
      icon: "history",
      running: "Reading the transcript",
      done: "Read the transcript",
    },
  },
  search_transcript: {
    profile: "analysis",
    words: {
      icon: "history",
      running: "Searching the transcript",
      done: "Searched the transcript",
    },
  },
  read_tool_result: {
    profile: "analysis",
    words: { icon: "history", running: "Reading more of a result", done: "Read more of a result" },
  },
  read_skill: {
    needs: "sandbox",
    profile: "always",
    onDemand: "skills",
    words: {
      icon: "skill",
      running: "Reading a skill",
      done: "Read a skill",
      many: (count) => `Read skills ${count} times`,
    },
  },
  run_skill_script: {
    needs: "sandbox",
    means: ["files", "commands"],
    profile: "always",
    onDemand: "skills",
    words: {
      icon: "skill",
      running: "Running a script of a skill",
      done: "Ran a script of a skill",
      many: (count) => `Ran ${count} scripts of skills`,
    },
  },
  spawn_agents: {
    needs: "delegation",
    profile: "always",
    words: { icon: "agents", running: "Starting sub-agents", done: "Started sub-agents" },
  },
  wait_for_agents: {
    needs: "delegation",
    profile: "always",
    words: { icon: "agents", running: "Waiting for sub-agents", done: "Waited for sub-agents" },
  },
  message_agent: {
    needs: "delegation",
    profile: "always",
    onDemand: "sub-agents",
    words: {
      icon: "agents",
      running: "Sending a message to a sub-agent",
      done: "Sent a message to a sub-agent",
      many: (count) => `Sent ${count} messages to sub-agents`,
    },
  },
  list_agents: {
    needs: "delegation",
    profile: "always",
    onDemand: "sub-agents",
    words: { icon: "agents", running: "Listing the sub-agents", done: "Listed the sub-agents" },
  },
  cancel_agent: {
    needs: "delegation",
    profile: "always",
    onDemand: "sub-agents",
    words: {
      icon: "agents",
      running: "Stopping a sub-agent",
      done: "Stopped a sub-agent",
      many: (count) => `Stopped ${count} sub-agents`,
    },
  },
  submit_result: {
    needs: "parent",
    profile: "always",
    words: { icon: "agents", running: "Submitting the result", done: "Submitted the result" },
  },
  report_progress: {
    needs: "parent",
    profile: "always",
    words: {
      icon: "agents",
      running: "Reporting progress",
      done: "Reported progress",
      many: (count) => `Reported progress ${count} times`,
    },
  },
  list_evidence: {
    profile: "analysis",
    words: { icon: "history", running: "Listing the evidence", done: "Listed the evidence" },
  },
  apply_variant: {
    needs: "sandbox",
    // It belongs to the workspace tools of the specification, but it uses no file.
    means: [],
    profile: "editing",
    mayUseBrowser: true,
    words: { icon: "edit", running: "Changing the page", done: "Changed the page" },
  },
  check_variant: {
    needs: "browser",
    profile: "editing",
    words: { icon: "check", running: "Checking the variant", done: "Checked the variant" },
  },
  publish_variant: {
    profile: "editing",
    onDemand: "publishing",
    isRootOnly: true,
    words: { icon: "publish", running: "Publishing the variant", done: "Published the variant" },
  },
  run_tests: {
    needs: "sandbox",
    means: ["files", "testing"],
    profile: "editing",
    onDemand: "tests",
    isRootOnly: true,
    words: {
      icon: "tests",
      running: "Starting the tests",
      done: "Started the tests",
      many: (count) => `Started ${count} test runs`,
    },
  },
  wait_for_test_results: {
    needs: "sandbox",
    means: ["files", "testing"],
    profile: "editing",
    onDemand: "tests",
    isRootOnly: true,
    words: {
      icon: "tests",
      running: "Waiting for test results",
      done: "Waited for test results",
    },
  },
  publish_qa_report: {
    profile: "editing",
    onDemand: "reports",
    isRootOnly: true,
    words: {
      icon: "report",
      running: "Publishing a report",
      done: "Published a report",
      many: (count) => `Published ${count} reports`,
    },
  },
  list_annotations: {
    profile: "editing",
    onDemand: "annotations",
    isRootOnly: true,
    words: { icon: "person", running: "Reading the annotations", done: "Read the annotations" },
  },
  resolve_annotation: {
    profile: "editing",
    onDemand: "annotations",
    isRootOnly: true,
    words: {
      icon: "check",
      running: "Resolving an annotation",
      done: "Resolved an annotation",
      many: (count) => `Resolved ${count} annotations`,
    },
  },
  update_plan: {
    profile: "always",
    onDemand: "plan",
    isRootOnly: true,
    words: {
      icon: "plan",
      running: "Updating the plan",
      done: "Updated the plan",
      many: (count) => `Updated the plan ${count} times`,
    },
  },
  add_requirements: {
    profile: "always",
    onDemand: "requirements",
    words: { icon: "plan", running: "Adding requirements", done: "Added requirements" },
  },
  update_requirement: {
    profile: "always",
    onDemand: "requirements",
    words: {
      icon: "plan",
      running: "Updating a requirement",
      done: "Updated a requirement",
      many: (count) => `Updated ${count} requirements`,
    },
  },
  list_requirements: {
    profile: "always",
    onDemand: "requirements",
    words: { icon: "plan", running: "Reading the requirements", done: "Read the requirements" },
  },
  deploy_landing_page: {
    needs: "sandbox",
    profile: "editing",
    onDemand: "publishing",
    isRootOnly: true,
    words: {
      icon: "publish",
      running: "Deploying the landing page",
      done: "Deployed the landing page",
    },
  },
  import_legacy_session: {
    profile: "editing",
    onDemand: "imports",
    isRootOnly: true,
    words: {
      icon: "file",
      running: "Importing a document",
      done: "Imported a document",
      many: (count) => `Imported ${count} documents`,
    },
  },
  cite: {
    profile: "named",
    words: {
      icon: "check",
      running: "Citing what a value comes from",
      done: "Cited what a value comes from",
      many: (count) => `Cited what ${count} values come from`,
    },
  },
  set_previews: {
    needs: "browser",
    profile: "editing",
    onDemand: "people",
    words: { icon: "camera", running: "Taking previews", done: "Took previews" },
  },
  refresh_previews: {
    needs: "browser",
    profile: "editing",
    onDemand: "people",
    words: { icon: "camera", running: "Taking the previews again", done: "Took the previews again" },
  },
} satisfies Record<string, ToolEntry>;

/** The name of a tool of the service. */
export type ToolName = keyof typeof TOOLS;

/**
 * The tools that give access to tools on demand. Each session that has such tools has both, whatever its policy is: a
 * call through `call_tool` counts as a call of the tool that it names.
 */
export const LOAD_TOOLS = "load_tools";
export const CALL_TOOL = "call_tool";

/** Every tool of the service, by name. */
export const TOOL_CATALOGUE: Readonly<Record<ToolName, ToolEntry>> = TOOLS;

/** The entry of a tool; undefined for the tools of tool servers, and for tools of earlier versions. */
export const findTool = (name: string): ToolEntry | undefined =>
  Object.hasOwn(TOOLS, name) ? TOOL_CATALOGUE[name as ToolName] : undefined;

/** What a deployment must have so that a tool can work. Empty for the tools of tool servers. */
export function meansOf(name: string): readonly ToolMeans[] {
  const { needs, means } = findTool(name) ?? {};
  if (means) return means;
  if (needs === "browser") return ["browser"];
  return needs === "sandbox" ? ["files"] : [];
}

const namesOf = (matches: (entry: ToolEntry) => boolean): readonly string[] =>
  Object.entries(TOOL_CATALOGUE).flatMap(([name, entry]) => (matches(entry) ? [name] : []));

/** The tools that need the live browser. */
export const BROWSER_TOOLS = namesOf(({ needs }) => needs === "browser");

/** The tools that act for the whole session. Sub-agents and holders of MCP tokens do not have them. */
export const ROOT_TOOLS = namesOf(({ isRootOnly }) => isRootOnly === true);

/** The tools that only a sub-agent has. */
export const CHILD_TOOLS = namesOf(({ needs }) => needs === "parent");

/** The tools of which the model first gets only the names. */
export const ON_DEMAND_TOOLS = namesOf(({ onDemand }) => onDemand !== undefined);
