import type { Page, Request } from "playwright";

/** Errors and failed requests of one load of a page: the texts to show, by a key that is the same in all loads. */
export type PageProblems = {
  errors: Map<string, string>;
  requests: Map<string, string>;
};

const ENTRIES_MAX = 200;
const TEXT_MAX = 300;

/** Follows the errors of a page from now on. */
export function followProblems(page: Page): PageProblems {
  const problems: PageProblems = { errors: new Map(), requests: new Map() };
  const add = (entries: Map<string, string>, text: string) => {
    if (entries.size < ENTRIES_MAX) entries.set(normalize(text), cut(text));
  };
  page.on("console", (message) => {
    // Chromium also logs each failed request; those are followed below.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      add(problems.errors, message.text());
  });
  page.on("pageerror", (error) => add(problems.errors, `${error.name}: ${error.message}`));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "failed";
    // The page aborted the request, or was left.
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

/** The problems up to now. */
export const copyProblems = ({ errors, requests }: PageProblems): PageProblems => ({
  errors: new Map(errors),
  requests: new Map(requests),
});

/** The errors that none of the other loads has. */
export const listNewErrors = ({ errors }: PageProblems, others: PageProblems[]): string[] =>
  listNew(
    errors,
    others.map((other) => other.errors),
  );

/** The failed requests that none of the other loads has. */
export const listNewRequests = ({ requests }: PageProblems, others: PageProblems[]): string[] =>
  listNew(
    requests,
    others.map((other) => other.requests),
  );

const listNew = (found: Map<string, string>, others: Map<string, string>[]): string[] =>
  [...found].flatMap(([key, text]) => (others.some((other) => other.has(key)) ? [] : [text]));

/** Browsers request this icon even if the page does not mention it. */
const isIcon = (request: Request) => URL.parse(request.url())?.pathname === "/favicon.ico";

/** Numbers, ids and the query of addresses differ from load to load. */
const normalize = (text: string): string =>
  text
    .replace(/(https?:\/\/[^\s"'?#)]+)[?#][^\s"')]*/g, "$1")
    .replace(/\b[0-9a-f]{8,}\b/gi, "#")
    .replace(/\d+/g, "#")
    .slice(0, 1_000);

const cut = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text);
