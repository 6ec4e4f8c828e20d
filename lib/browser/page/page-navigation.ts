import type { Logger } from "#lib/log/logger.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { NavigationOutcome } from "../browser-service.ts";
import type { StoredRecord } from "../session/browser-record.ts";
import type { BrowserPatch, BrowserRow } from "../store/browser-store.ts";
import type { Arrival } from "./main-frame.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { createRedirectWatch, type RedirectWatch } from "./redirect-watch.ts";

/**
 * Navigates the page of one session's browser. Records which page was reached or why the navigation failed. A retarget
 * is a client's request to show another page. The retargets of a session are numbered.
 */
export type PageNavigation = {
  /**
   * Opens the first page of a browser that has just started. If the session's desired page (`desiredUrl`) was not
   * reached yet, opens that page. If it was reached, or if it cannot be opened, opens the page that the previous
   * browser showed last. If the desired page could not be opened, `lastError` says why. Never rejects.
   */
  openStartPage: (browser: OpenBrowser, row: BrowserRow) => Promise<void>;
  /** Navigates to the page of the retarget with the number `retargets`, and records the outcome. Never rejects. */
  goToSelected: (browser: OpenBrowser, url: string, retargets: number) => Promise<void>;
  /** Navigates to a page for a tool or a person. Records the outcome if no newer navigation began, and returns it. */
  go: (browser: OpenBrowser, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** Returns the number of the newest retarget for which a navigation was started. */
  lastRetarget: () => number;
  /** Whether a navigation that this object started is in progress. */
  isNavigating: () => boolean;
  /** Records that the page shows another document, or that only its address changed. */
  noteArrival: (arrival: Arrival) => void;
  /** Records that another page became the selected page, for example because a popup opened or closed. */
  noteSelected: (url: string) => void;
  noteLoaded: () => void;
  /** Records that the agent or a person used the page. New addresses after this call do not count as redirects. */
  noteUse: () => void;
  /** Forgets the navigation in progress. Call it when the browser has ended. */
  abandon: () => void;
};

type NavigationDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  /** Returns why a page may not be opened; undefined if it may be. */
  refuse: (url: URL) => Promise<string | undefined>;
  /** Whether the session still uses this browser. */
  isCurrent: (browser: OpenBrowser) => boolean;
  /** Called when the newest navigation has not reached its page. */
  onFailed: (url: string, reason: string) => void;
  nowMs: () => number;
};

/** How long a caller waits until the document of a reached page is parsed. The caller then continues in any case. */
export const LOAD_TIMEOUT_MS = 10_000;

const INTERRUPTED: NavigationOutcome = { landed: false, reason: "the navigation was interrupted" };

/**
 * Returns the fields to record for an outcome. `currentUrl` is the address that the page shows after the navigation.
 */
type FieldsOf = (outcome: NavigationOutcome, currentUrl: string) => BrowserPatch;

type Navigation = {
  deps: NavigationDeps;
  redirects: RedirectWatch;
  /** The newest navigation in progress. `passedUrl` is the URL of a document that the page itself loaded meanwhile. */
  current: { passedUrl?: string } | undefined;
  lastRetarget: number;
};

/** @see PageNavigation */
export function createPageNavigation(deps: NavigationDeps): PageNavigation {
  const redirects = createRedirectWatch(deps.nowMs);
  const navigation: Navigation = { deps, redirects, current: undefined, lastRetarget: 0 };
  return {
    openStartPage: (browser, row) => openStartPage(navigation, browser, row),
    goToSelected: (browser, url, retargets) => goToSelected(navigation, browser, url, retargets),
    go: (browser, url, signal) => go(navigation, browser, url, signal),
    lastRetarget: () => navigation.lastRetarget,
    isNavigating: () => navigation.current !== undefined,
    noteArrival: (arrival) => noteArrival(navigation, arrival),
    noteSelected(url) {
      deps.record.note({
        ...shownFields(url),
        ...(isHttp(url) ? { lastNavigatedUrl: recordable(url) } : {}),
      });
    },
    noteLoaded: redirects.loaded,
    noteUse: redirects.end,
    abandon() {
      navigation.current = undefined;
    },
  };
}

/** Navigates to a page. A newer navigation supersedes this one. */
async function navigateTo(navigation: Navigation, browser: OpenBrowser, url: string, signal?: AbortSignal) {
  const { deps } = navigation;
  const own: NonNullable<Navigation["current"]> = {};
  navigation.current = own;
  const parsed = URL.parse(url);
  const reason = parsed ? await deps.refuse(parsed) : "the address is not a valid URL";
  // A newer navigation may have started while the service resolved the host name.
  if (navigation.current !== own) return { outcome: INTERRUPTED, isNewest: false, passed: {} };
  const outcome: NavigationOutcome =
    reason === undefined ? await browser.selected().navigate(url, signal) : { landed: false, reason };
  const isNewest = navigation.current === own && deps.isCurrent(browser);
  if (isNewest) navigation.current = undefined;
  if (isNewest && !outcome.landed) deps.onFailed(url, outcome.reason);
  const hasPassed = !outcome.landed && own.passedUrl !== undefined;
  return { outcome, isNewest, passed: hasPassed ? { lastNavigatedUrl: own.passedUrl ?? null } : {} };
}

async function go(
  navigation: Navigation,
  browser: OpenBrowser,
  url: string,
  signal?: AbortSignal,
): Promise<NavigationOutcome> {
  const { outcome, isNewest, passed } = await navigateTo(navigation, browser, url, signal);
  if (!isNewest) return outcome;
  const currentUrl = browser.selected().page.url();
  if (outcome.landed) navigation.redirects.end();
  await navigation.deps.record.patch({
    ...shownFields(currentUrl),
    ...(outcome.landed
      ? { lastNavigatedUrl: recordable(currentUrl), lastError: null, reachedFor: navigation.lastRetarget }
      : { ...passed, lastError: outcome.reason }),
  });
  if (!outcome.landed) return outcome;
  const { page } = browser.selected();
  await page.waitForLoadState("domcontentloaded", { timeout: LOAD_TIMEOUT_MS }).catch(() => {});
  return { landed: true, url: page.url() };
}

/**
 * Navigates to the page of the retarget with the number `retargets`. Records the outcome if no newer navigation began.
 */
async function goAndRecord(
  navigation: Navigation,
  browser: OpenBrowser,
  url: string,
  retargets: number,
  fieldsOf: FieldsOf,
): Promise<void> {
  const { deps, redirects } = navigation;
  redirects.begin();
  try {
    const { outcome, isNewest, passed } = await navigateTo(navigation, browser, url);
    if (!isNewest) return;
    if (!outcome.landed) redirects.end();
    const currentUrl = browser.selected().page.url();
    const fields = { ...passed, ...fieldsOf(outcome, currentUrl), ...shownFields(currentUrl) };
    await deps.record.patch(fields, retargets);
  } catch (error) {
    const { sessionId, logger } = deps;
    logger.error({ sessionId, err: error }, "the outcome of a navigation was not recorded");
  }
}

async function goToSelected(
  navigation: Navigation,
  browser: OpenBrowser,
  url: string,
  retargets: number,
): Promise<void> {
  navigation.lastRetarget = retargets;
  await goAndRecord(navigation, browser, url, retargets, (outcome) =>
    outcome.landed
      ? { lastNavigatedUrl: url, lastError: null, pageWant: "reached" }
      : { lastError: outcome.reason, pageWant: "refused" },
  );
}

async function openStartPage(navigation: Navigation, browser: OpenBrowser, row: BrowserRow): Promise<void> {
  const { desiredUrl, returnUrl, retargets } = row;
  navigation.lastRetarget = retargets;
  const isReturning = row.pageWant === "returning" && returnUrl !== null;
  if (!isReturning && desiredUrl !== null) await goToSelected(navigation, browser, desiredUrl, retargets);
  const isRefused =
    !isReturning &&
    navigation.lastRetarget === retargets &&
    navigation.deps.isCurrent(browser) &&
    isBlank(browser);
  if (returnUrl === null || !(isReturning || isRefused)) return;
  await goAndRecord(navigation, browser, returnUrl, retargets, (outcome, currentUrl) => {
    if (!isReturning) return {};
    if (!outcome.landed) return { lastError: outcome.reason, pageWant: "reached" };
    // A `lastNavigatedUrl` that is the URL of the retarget is kept. `currentUrl` may differ from that URL because of a
    // redirect.
    const isAsRequested = row.lastNavigatedUrl === desiredUrl;
    return { pageWant: "reached", ...(isAsRequested ? {} : { lastNavigatedUrl: recordable(currentUrl) }) };
  });
}

function noteArrival(navigation: Navigation, { url, isDocument }: Arrival): void {
  const { deps, redirects, current } = navigation;
  const isRedirect = redirects.isOpen();
  if (isRedirect) redirects.begin();
  if (current) {
    // The navigation in progress records its own outcome. If it fails, this URL becomes `lastNavigatedUrl`.
    if (isDocument && isHttp(url)) current.passedUrl = recordable(url);
    return;
  }
  deps.record.note({
    ...shownFields(url),
    ...(isRedirect ? {} : { lastNavigatedUrl: recordable(url) }),
    // A change of the address by `pushState` loads no page, so it must not clear the error.
    ...(isDocument && url !== BLANK ? { lastError: null, reachedFor: navigation.lastRetarget } : {}),
  });
}

const BLANK = "about:blank";

const isBlank = (browser: OpenBrowser) => browser.context.pages().every((page) => page.url() === BLANK);

const isHttp = (url: string) => /^https?:/.test(url);

/** Longest address that is recorded whole: the longest that a caller can request. A page can have one of megabytes. */
const ADDRESS_CHARS_MAX = 8_192;

const recordable = (url: string): string => shorten(url, ADDRESS_CHARS_MAX);

/**
 * Returns the record's fields for the address that the page shows. Sets `returnUrl` only to a whole http(s) address,
 * because a restarted browser can return only to such an address.
 */
const shownFields = (url: string) =>
  isHttp(url) && url.length <= ADDRESS_CHARS_MAX
    ? { currentUrl: url, returnUrl: url }
    : { currentUrl: recordable(url) };
