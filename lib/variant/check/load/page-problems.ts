import type { Page, Request } from "playwright";
import { truncate } from "#lib/text/whole-characters.ts";

/**
 * Errors and failed requests of one load of a page. The values are the texts to show. Each key is the text without the
 * parts that differ between loads.
 */
export type PageProblems = {
  errors: Map<string, string>;
  requests: Map<string, string>;
};

const ENTRIES_MAX = 200;
const TEXT_MAX = 300;

/** Starts collecting the errors and failed requests of a page. */
export function followProblems(page: Page): PageProblems {
  const problems: PageProblems = { errors: new Map(), requests: new Map() };
  const add = (entries: Map<string, string>, text: string) => {
    if (entries.size < ENTRIES_MAX) entries.set(normalize(text), cut(text));
  };
  page.on("console", (message) => {
    // Chromium also logs each failed request as an error. The listeners below record those requests.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      add(problems.errors, message.text());
  });
  page.on("pageerror", (error) => add(problems.errors, `${error.name}: ${error.message}`));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "failed";
    // A request is aborted when the page cancels it or navigates away. An aborted request does not count as failed.
    if (reason !== "net::ERR_ABORTED" && !isIcon(request))
      add(problems.requests, `${request.method()} ${request.url()}: ${reason}`);
  });
  page.on("response", (response) => {
    const request = response.request();
    if (response.status() >= 400 && !isIcon(request))
      add(problems.requests, `${request.method()} ${request.url()}: ${response.status()}`);
  });
  return problems;
}

/** Copies the problems that were collected so far. The original continues to grow while the page is open. */
export const copyProblems = ({ errors, requests }: PageProblems): PageProblems => ({
  errors: new Map(errors),
  requests: new Map(requests),
});

/** Lists the errors that do not occur in any of the other loads. */
export const listNewErrors = ({ errors }: PageProblems, others: PageProblems[]): string[] =>
  listNew(
    errors,
    others.map((other) => other.errors),
  );

/** Lists the failed requests that do not occur in any of the other loads. */
export const listNewRequests = ({ requests }: PageProblems, others: PageProblems[]): string[] =>
  listNew(
    requests,
    others.map((other) => other.requests),
  );

const listNew = (found: Map<string, string>, others: Map<string, string>[]): string[] =>
  [...found].flatMap(([key, text]) => (others.some((other) => other.has(key)) ? [] : [text]));

/** Whether a request is for the icon that browsers request even if the page does not mention it. */
const isIcon = (request: Request) => URL.parse(request.url())?.pathname === "/favicon.ico";

/** Removes what differs from load to load: numbers, ids, and the queries and fragments of addresses. */
const normalize = (text: string): string =>
  text
    .replace(/(https?:\/\/[^\s"'?#)]+)[?#][^\s"')]*/g, "$1")
    .replace(/\b[0-9a-f]{8,}\b/gi, "#")
    .replace(/\d+/g, "#")
    .slice(0, 1_000);

const cut = (text: string): string => truncate(text, TEXT_MAX);
