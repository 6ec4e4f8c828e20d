import { shorten } from "#lib/text/shorten.ts";
import { describeDeployOfCall } from "./describe-page.ts";
import { describePlanningCall } from "./describe-plan.ts";
import { describeResultsOfCall, describeStartOfCall, describeTestsOfCall } from "./describe-test-run.ts";
import {
  describeEditsOfCall,
  describePreviewsOfCall,
  describeReleaseOfCall,
} from "./describe-variant-call.ts";

/** A tool call in plain words, which the page shows instead of the tool name. */
export type ToolWords = {
  icon:
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
  /** The words while the call runs: `Reading the page`. */
  running: string;
  /** The words after the call ended: `Read the page`. */
  done: string;
  /** The words for several calls in a row: `Read the page, 3 times`. */
  many: (count: number) => string;
  /** What the call is about, shortened: a selector, URL, path or command. */
  object: string | null;
};

type Words = Omit<ToolWords, "object" | "many"> & { many?: (count: number) => string };

const PAGE_TOOLS = new Set([
  "browser_execute",
  "browser_search",
  "dom_query",
  "inspect_frames",
  "screenshot",
  "capture_preview",
  "save_cleaned_html",
  "apply_variant",
  "check_variant",
  "set_previews",
  "refresh_previews",
]);

/** Whether a tool works on the live page. Such a tool may have to wait for a browser. */
export const worksOnPage = (toolName: string): boolean => PAGE_TOOLS.has(toolName);

const WORDS: Record<string, Words> = {
  browser_execute: {
    icon: "script",
    running: "Running a script in the page",
    done: "Ran a script in the page",
    many: (count) => `Ran ${count} scripts in the page`,
  },
  browser_search: { icon: "search", running: "Searching the page", done: "Searched the page" },
  dom_query: { icon: "page", running: "Reading the page", done: "Read the page" },
  inspect_frames: { icon: "page", running: "Listing the page’s frames", done: "Listed the page’s frames" },
  screenshot: {
    icon: "camera",
    running: "Taking a screenshot",
    done: "Took a screenshot",
    many: (count) => `Took ${count} screenshots`,
  },
  capture_preview: {
    icon: "camera",
    running: "Capturing a preview",
    done: "Captured a preview",
    many: (count) => `Captured ${count} previews`,
  },
  save_cleaned_html: { icon: "file", running: "Saving the page’s HTML", done: "Saved the page’s HTML" },
  read_file: {
    icon: "file",
    running: "Reading a file",
    done: "Read a file",
    many: (count) => `Read ${count} files`,
  },
  write_file: {
    icon: "file",
    running: "Writing a file",
    done: "Wrote a file",
    many: (count) => `Wrote ${count} files`,
  },
  list_files: { icon: "folder", running: "Listing files", done: "Listed files" },
  run_shell: {
    icon: "terminal",
    running: "Running a command",
    done: "Ran a command",
    many: (count) => `Ran ${count} commands`,
  },
  view_image: {
    icon: "camera",
    running: "Viewing an image",
    done: "Viewed an image",
    many: (count) => `Viewed ${count} images`,
  },
  fetch_url: {
    icon: "globe",
    running: "Fetching a URL",
    done: "Fetched a URL",
    many: (count) => `Fetched ${count} URLs`,
  },
  elicit_user_input: { icon: "person", running: "Asking a question", done: "Asked a question" },
  read_message: { icon: "history", running: "Reading an earlier message", done: "Read an earlier message" },
  list_transcript: {
    icon: "history",
    running: "Reading the transcript",
    done: "Read the transcript",
  },
  search_transcript: {
    icon: "history",
    running: "Searching the transcript",
    done: "Searched the transcript",
  },
  read_tool_result: { icon: "history", running: "Reading more of a result", done: "Read more of a result" },
  read_skill: {
    icon: "skill",
    running: "Reading a skill",
    done: "Read a skill",
    many: (count) => `Read skills ${count} times`,
  },
  run_skill_script: {
    icon: "skill",
    running: "Running a script of a skill",
    done: "Ran a script of a skill",
    many: (count) => `Ran ${count} scripts of skills`,
  },
  spawn_agents: { icon: "agents", running: "Starting sub-agents", done: "Started sub-agents" },
  wait_for_agents: { icon: "agents", running: "Waiting for sub-agents", done: "Waited for sub-agents" },
  message_agent: {
    icon: "agents",
    running: "Sending a message to a sub-agent",
    done: "Sent a message to a sub-agent",
    many: (count) => `Sent ${count} messages to sub-agents`,
  },
  list_agents: { icon: "agents", running: "Listing the sub-agents", done: "Listed the sub-agents" },
  cancel_agent: {
    icon: "agents",
    running: "Stopping a sub-agent",
    done: "Stopped a sub-agent",
    many: (count) => `Stopped ${count} sub-agents`,
  },
  submit_result: { icon: "agents", running: "Submitting the result", done: "Submitted the result" },
  report_progress: {
    icon: "agents",
    running: "Reporting progress",
    done: "Reported progress",
    many: (count) => `Reported progress ${count} times`,
  },
  list_evidence: { icon: "history", running: "Listing the evidence", done: "Listed the evidence" },
  apply_variant: { icon: "edit", running: "Changing the page", done: "Changed the page" },
  check_variant: { icon: "check", running: "Checking the variant", done: "Checked the variant" },
  publish_variant: { icon: "publish", running: "Publishing the variant", done: "Published the variant" },
  run_tests: {
    icon: "tests",
    running: "Starting the tests",
    done: "Started the tests",
    many: (count) => `Started ${count} test runs`,
  },
  wait_for_test_results: {
    icon: "tests",
    running: "Waiting for test results",
    done: "Waited for test results",
  },
  publish_qa_report: {
    icon: "report",
    running: "Publishing a report",
    done: "Published a report",
    many: (count) => `Published ${count} reports`,
  },
  update_plan: {
    icon: "plan",
    running: "Updating the plan",
    done: "Updated the plan",
    many: (count) => `Updated the plan ${count} times`,
  },
  add_requirements: { icon: "plan", running: "Adding requirements", done: "Added requirements" },
  update_requirement: {
    icon: "plan",
    running: "Updating a requirement",
    done: "Updated a requirement",
    many: (count) => `Updated ${count} requirements`,
  },
  list_requirements: { icon: "plan", running: "Reading the requirements", done: "Read the requirements" },
  deploy_landing_page: {
    icon: "publish",
    running: "Deploying the landing page",
    done: "Deployed the landing page",
  },
  import_legacy_session: {
    icon: "file",
    running: "Importing a document",
    done: "Imported a document",
    many: (count) => `Imported ${count} documents`,
  },
  set_previews: { icon: "camera", running: "Taking previews", done: "Took previews" },
  refresh_previews: { icon: "camera", running: "Taking the previews again", done: "Took the previews again" },
};

/** Fields of a tool's input that say what the call is about. The first field that the input has is shown. */
const OBJECT_FIELDS = [
  "url",
  "path",
  "query",
  "selector",
  "command",
  "question",
  "text",
  "title",
  "name",
  "code",
  "script",
  "role",
  "device",
  "variant",
  "folder",
];
const OBJECT_CHARACTERS_MAX = 120;

/**
 * Describes a tool call in words. Unknown tools are shown by their name.
 *
 * @param result the beginning of the call's result if the call succeeded; otherwise empty.
 */
export function describeTool(toolName: string, input: unknown, result = ""): ToolWords {
  const release = toolName === "publish_variant" ? describeReleaseOfCall(input, result) : null;
  if (release !== null) return describeRelease(release);
  const version = toolName === "deploy_landing_page" ? describeDeployOfCall(result) : null;
  if (version !== null) return describeDeploy(version);
  const words =
    describeSetPreviews(toolName, input) ??
    describeTests(toolName, result) ??
    WORDS[toolName] ??
    describeOther(toolName);
  return {
    ...words,
    many: words.many ?? ((count) => `${words.done}, ${count} times`),
    object: describeSubject(toolName, input, result),
  };
}

/** Describes `set_previews` by the number of previews: `Took 4 previews`. */
function describeSetPreviews(toolName: string, input: unknown): Words | undefined {
  const previews = toolName === "set_previews" ? describePreviewsOfCall(input) : null;
  if (previews === null) return undefined;
  return { icon: "camera", running: `Taking ${previews}`, done: `Took ${previews}` };
}

/** Describes `publish_variant` by its outcome: `Published release 2 of main`. */
function describeRelease(release: string): ToolWords {
  const done = `Published ${release}`;
  const running = "Publishing the variant";
  return { icon: "publish", running, done, many: (count) => `${done}, ${count} times`, object: null };
}

/** Describes `deploy_landing_page` by its outcome: `Deployed version 2 of sale`. */
function describeDeploy(version: string): ToolWords {
  const done = `Deployed ${version}`;
  const running = "Deploying the landing page";
  return { icon: "publish", running, done, many: (count) => `${done}, ${count} times`, object: null };
}

/** Describes `run_tests` by its outcome: `Started test run 2`. */
function describeTests(toolName: string, result: string): Words | undefined {
  const started = toolName === "run_tests" ? describeStartOfCall(result) : null;
  return started === null
    ? undefined
    : { icon: "tests", running: "Starting the tests", done: `Started ${started}` };
}

function describeOther(toolName: string): Words {
  const remote = /^mcp_(.+?)__(.+)$/.exec(toolName);
  if (remote) {
    const [, server, tool] = remote;
    return { icon: "plug", running: `Calling ${tool} on ${server}`, done: `Called ${tool} on ${server}` };
  }
  const name = toolName.replaceAll("_", " ");
  return { icon: "tool", running: `Using ${name}`, done: `Used ${name}` };
}

function describeSubject(toolName: string, input: unknown, result: string): string | null {
  const planningSubject = describePlanningCall(toolName, input);
  if (planningSubject !== null) return planningSubject;
  if (toolName === "wait_for_test_results") return describeResultsOfCall(result);
  if (toolName === "run_tests") return firstLine(describeTestsOfCall(input)) || null;
  if (toolName === "apply_variant") return describeEditsOfCall(input);
  if (toolName === "read_skill" || toolName === "run_skill_script") return describeSkillCall(input);
  return findObject(input);
}

/** Names the file of a skill, with the arguments of a script: `copy-review/copy-check.mjs home.html`. */
function describeSkillCall(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = new Map<string, unknown>(Object.entries(input));
  const args = fields.get("args");
  const script = fields.get("script");
  const short = typeof script === "string" ? script.replace(/^(\.\/)*scripts\//, "") : fields.get("path");
  const file = [fields.get("name"), short];
  const path = file.filter((part) => typeof part === "string" && part !== "").join("/");
  return path === "" ? null : firstLine([path, ...(Array.isArray(args) ? args : [])].join(" "));
}

function findObject(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = new Map<string, unknown>(Object.entries(input));
  const agents = fields.get("agents");
  if (Array.isArray(agents)) return firstLine(agents.map(nameAgent).join(", "));
  for (const field of OBJECT_FIELDS) {
    const value = fields.get(field);
    if (typeof value === "string" && value.trim() !== "") return firstLine(value);
  }
  return null;
}

/** Returns the name of an entry of `spawn_agents`, or else its objective. */
function nameAgent(agent: unknown): string {
  if (typeof agent !== "object" || agent === null) return "";
  if ("name" in agent && typeof agent.name === "string") return agent.name;
  return "objective" in agent && typeof agent.objective === "string" ? agent.objective : "";
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return shorten(line, OBJECT_CHARACTERS_MAX);
}
