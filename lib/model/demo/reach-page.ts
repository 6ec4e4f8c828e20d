import type { DemoTask } from "./demo-task.ts";
import { readPage } from "./page-reading.ts";
import type { DemoStep, Situation } from "./situation.ts";
import type { ToolExchange } from "./tool-exchange.ts";

/** Selector of the links of a page. */
export const LINKS = "a[href]";

/** Removes the fragment and a trailing slash from a URL, for comparison. */
export const addressOf = (url: string) => url.replace(/#.*$/, "").replace(/\/$/, "");

/** Finds the URL of the open page in the newest successful tool result. */
export function findOpenUrl(exchanges: ToolExchange[]): string | undefined {
  for (const { toolName, result } of exchanges.toReversed()) {
    if (toolName !== "browser_execute" && toolName !== "dom_query") continue;
    const url = result === undefined || result.isError ? undefined : readPage(result.text).url;
    if (url?.startsWith("http")) return url;
  }
  return undefined;
}

/**
 * Returns the URL of the page that is open: of this turn's newest tool result, otherwise as the instructions say, which
 * know of retargets since the earlier turns.
 */
export const openUrlOf = ({ exchanges, earlier, currentUrl, targetUrl }: Situation): string | undefined =>
  findOpenUrl(exchanges) ?? currentUrl ?? targetUrl ?? findOpenUrl(earlier);

function gotoCall(url: string) {
  const script = `await page.goto(${JSON.stringify(url)}, { waitUntil: "domcontentloaded" });\nreturn { url: page.url(), title: await page.title() };`;
  return { toolName: "browser_execute", input: { script } };
}

/**
 * Opens the page of the task, otherwise the target page, otherwise the demo page. Returns undefined if the page of the
 * task is open, or if the task names no page and any page is open. Also returns undefined if the turn has called
 * `browser_execute` before, or does not offer it.
 */
export function openPage(situation: Situation, task: Pick<DemoTask, "url">): DemoStep | undefined {
  const isTried = situation.exchanges.some(({ toolName }) => toolName === "browser_execute");
  if (isTried || !situation.tools.has("browser_execute")) return undefined;
  const shownUrl = findOpenUrl([...situation.earlier, ...situation.exchanges]);
  const open = situation.currentUrl ?? shownUrl;
  if (task.url !== undefined) {
    if (open !== undefined && addressOf(open) === addressOf(task.url)) return undefined;
    return { kind: "calls", say: `I open ${task.url} first.`, calls: [gotoCall(task.url)] };
  }
  if (open !== undefined) return undefined;
  const url = situation.targetUrl ?? situation.demoUrl;
  const say = situation.targetUrl
    ? `I open the target page, ${url}.`
    : `The task names no page, so I open the demo page, ${url}.`;
  return { kind: "calls", say, calls: [gotoCall(url)] };
}

/**
 * Creates the call that follows a link. It opens the link's address if there is one, because a click may return before
 * the page has changed.
 */
function followCall(selector: string) {
  const script = [
    `const link = page.locator(${JSON.stringify(selector)}).first();`,
    'const href = await link.getAttribute("href");',
    'if (href) await page.goto(new URL(href, page.url()).href, { waitUntil: "domcontentloaded" });',
    "else await link.click();",
    "return { url: page.url(), title: await page.title() };",
  ].join("\n");
  return { toolName: "browser_execute", input: { script } };
}

function isFollow({ toolName, input }: ToolExchange): boolean {
  return toolName === "browser_execute" && String(input.script).startsWith("const link =");
}

/**
 * Plans the way to the part of the site that the task names: first the queries for links, then a step that follows a
 * link. Returns undefined if the task names no part, if the part is open, or if no link leads to it. Also returns
 * undefined if the turn has followed a link before, if its last tool call failed, or if it does not offer
 * `browser_execute`.
 */
export function followLink(
  situation: Situation,
  { destination }: Pick<DemoTask, "destination">,
): DemoStep | undefined {
  const { exchanges, tools } = situation;
  if (destination === undefined || !tools.has("browser_execute") || exchanges.some(isFollow))
    return undefined;
  if (exchanges.at(-1)?.result?.isError === true) return undefined;
  const open = openUrlOf(situation) ?? "";
  if (destination.matches.test(open)) return undefined;

  const queries = exchanges.filter(
    ({ toolName, input }) => toolName === "dom_query" && input.selector === LINKS,
  );
  if (queries.length === 0) {
    // Also queries by word, because on a long page the list of links may end before the link.
    const byWord = { toolName: "dom_query", input: { selector: LINKS, text: destination.word } };
    const all = { toolName: "dom_query", input: { selector: LINKS, limit: 50 } };
    return { kind: "calls", say: `I look for the way to the ${destination.word}.`, calls: [byWord, all] };
  }
  const links = queries.flatMap(({ result }) => readPage(result?.text ?? "").elements);
  const link = links.find(
    ({ name, text, selector, frame }) =>
      selector !== "" && frame === undefined && destination.matches.test(`${name} ${text}`),
  );
  if (link === undefined) return undefined;
  return { kind: "calls", say: `I follow “${link.name || link.text}”.`, calls: [followCall(link.selector)] };
}

/** Returns the exchanges since the page last changed. */
export function sincePageChange(exchanges: ToolExchange[]): ToolExchange[] {
  const change = exchanges.findLastIndex(
    ({ toolName, result }) => toolName === "browser_execute" && !result?.isError,
  );
  return exchanges.slice(change + 1);
}
