import { readComparison } from "./delegation/comparison-task.ts";
import { planComparison } from "./delegation/plan-comparison.ts";
import { planSubAgent } from "./delegation/plan-sub-agent.ts";
import { type DemoTask, readDemoTask, type Want } from "./demo-task.ts";
import { type EditRequest, readEditRequest } from "./editing/edit-request.ts";
import { isOnPage, planEdit } from "./editing/plan-edit.ts";
import { type PageReading, readPage } from "./page-reading.ts";
import { asksForPlan, carryOutPlan } from "./planning/carry-out-plan.ts";
import { isGo, saysContinue } from "./planning/plan-state.ts";
import { writePlan, writeStillWaiting } from "./planning/write-plan.ts";
import { followLink, LINKS, openPage, openUrlOf, sincePageChange } from "./reach-page.ts";
import type { DemoStep, Situation } from "./situation.ts";
import type { ToolExchange } from "./tool-exchange.ts";
import { writeCannotReport, writeFetchReport, writeHelp, writePageReport } from "./write-demo-report.ts";

/** After this many tool calls, a turn about one page ends with a report. */
const CALLS_MAX = 12;

/**
 * For each kind of content that a task can ask for, the selector that `dom_query` gets. If the page was already queried
 * with this selector, that result is used and the query is not repeated.
 */
const wantSelectors: Record<Want, string> = {
  fields: "input:not([type=hidden]), select, textarea",
  headings: "h1, h2, h3",
  links: LINKS,
  buttons: "button, [role=button], input[type=submit]",
  prices: "article, li, tr, [class*=price], h2, h3",
  images: "img",
  forms: "form",
};

const OVERVIEW: Want[] = ["headings", "links", "fields"];

/**
 * Plans the next step of the built-in demo model from the transcript alone, so the same transcript always gives the
 * same step. A request for changes edits the page or, in plan-first mode, adds to the plan; an agreed plan is carried
 * out; a comparison of pages is delegated if the session may delegate; a sub-agent submits its findings.
 */
export function planDemoStep(situation: Situation): DemoStep {
  const { plan, tools, message } = situation;
  const task = readDemoTask(message);
  if (tools.has("submit_result")) return planSubAgent(situation, planPageStep(situation, task));
  if (asksForPlan(situation)) return carryOutPlan(situation);
  if (plan.mode === "plan_first" && (isGo(message) || saysContinue(message)))
    return { kind: "report", text: writeStillWaiting(situation) };
  const request = readEdit(situation);
  if (request !== undefined)
    return plan.mode === "plan_first" ? writePlan(situation, request) : planEdit(situation, request);
  const comparison = readComparison(situation);
  if (comparison === undefined || !canReadPages(situation)) return planPageStep(situation, task);
  if (tools.has("spawn_agents")) return planComparison(situation, comparison);

  const [first = ""] = comparison.urls;
  const only = { ...readDemoTask(comparison.words), url: first, isUnderstood: true };
  const step = planPageStep(situation, only);
  return step.kind === "calls" ? step : { ...step, text: `${describeNoDelegation(first)}\n\n${step.text}` };
}

/**
 * Reads a request for changes; undefined for other messages. In a session that has a typed result and cannot edit, no
 * message is read as a request for changes, so that the turn reads the page instead.
 */
const readEdit = ({ message, tools, isStructured }: Situation): EditRequest | undefined =>
  tools.has("apply_variant") || !isStructured ? readEditRequest(message) : undefined;

const canReadPages = ({ tools }: Situation) => tools.has("dom_query") || tools.has("fetch_url");

const describeNoDelegation = (url: string) =>
  `This session may not delegate to sub-agents, so this is about one page only, ${url}. To compare pages, create the session with \`subAgents: true\`.`;

/** Plans the next step of a turn about one page: open a page, follow a link to the requested page, query it, report. */
function planPageStep(full: Situation, task: DemoTask): DemoStep {
  const situation = full.plan.mode === "plan_first" ? withoutScripts(full, task) : full;
  if (!task.isUnderstood) return { kind: "report", text: writeHelp(situation) };
  if (situation.exchanges.length >= CALLS_MAX) return report(situation, task);
  if (!situation.tools.has("dom_query")) return planWithoutQuery(situation, task);
  return (
    openPage(situation, task) ??
    followLink(situation, task) ??
    queryPage(situation, task) ??
    report(situation, task)
  );
}

/**
 * Removes `browser_execute`, which opens pages, because in plan-first mode only the open page can be queried. Also
 * removes `dom_query` if the task names another page.
 */
function withoutScripts(situation: Situation, { url }: DemoTask): Situation {
  const tools = new Map(situation.tools);
  tools.delete("browser_execute");
  if (url !== undefined && !isOnPage(situation, { url, edits: [], leftOut: [] })) tools.delete("dom_query");
  return { ...situation, tools };
}

const isQuery = (exchange: ToolExchange, want: Want) =>
  exchange.toolName === "dom_query" &&
  exchange.input.selector === wantSelectors[want] &&
  exchange.input.text === undefined;

function queryCall(want: Want) {
  return { toolName: "dom_query", input: { selector: wantSelectors[want], limit: 50 } };
}

function wantsOf(task: DemoTask): Want[] {
  return task.wants.length > 0 ? task.wants : task.wantsScreenshot ? ["headings"] : OVERVIEW;
}

function queryPage(situation: Situation, task: DemoTask): DemoStep | undefined {
  const { exchanges, tools } = situation;
  // After a failed navigation, no query is made, because the open page is not the requested page.
  if (exchanges.some(({ toolName, result }) => toolName === "browser_execute" && result?.isError))
    return undefined;
  const sinceChange = sincePageChange(exchanges);
  const wants = wantsOf(task);
  const calls: { toolName: string; input: Record<string, unknown> }[] = wants
    .filter((want) => !sinceChange.some((exchange) => isQuery(exchange, want)))
    .map(queryCall);
  const isNew = (toolName: string) =>
    tools.has(toolName) && !sinceChange.some((exchange) => exchange.toolName === toolName);
  if (wants.includes("fields") && isNew("inspect_frames"))
    calls.push({ toolName: "inspect_frames", input: {} });
  const camera = ["screenshot", "capture_preview"].find((toolName) => tools.has(toolName));
  // A follow-up about the same page needs no second picture.
  const isUnseen = sinceChange.length < exchanges.length || situation.earlier.length === 0;
  if (camera !== undefined && isNew(camera) && (isUnseen || task.wantsScreenshot))
    calls.push({ toolName: camera, input: {} });
  if (calls.length === 0 || !calls.some(({ toolName }) => toolName === "dom_query" || task.wantsScreenshot)) {
    return undefined;
  }
  return { kind: "calls", say: `I query the page for its ${wants.join(", ")}.`, calls };
}

function report(situation: Situation, task: DemoTask): DemoStep {
  const readings = new Map<Want, { reading: PageReading; error?: string }>();
  const sinceChange = sincePageChange(situation.exchanges);
  for (const want of wantsOf(task)) {
    const exchange = sinceChange.findLast((candidate) => isQuery(candidate, want));
    if (exchange?.result === undefined) continue;
    const { isError, text } = exchange.result;
    readings.set(
      want,
      isError ? { reading: { elements: [], isCut: false }, error: text } : { reading: readPage(text) },
    );
  }
  const navigation = situation.exchanges.findLast(({ toolName }) => toolName === "browser_execute");
  const url = openUrlOf(situation);
  return {
    kind: "report",
    text: writePageReport({ task, readings, exchanges: sinceChange, navigation, url }),
  };
}

/**
 * Plans the next step without `dom_query`: fetch the source of the page and report on it. If `fetch_url` is missing
 * too, the report says that no page can be read.
 */
function planWithoutQuery(situation: Situation, task: DemoTask): DemoStep {
  if (!situation.tools.has("fetch_url")) return { kind: "report", text: writeCannotReport(situation) };
  const fetched = situation.exchanges.findLast(({ toolName }) => toolName === "fetch_url");
  const earlierUrl = [...situation.earlier].findLast(({ toolName }) => toolName === "fetch_url")?.input.url;
  const url =
    task.url ??
    situation.currentUrl ??
    situation.targetUrl ??
    (typeof earlierUrl === "string" ? earlierUrl : situation.demoUrl);
  if (fetched === undefined) {
    const say = `This session has no page that I can query, so I read the source of ${url}.`;
    return { kind: "calls", say, calls: [{ toolName: "fetch_url", input: { url, ...asSource(situation) } }] };
  }
  return { kind: "report", text: writeFetchReport(fetched, url, wantsOf(task)) };
}

/**
 * Returns the option of `fetch_url` that requests the source of a page, if the tool has this option. By default, the
 * tool returns only the text of the page.
 */
function asSource({ tools }: Situation): { format?: "raw" } {
  return JSON.stringify(tools.get("fetch_url") ?? {}).includes('"raw"') ? { format: "raw" } : {};
}
