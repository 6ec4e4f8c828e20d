import type { DemoTask, Want } from "./demo-task.ts";
import { readHtml } from "./html-reading.ts";
import { findPrice, findProducts } from "./page-facts.ts";
import { findJson, type PageElement, type PageReading, readData } from "./page-reading.ts";
import type { Situation } from "./situation.ts";
import type { ToolExchange } from "./tool-exchange.ts";

/** The last line of every report. It tells readers that no language model wrote the report. */
export const demoLabel =
  "_Built-in demo model: a small rule-based planner. Set `OPENAI_API_KEY`, `OPENAI_BASE_URL` or `AI_GATEWAY_API_KEY` for a real one._";

const LINES_MAX = 25;
const ABILITIES = [
  "open a page (`open https://…`) and take a screenshot of it",
  "list what a form or a checkout asks for",
  "list headings, links, buttons, images, products and prices",
  "change texts, colors and sizes, add notes, and remove elements (`make the headline say 'Winter sale'`), in a session that edits pages",
  "compare pages (`compare /demo with /demo/cart.html`), in a session that may delegate to sub-agents",
];

/**
 * Quotes a text of a page or a tool in Markdown, as one line. The line is cut to `charactersMax` characters, and then
 * its markup is escaped.
 */
export function quote(text: string, charactersMax = 160): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, charactersMax);
  return line.replace(/[\\`*_[\]<>|#~]/g, (character) => `\\${character}`);
}

const nameOf = ({ name, text }: PageElement) => name || text;
/** Formats texts of a page, a tool or a person as quotations. */
export const quoteAll = (texts: string[]): string => texts.map((text) => `“${quote(text, 200)}”`).join(", ");
/** Formats lines as a Markdown list. */
export const listLines = (lines: string[]): string => lines.map((line) => `- ${line}`).join("\n");
export const join = (...parts: (string | undefined)[]) => parts.filter(Boolean).join("\n\n");

function list(lines: string[]): string {
  const unique = [...new Set(lines.filter((line) => line !== ""))];
  const rest = unique.length - LINES_MAX;
  return [
    ...unique.slice(0, LINES_MAX).map((line) => `- ${line}`),
    ...(rest > 0 ? [`- … and ${rest} more`] : []),
  ].join("\n");
}

const kinds: Record<string, string> = {
  textbox: "text",
  combobox: "choice",
  listbox: "choice",
  spinbutton: "number",
};

function fieldTable(fields: PageElement[]): string {
  const rows = fields.slice(0, 40).map((field) => {
    const required = field.required === undefined ? "not said" : field.required ? "yes" : "no";
    const place = field.frame === undefined ? "" : " (in a frame)";
    return `| ${quote(nameOf(field)) || "(no label)"}${place} | ${quote(kinds[field.role] ?? field.role)} | ${required} |`;
  });
  return ["| Field | Kind | Required |", "| --- | --- | --- |", ...rows].join("\n");
}

function section(want: Want, elements: PageElement[], isCut = false): string {
  if (want === "fields") {
    if (elements.length === 0) return "The page has no form fields.";
    const required = elements.filter((field) => field.required).length;
    return `It has ${isCut ? "at least " : ""}${elements.length} form fields${required > 0 ? `, ${required} of them required` : ""}:\n\n${fieldTable(elements)}`;
  }
  if (want === "prices") {
    const products = findProducts(elements);
    if (products.length === 0) return "I found no prices on the page.";
    return `Prices:\n\n${list(products.map(({ name, price }) => (name ? `${quote(name)}: ${quote(price)}` : quote(price))))}`;
  }
  if (want === "forms")
    return `Number of forms: ${isCut ? "at least " : ""}${elements.filter(({ role }) => role === "form").length}.`;
  const lines = list(elements.map((element) => quote(nameOf(element))));
  const title = `${want.slice(0, 1).toUpperCase()}${want.slice(1)}`;
  return lines === "" ? `The page has no ${want}.` : `${title}:\n\n${lines}`;
}

function writeHead(url: string | undefined, title: string | undefined): string | undefined {
  if (url === undefined && title === undefined) return undefined;
  return `**${quote(title ?? "The page")}**${url ? ` at ${url}` : ""}`;
}

/** Returns the URLs of the frames that `inspect_frames` found, except the URL of the page itself. */
function frameUrls(exchanges: ToolExchange[], url: string | undefined): string[] {
  const result = exchanges.findLast(({ toolName }) => toolName === "inspect_frames")?.result;
  if (result === undefined || result.isError) return [];
  const json = JSON.stringify(findJson(result.text) ?? "");
  const urls = [...json.matchAll(/"url":"(https?:[^"]{1,500})"/g)].map((match) => match[1] ?? "");
  return [...new Set(urls)].filter((frame) => frame !== url);
}

/** Writes the report of a turn from its tool results. */
export function writePageReport(found: {
  task: DemoTask;
  readings: Map<Want, { reading: PageReading; error?: string }>;
  /** Exchanges since the page last changed. */
  exchanges: ToolExchange[];
  /** The last navigation of the turn. */
  navigation: ToolExchange | undefined;
  url: string | undefined;
}): string {
  if (found.navigation?.result?.isError) {
    // Omits the position in the script, because it says nothing about the page.
    const [error = ""] = readData(found.navigation.result.text).split("\nat line ", 1);
    return join(`I could not open the page. The browser said: ${quote(error, 300)}`, demoLabel);
  }
  const readings = [...found.readings.values()].map(({ reading }) => reading);
  const title = readings.find((reading) => reading.title)?.title;
  const url = readings.find((reading) => reading.url)?.url ?? found.url;
  const sections = [...found.readings].map(([want, { reading, error }]) =>
    error === undefined
      ? section(want, reading.elements, reading.isCut)
      : `I could not read the ${want}: ${quote(error)}`,
  );
  const { destination } = found.task;
  const isThere = destination === undefined || destination.matches.test(`${url} ${title}`);
  const camera = found.exchanges.find(
    ({ toolName }) => toolName === "screenshot" || toolName === "capture_preview",
  );
  // The frames are not listed if a query returned elements in frames, because the lists contain these elements.
  const isInside = readings.some(({ elements }) => elements.some(({ frame }) => frame !== undefined));
  const frames = isInside ? [] : frameUrls(found.exchanges, url);
  return join(
    writeHead(url, title),
    isThere
      ? undefined
      : `I found no link to the ${destination.word}, so this is about the page that is open.`,
    ...(sections.length > 0 ? sections : ["No query of the page gave a result."]),
    frames.length > 0 ? `Parts of it are in separate frames:\n\n${list(frames)}` : undefined,
    camera?.result && !camera.result.isError
      ? "A screenshot of the page is attached to this turn."
      : undefined,
    readings.some(({ isCut }) => isCut) ? "The page is long: the lists show its first part." : undefined,
    demoLabel,
  );
}

const sourceRoles: Record<Want, RegExp> = {
  fields: /^(textbox|combobox|radio|checkbox)$/,
  headings: /^heading$/,
  links: /^link$/,
  buttons: /^button$/,
  prices: /./,
  images: /^img$/,
  forms: /^form$/,
};

/** Writes the report on a page whose source was fetched. */
export function writeFetchReport(fetched: ToolExchange, url: string, wants: Want[]): string {
  const result = fetched.result;
  if (result === undefined || result.isError) {
    return join(`I could not fetch ${url}. The answer was: ${quote(result?.text ?? "nothing")}`, demoLabel);
  }
  const reading = readHtml(result.text, url);
  return join(
    writeHead(url, reading.title),
    "This session has no browser, so this is what the page's source says, without its scripts.",
    ...wants.map((want) =>
      section(
        want,
        reading.elements.filter(
          ({ role, name }) =>
            sourceRoles[want].test(role) && (want !== "prices" || findPrice(name) !== undefined),
        ),
      ),
    ),
    demoLabel,
  );
}

/** Writes the report of a session that offers neither the browser tools nor `fetch_url`. */
export function writeCannotReport(situation: Situation): string {
  const others = [...situation.tools.keys()].slice(0, 12).map((name) => `\`${name}\``);
  return join(
    "I cannot look at a page in this session: it offers neither the browser tools nor `fetch_url`.",
    others.length > 0 ? `It offers ${others.join(", ")}, which I do not use.` : undefined,
    demoLabel,
  );
}

/** Writes the answer to a message that the rules do not understand. */
export function writeHelp(situation: Situation): string {
  const page = situation.currentUrl ?? situation.targetUrl ?? situation.demoUrl;
  return join(
    "I did not understand that. I follow a few rules and no more; I can:",
    list(ABILITIES),
    `For example: “Look at ${page} and tell me what its checkout asks for.”`,
    demoLabel,
  );
}
