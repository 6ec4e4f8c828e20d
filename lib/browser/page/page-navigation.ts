import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { NavigationOutcome } from "../browser-service.ts";
import type { StoredRecord } from "../session/browser-record.ts";
import type { BrowserPatch, BrowserRow } from "../session/browser-store.ts";
import type { Arrival } from "./main-frame.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { createRedirectWatch, type RedirectWatch } from "./redirect-watch.ts";

/** Navigates the page of one session's browser, and records which page was reached, or why none was. */
export type PageNavigation = {
  /**
   * Brings a browser that has just started to its page: the selected one if it was not reached yet, otherwise the last
   * page shown. When the selected page is refused, the last page shown is opened instead, and the reason stays in
   * `lastError`. Never rejects.
   */
  comeUp: (taken: OpenBrowser, row: BrowserRow) => Promise<void>;
  /** Goes to the page that a retarget selected, and records the outcome. Never rejects. */
  goToSelected: (taken: OpenBrowser, url: string, retargets: number) => Promise<void>;
  /** Goes to a page for a tool or a person. */
  go: (taken: OpenBrowser, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** The number of the newest retarget that a browser was sent to. */
  headedFor: () => number;
  /** Whether one of these navigations is in progress. */
  isUnderWay: () => boolean;
  /** Records that the page shows another address, for whatever reason. */
  noteArrival: (arrival: Arrival) => void;
  /** Records that a popup took the foreground, or gave it back. */
  noteSelected: (url: string) => void;
  noteLoaded: () => void;
  /** The agent or a person used the page: later arrivals are theirs, not redirects of the last navigation. */
  noteUse: () => void;
  /** The browser has ended: drops the navigation in progress. */
  abandon: () => void;
};

type NavigationDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  /** Returns why a page may not be opened, or undefined. */
  refuse: (url: URL) => Promise<string | undefined>;
  /** Whether a browser is still the session's. */
  isCurrent: (taken: OpenBrowser) => boolean;
  nowMs: () => number;
};

/** How long to wait for the document of a page that was reached; after that it is used as it is. */
export const LOAD_TIMEOUT_MS = 10_000;

const INTERRUPTED: NavigationOutcome = { landed: false, reason: "the navigation was interrupted" };

/** Returns what to record of an outcome, given the address shown after it. */
type FieldsOf = (outcome: NavigationOutcome, currentUrl: string) => BrowserPatch;

type Navigation = {
  deps: NavigationDeps;
  redirects: RedirectWatch;
  /** The newest navigation in progress; `passedUrl` is a document that the page loaded by itself meanwhile. */
  heading: { passedUrl?: string } | undefined;
  headedFor: number;
};

/** @see PageNavigation */
export function createPageNavigation(deps: NavigationDeps): PageNavigation {
  const redirects = createRedirectWatch(deps.nowMs);
  const navigation: Navigation = { deps, redirects, heading: undefined, headedFor: 0 };
  return {
    comeUp: (taken, row) => comeUp(navigation, taken, row),
    goToSelected: (taken, url, retargets) => goToSelected(navigation, taken, url, retargets),
    go: (taken, url, signal) => go(navigation, taken, url, signal),
    headedFor: () => navigation.headedFor,
    isUnderWay: () => navigation.heading !== undefined,
    noteArrival: (arrival) => noteArrival(navigation, arrival),
    noteSelected(url) {
      deps.record.note({ ...shown(url), ...(isHttp(url) ? { lastNavigatedUrl: url } : {}) });
    },
    noteLoaded: redirects.loaded,
    noteUse: redirects.end,
    abandon() {
      navigation.heading = undefined;
    },
  };
}

/** Goes to a page; a newer navigation supersedes it. */
async function head(navigation: Navigation, taken: OpenBrowser, url: string, signal?: AbortSignal) {
  const { deps } = navigation;
  const own: NonNullable<Navigation["heading"]> = {};
  navigation.heading = own;
  const parsed = URL.parse(url);
  const reason = parsed ? await deps.refuse(parsed) : "the address cannot be read";
  await faultPoint("browser-navigating");
  // A newer navigation may have overtaken this one while its name was resolved.
  if (navigation.heading !== own) return { outcome: INTERRUPTED, isNewest: false, passed: {} };
  const outcome: NavigationOutcome =
    reason === undefined ? await taken.selected().navigate(url, signal) : { landed: false, reason };
  const isNewest = navigation.heading === own && deps.isCurrent(taken);
  if (isNewest) navigation.heading = undefined;
  const hasPassed = !outcome.landed && own.passedUrl !== undefined;
  return { outcome, isNewest, passed: hasPassed ? { lastNavigatedUrl: own.passedUrl ?? null } : {} };
}

async function go(
  navigation: Navigation,
  taken: OpenBrowser,
  url: string,
  signal?: AbortSignal,
): Promise<NavigationOutcome> {
  const { outcome, isNewest, passed } = await head(navigation, taken, url, signal);
  if (!isNewest) return outcome;
  const currentUrl = taken.selected().page.url();
  if (outcome.landed) navigation.redirects.end();
  await navigation.deps.record.patch({
    ...shown(currentUrl),
    ...(outcome.landed
      ? { lastNavigatedUrl: currentUrl, lastError: null, reachedFor: navigation.headedFor }
      : { ...passed, lastError: outcome.reason }),
  });
  if (!outcome.landed) return outcome;
  const { page } = taken.selected();
  await page.waitForLoadState("domcontentloaded", { timeout: LOAD_TIMEOUT_MS }).catch(() => {});
  return { landed: true, url: page.url() };
}

/** Goes to a page for the retarget of the given number, and records the outcome unless a newer navigation took over. */
async function goAndRecord(
  navigation: Navigation,
  taken: OpenBrowser,
  url: string,
  retargets: number,
  fieldsOf: FieldsOf,
): Promise<void> {
  const { deps, redirects } = navigation;
  redirects.begin();
  try {
    const { outcome, isNewest, passed } = await head(navigation, taken, url);
    if (!isNewest) return;
    if (!outcome.landed) redirects.end();
    const currentUrl = taken.selected().page.url();
    const fields = { ...passed, ...fieldsOf(outcome, currentUrl), ...shown(currentUrl) };
    await deps.record.patch(fields, retargets);
  } catch (error) {
    const { sessionId, logger } = deps;
    logger.error({ sessionId, err: error }, "the outcome of a navigation was not recorded");
  }
}

async function goToSelected(
  navigation: Navigation,
  taken: OpenBrowser,
  url: string,
  retargets: number,
): Promise<void> {
  navigation.headedFor = retargets;
  await goAndRecord(navigation, taken, url, retargets, (outcome) =>
    outcome.landed
      ? { lastNavigatedUrl: url, lastError: null, pageWant: "reached" }
      : { lastError: outcome.reason, pageWant: "refused" },
  );
}

async function comeUp(navigation: Navigation, taken: OpenBrowser, row: BrowserRow): Promise<void> {
  const { desiredUrl, returnUrl, retargets } = row;
  navigation.headedFor = retargets;
  const isReturning = row.pageWant === "returning" && returnUrl !== null;
  if (!isReturning && desiredUrl !== null) await goToSelected(navigation, taken, desiredUrl, retargets);
  const isRefused =
    !isReturning && navigation.headedFor === retargets && navigation.deps.isCurrent(taken) && isBlank(taken);
  if (returnUrl === null || !(isReturning || isRefused)) return;
  await goAndRecord(navigation, taken, returnUrl, retargets, (outcome, currentUrl) => {
    if (!isReturning) return {};
    if (!outcome.landed) return { lastError: outcome.reason, pageWant: "reached" };
    // After a retarget it is the URL as requested, redirects included.
    const isAsRequested = row.lastNavigatedUrl === desiredUrl;
    return { pageWant: "reached", ...(isAsRequested ? {} : { lastNavigatedUrl: currentUrl }) };
  });
}

function noteArrival(navigation: Navigation, { url, isDocument }: Arrival): void {
  const { deps, redirects, heading } = navigation;
  const isRedirect = redirects.isOpen();
  if (isRedirect) redirects.begin();
  if (heading) {
    // The navigation in progress records its own outcome; a document that the page loaded by itself counts if it fails.
    if (isDocument && isHttp(url)) heading.passedUrl = url;
    return;
  }
  deps.record.note({
    ...shown(url),
    ...(isRedirect ? {} : { lastNavigatedUrl: url }),
    // A `pushState` of the page that was there before reaches no page: the error stays readable.
    ...(isDocument && url !== BLANK ? { lastError: null, reachedFor: navigation.headedFor } : {}),
  });
}

const BLANK = "about:blank";

const isBlank = (taken: OpenBrowser) => taken.context.pages().every((page) => page.url() === BLANK);

const isHttp = (url: string) => /^https?:/.test(url);

/** The address shown; a browser that starts again can return to http(s) pages only. */
const shown = (url: string) => (isHttp(url) ? { currentUrl: url, returnUrl: url } : { currentUrl: url });
