import { findJson } from "../page-reading.ts";
import type { DemoStep, Situation } from "../situation.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import { type Comparison, PAGES_MAX } from "./comparison-task.ts";
import { PAGE_RESULT_SCHEMA } from "./page-result.ts";
import { type AgentReport, labelPages, writeComparison, writeNoComparison } from "./write-comparison.ts";

const NAME_CHARACTERS_MAX = 32;

/**
 * Plans the next step of a turn that compares pages: spawn a sub-agent for each page, wait for all of them, report. If
 * spawning or waiting fails, the turn ends with a report that quotes the tool's message.
 */
export function planComparison(situation: Situation, { urls, leftOut }: Comparison): DemoStep {
  const { exchanges } = situation;
  const spawning = exchanges.findLast(({ toolName }) => toolName === "spawn_agents");
  if (spawning === undefined) return spawnStep(situation, urls);
  if (spawning.result === undefined || spawning.result.isError)
    return { kind: "report", text: writeNoComparison("start the sub-agents", spawning.result?.text) };

  const waiting = exchanges.findLast(({ toolName }) => toolName === "wait_for_agents");
  if (waiting === undefined) return waitStep(spawning.result.text);
  if (waiting.result === undefined || waiting.result.isError)
    return { kind: "report", text: writeNoComparison("wait for the sub-agents", waiting.result?.text) };
  const pages = listSpawned(spawning).map(({ name, url }) => ({ name, url }));
  const reports = listObjects(waiting.result.text).map(readReport);
  const omitted =
    leftOut.length > 0 ? `I compare at most ${PAGES_MAX} pages, so I left out ${leftOut.length}.` : undefined;
  return { kind: "report", text: writeComparison(pages, reports, omitted) };
}

function spawnStep({ tools, earlier }: Situation, urls: string[]): DemoStep {
  const usedNames = earlier
    .filter(({ toolName, result }) => toolName === "spawn_agents" && result?.isError !== true)
    .flatMap((exchange) => listSpawned(exchange).map(({ name }) => name));
  const names = nameAll(urls, usedNames);
  const hasBrowser = tools.has("browser_execute") && tools.has("dom_query");
  const agents = urls.map((url, index) => ({
    name: names[index],
    objective: `Read the page ${url} and submit what it shows: its title, headings, links, form fields, the number of forms, and products with their prices.`,
    browser: hasBrowser ? "own" : "none",
    url,
    resultSchema: PAGE_RESULT_SCHEMA,
  }));
  const say = `I start one sub-agent for each of the ${urls.length} pages and compare what they read: ${labelPages(urls).join(", ")}.`;
  return { kind: "calls", say, calls: [{ toolName: "spawn_agents", input: { agents } }] };
}

function waitStep(spawned: string): DemoStep {
  const agents = listObjects(spawned);
  const agentIds = agents.map(({ agentId }) => agentId).filter((id) => typeof id === "string");
  const names = agents.map(({ name }) => name).join(", ");
  return {
    kind: "calls",
    say: `I wait for the results of ${names}.`,
    calls: [{ toolName: "wait_for_agents", input: agentIds.length > 0 ? { agentIds } : {} }],
  };
}

/** Lists the sub-agents in the input of a spawn call. */
function listSpawned({ input }: ToolExchange): { name: string; url: string }[] {
  const agents: unknown[] = Array.isArray(input.agents) ? input.agents : [];
  return agents.flatMap((agent) => {
    const { name, url } = (agent ?? {}) as Record<string, unknown>;
    return typeof name === "string" && typeof url === "string" ? [{ name, url }] : [];
  });
}

/** Returns the objects of the JSON list in a tool result. */
function listObjects(text: string): Record<string, unknown>[] {
  const found = findJson(text);
  return Array.isArray(found) ? found.filter((item) => typeof item === "object" && item !== null) : [];
}

const readReport = ({ name, status, result, error, submitted }: Record<string, unknown>): AgentReport => ({
  name: String(name),
  status: String(status),
  result,
  error: typeof error === "string" ? error : undefined,
  isSubmitted: submitted === true,
});

/**
 * Names each sub-agent after the last part of its page's path, or after the host if the path gives no name. Each name
 * is unique and not in `usedNames`.
 */
function nameAll(urls: string[], usedNames: string[]): string[] {
  const used = new Set(usedNames);
  return urls.map((url) => {
    const { pathname, hostname } = new URL(url);
    const last = pathname.split("/").findLast((part) => part !== "") ?? "";
    const base = toName(last.replace(/\.\w{1,5}$/, "")) || toName(hostname) || "page";
    let name = base;
    for (let number = 2; used.has(name); number += 1) {
      const suffix = `-${number}`;
      name = `${base.slice(0, NAME_CHARACTERS_MAX - suffix.length)}${suffix}`;
    }
    used.add(name);
    return name;
  });
}

const toName = (text: string): string =>
  text
    .toLowerCase()
    .slice(0, 200)
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/^-|-$/g, "");
