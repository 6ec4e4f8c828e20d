import { type CallWords, findTool, LOAD_TOOLS } from "#lib/catalogue/tools.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { PageAction } from "../state/view-types.ts";
import { describeActions } from "./describe-actions.ts";
import { describeDeployOfCall } from "./describe-page.ts";
import { describePlanningCall } from "./describe-plan.ts";
import { describeResultsOfCall, describeStartOfCall, describeTestsOfCall } from "./describe-test-run.ts";
import {
  describeEditsOfCall,
  describePreviewsOfCall,
  describeReleaseOfCall,
} from "./describe-variant-call.ts";

/** The words of one tool call. */
export type ToolWords = Required<CallWords> & {
  /** What the call is about, shortened: a selector, URL, path or command. */
  object: string | null;
};

/** Whether a tool works on the live page. Such a tool may have to wait for a browser. */
export const worksOnPage = (toolName: string): boolean => {
  const tool = findTool(toolName);
  return tool?.needs === "browser" || tool?.mayUseBrowser === true;
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
 * @param actions what the call did to the live page, as far as it reports that.
 */
export function describeTool(
  toolName: string,
  input: unknown,
  result = "",
  actions: readonly PageAction[] = [],
): ToolWords {
  const release = toolName === "publish_variant" ? describeReleaseOfCall(input, result) : null;
  if (release !== null) return describeRelease(release);
  const version = toolName === "deploy_landing_page" ? describeDeployOfCall(result) : null;
  if (version !== null) return describeDeploy(version);
  const words =
    describeSetPreviews(toolName, input) ??
    describeTests(toolName, result) ??
    findTool(toolName)?.words ??
    describeOther(toolName);
  const did = describeActions(actions);
  if (did !== null)
    return {
      ...words,
      icon: "page",
      done: did,
      many: (count) => `${words.done}, ${count} times`,
      object: null,
    };
  return {
    ...words,
    many: words.many ?? ((count) => `${words.done}, ${count} times`),
    object: describeSubject(toolName, input, result),
  };
}

/** Describes `set_previews` by the number of previews: `Took 4 previews`. */
function describeSetPreviews(toolName: string, input: unknown): CallWords | undefined {
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
function describeTests(toolName: string, result: string): CallWords | undefined {
  const started = toolName === "run_tests" ? describeStartOfCall(result) : null;
  return started === null
    ? undefined
    : { icon: "tests", running: "Starting the tests", done: `Started ${started}` };
}

function describeOther(toolName: string): CallWords {
  if (toolName === LOAD_TOOLS) return { icon: "tool", running: "Looking up tools", done: "Looked up tools" };
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
