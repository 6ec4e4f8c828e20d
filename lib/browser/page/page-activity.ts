import type { BrowserContext, Page, Request, Response, WebError } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import type { AnsweredDialog } from "./page-dialogs.ts";
import type { StoredDownload } from "./page-downloads.ts";
import { pageOf } from "./page-of-request.ts";

/** Something that happened in the pages of a browser. */
export type ActivityEntry =
  | { kind: "dialog"; dialog: AnsweredDialog }
  | { kind: "page-opened"; page: Page }
  | { kind: "page-closed"; page: Page; url: string }
  /** A page that was not selected has crashed, or the service has ended it. It was closed. */
  | { kind: "page-lost"; page: Page; url: string; reason: string }
  | { kind: "download"; download: StoredDownload }
  /** A script of the page asked for a file or folder, and got none. */
  | { kind: "picker"; page: Page }
  /** A server answered a request of a page's main frame with an error status, or did not answer it. */
  | { kind: "request-failed"; page: Page; method: string; url: string; reason: string }
  /** A server answered a request of a page's main frame without an error. The method is not GET, HEAD or OPTIONS. */
  | { kind: "request-sent"; page: Page; method: string; url: string; status: number }
  /** A script of the page threw an error that it did not catch. */
  | { kind: "page-error"; page: Page; message: string };

/** A log of what happened in the pages of one browser. After each action, a tool reports the entries that are new. */
export type PageActivity = {
  add: (entry: ActivityEntry) => void;
  /** Calls `listener` with each new entry. @returns a function that stops the calls. */
  follow: (listener: (entry: ActivityEntry) => void) => () => void;
  /** Returns the position of the next entry. A caller passes it to `since` later. */
  position: () => number;
  /** Returns the entries from `position` on, oldest first. If there are more than 200, returns only the latest 200. */
  since: (position: number) => ActivityEntry[];
  /**
   * Counts a page's requests that began at `sinceMs` or later and have not ended. Only requests for documents, style
   * sheets, scripts and data (XHR, `fetch`) count. A request whose page is not known yet counts for every page.
   */
  pending: (page: Page, sinceMs: number) => number;
};

const ENTRIES_MAX = 200;
/** Maximum length of each text of an entry, such as the message of an error. */
const TEXT_CHARS_MAX = 1_000;
/** Maximum number of requests that have not ended. Further requests of a page in a loop do not count as pending. */
const PENDING_MAX = 1_000;
/** HTTP methods whose successful requests are not logged, because these requests change nothing on the server. */
const QUIET_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
/** Types of the requests that `pending` counts. Their responses may change what a page shows. */
const AWAITED_TYPES = new Set(["document", "stylesheet", "script", "xhr", "fetch"]);

/** Starts to record the activity in a context's pages. */
export function watchActivity(context: BrowserContext, guard: ListenerGuard): PageActivity {
  let entries: ActivityEntry[] = [];
  let dropped = 0;
  /**
   * Requests that have not ended. `page` is undefined if the request began before Playwright had announced the page.
   */
  const pending = new Map<Request, { page: Page | undefined; beganMs: number }>();
  /** Removes a request that became a download, because the browser does not report the end of such a request. */
  const forget = (url: string) => {
    for (const request of pending.keys()) if (request.url() === url) pending.delete(request);
  };
  const listeners = new Set<(entry: ActivityEntry) => void>();
  const add = (whole: ActivityEntry) => {
    const entry = withinLimits(whole);
    entries.push(entry);
    if (entry.kind === "download") forget(entry.download.url);
    for (const listener of [...listeners]) listener(entry);
    if (entries.length < 2 * ENTRIES_MAX) return;
    dropped += entries.length - ENTRIES_MAX;
    entries = entries.slice(-ENTRIES_MAX);
  };
  const addFailed = (request: Request, reason: string) => {
    const page = pageOf(request);
    if (page && isFromMainFrame(request, page) && !isIcon(request))
      add({ kind: "request-failed", page, method: request.method(), url: request.url(), reason });
  };

  const onPage = (page: Page) => {
    add({ kind: "page-opened", page });
    const onClose = () => {
      add({ kind: "page-closed", page, url: page.url() });
      for (const [request, each] of pending) if (each.page === page) pending.delete(request);
    };
    page.on("close", guard(onClose));
  };
  const onRequest = (request: Request) => {
    if (pending.size >= PENDING_MAX) return;
    if (AWAITED_TYPES.has(request.resourceType()) && !request.serviceWorker())
      pending.set(request, { page: pageOf(request), beganMs: performance.now() });
  };
  const onFailed = (request: Request) => {
    pending.delete(request);
    const reason = request.failure()?.errorText ?? "failed";
    // ERR_ABORTED is not logged: the page may have canceled the request itself, or the request became a download.
    if (reason !== "net::ERR_ABORTED") addFailed(request, reason);
  };
  const onResponse = (response: Response) => {
    const request = response.request();
    const status = response.status();
    if (status >= 400) return addFailed(request, String(status));
    const page = pageOf(request);
    if (!QUIET_METHODS.has(request.method()) && page && isFromMainFrame(request, page))
      add({ kind: "request-sent", page, method: request.method(), url: request.url(), status });
  };
  const onError = (error: WebError) => {
    const page = error.page();
    if (page) add({ kind: "page-error", page, message: describeError(error.error()) });
  };
  context.on("page", guard(onPage));
  context.on("request", guard(onRequest));
  context.on(
    "requestfinished",
    guard((request) => pending.delete(request)),
  );
  context.on("requestfailed", guard(onFailed));
  context.on("response", guard(onResponse));
  context.on("weberror", guard(onError));

  return {
    add,
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    position: () => dropped + entries.length,
    since: (position) => entries.slice(Math.max(0, position - dropped)).slice(-ENTRIES_MAX),
    pending: (page, sinceMs) =>
      [...pending.values()].filter((each) => (each.page ?? page) === page && each.beganMs >= sinceMs).length,
  };
}

/** Shortens the texts of an entry. A page decides how long they are. */
function withinLimits(entry: ActivityEntry): ActivityEntry {
  const { kind } = entry;
  if (kind === "page-opened" || kind === "download") return entry;
  if (kind === "dialog") return { ...entry, dialog: shortenTexts(entry.dialog) };
  return shortenTexts(entry);
}

const shortenTexts = <Fields extends object>(fields: Fields): Fields =>
  // Only the length of texts changes, so the type stays the same.
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === "string" ? shorten(value, TEXT_CHARS_MAX) : value,
    ]),
  ) as Fields;

/** Call this only for a request that has a page, because `request.frame()` throws otherwise. */
const isFromMainFrame = (request: Request, page: Page) => request.frame() === page.mainFrame();

/** Browsers request this icon from every site, so a failed request for it is not logged. */
const isIcon = (request: Request) => URL.parse(request.url())?.pathname === "/favicon.ico";

const describeError = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
