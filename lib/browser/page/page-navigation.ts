import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { NavigationOutcome } from "../browser-service.ts";
import type { StoredRecord } from "../session/browser-record.ts";
import type { BrowserPatch, BrowserRow } from "../session/browser-store.ts";
import type { Arrival } from "./live-page.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { createRedirectWatch } from "./redirect-watch.ts";

/** Navigates the page of one session's browser, and records which page was reached, or why none was. */
type PageNavigation = {
  /**
   * Brings a browser that has just started to its page: the selected one while that was not reached yet, otherwise
   * the last page shown. When the selected page is refused, the last page shown is opened instead, and the reason
   * stays in `lastError`. Never rejects.
   */
  comeUp: (taken: OpenBrowser, row: BrowserRow) => Promise<void>;
  /** Goes to the page that a retarget selected, and records the outcome. Never rejects. */
  goToSelected: (taken: OpenBrowser, url: string, retargets: number) => Promise<void>;
  /** Goes to a page on behalf of a tool or a person. */
  go: (taken: OpenBrowser, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** The newest retarget that a browser was sent to. */
  headedFor: () => number;
  /** Whether one of these navigations is under way. */
  isUnderWay: () => boolean;
  /** Records that the page shows another address, whoever caused it. */
  noteArrival: (arrival: Arrival) => void;
  /** Records that a popup took the foreground, or gave it back. */
  noteSelected: (url: string) => void;
  noteLoaded: () => void;
  /** The agent or a person used the page: later arrivals are theirs, not redirects of the last navigation. */
  noteUse: () => void;
  /** The browser is gone: drops the navigation that is under way. */
  abandon: () => void;
};

type NavigationDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  refuse: (url: URL) => Promise<string | undefined>;
  /** Whether a browser is still the session's. */
  isCurrent: (taken: OpenBrowser) => boolean;
  nowMs: () => number;
};

/** How long to wait for the document of a page that was reached; after that it is used as it is. */
export const LOAD_TIMEOUT_MS = 10_000;

const INTERRUPTED: NavigationOutcome = { landed: false, reason: "the navigation was interrupted" };

/** What to record of an outcome, given the address shown after it. */
type FieldsOf = (outcome: NavigationOutcome, currentUrl: string) => BrowserPatch;

/** @see PageNavigation */
export function createPageNavigation(deps: NavigationDeps): PageNavigation {
  const { sessionId, record, logger } = deps;
  const redirects = createRedirectWatch(deps.nowMs);
  /** The newest of these navigations that is under way, with the document that the page loaded by itself meanwhile. */
  let heading: { passedUrl?: string } | undefined;
  let headedFor = 0;

  /** Goes to a page; a newer navigation supersedes it. */
  async function head(taken: OpenBrowser, url: string, signal?: AbortSignal) {
    const own: NonNullable<typeof heading> = {};
    heading = own;
    const parsed = URL.parse(url);
    const reason = parsed ? await deps.refuse(parsed) : "the address cannot be read";
    await faultPoint("browser-navigating");
    // A name may resolve so late that a newer navigation went before.
    if (heading !== own) return { outcome: INTERRUPTED, isNewest: false, passed: {} };
    const outcome: NavigationOutcome =
      reason === undefined ? await taken.selected().navigate(url, signal) : { landed: false, reason };
    const isNewest = heading === own && deps.isCurrent(taken);
    if (isNewest) heading = undefined;
    const hasPassed = !outcome.landed && own.passedUrl !== undefined;
    return { outcome, isNewest, passed: hasPassed ? { lastNavigatedUrl: own.passedUrl ?? null } : {} };
  }

  /** Goes to a page for the retarget of the given number, and records the outcome unless something newer took over. */
  async function goAndRecord(
    taken: OpenBrowser,
    url: string,
    retargets: number,
    fieldsOf: FieldsOf,
  ): Promise<void> {
    redirects.begin();
    try {
      const { outcome, isNewest, passed } = await head(taken, url);
      if (!isNewest) return;
      if (!outcome.landed) redirects.end();
      const currentUrl = taken.selected().page.url();
      const fields = { ...passed, ...fieldsOf(outcome, currentUrl), ...shown(currentUrl) };
      await record.patch(fields, retargets);
    } catch (error) {
      logger.error({ sessionId, err: error }, "the outcome of a navigation was not recorded");
    }
  }

  async function goToSelected(taken: OpenBrowser, url: string, retargets: number): Promise<void> {
    headedFor = retargets;
    await goAndRecord(taken, url, retargets, (outcome) =>
      outcome.landed
        ? { lastNavigatedUrl: url, lastError: null, pageWant: "reached" }
        : { lastError: outcome.reason, pageWant: "refused" },
    );
  }

  async function comeUp(taken: OpenBrowser, row: BrowserRow): Promise<void> {
    const { desiredUrl, returnUrl, retargets } = row;
    headedFor = retargets;
    const isReturning = row.pageWant === "returning" && returnUrl !== null;
    if (!isReturning && desiredUrl !== null) await goToSelected(taken, desiredUrl, retargets);
    const isRefused = !isReturning && headedFor === retargets && deps.isCurrent(taken) && isBlank(taken);
    if (returnUrl === null || !(isReturning || isRefused)) return;
    await goAndRecord(taken, returnUrl, retargets, (outcome, currentUrl) => {
      if (!isReturning) return {};
      if (!outcome.landed) return { lastError: outcome.reason, pageWant: "reached" };
      // After a retarget it is the URL as requested, redirects included.
      const isAsRequested = row.lastNavigatedUrl === desiredUrl;
      return { pageWant: "reached", ...(isAsRequested ? {} : { lastNavigatedUrl: currentUrl }) };
    });
  }
  return {
    comeUp,
    goToSelected,
    async go(taken, url, signal) {
      const { outcome, isNewest, passed } = await head(taken, url, signal);
      if (!isNewest) return outcome;
      const currentUrl = taken.selected().page.url();
      if (outcome.landed) redirects.end();
      await record.patch({
        ...shown(currentUrl),
        ...(outcome.landed
          ? { lastNavigatedUrl: currentUrl, lastError: null, reachedFor: headedFor }
          : { ...passed, lastError: outcome.reason }),
      });
      if (!outcome.landed) return outcome;
      const { page } = taken.selected();
      await page.waitForLoadState("domcontentloaded", { timeout: LOAD_TIMEOUT_MS }).catch(() => {});
      return { landed: true, url: page.url() };
    },
    headedFor: () => headedFor,
    isUnderWay: () => heading !== undefined,
    noteArrival({ url, isDocument }) {
      const isRedirect = redirects.isOpen();
      if (isRedirect) redirects.begin();
      if (heading) {
        // The navigation under way records its own outcome; a document of the page's own matters if that fails.
        if (isDocument && isHttp(url)) heading.passedUrl = url;
        return;
      }
      record.note({
        ...shown(url),
        ...(isRedirect ? {} : { lastNavigatedUrl: url }),
        // A `pushState` of the page that was there before reaches no page: it leaves the error readable.
        ...(isDocument && url !== BLANK ? { lastError: null, reachedFor: headedFor } : {}),
      });
    },
    noteSelected(url) {
      record.note({ ...shown(url), ...(isHttp(url) ? { lastNavigatedUrl: url } : {}) });
    },
    noteLoaded: redirects.loaded,
    noteUse: redirects.end,
    abandon() {
      heading = undefined;
    },
  };
}

const BLANK = "about:blank";

const isBlank = (taken: OpenBrowser) => taken.context.pages().every((page) => page.url() === BLANK);

const isHttp = (url: string) => /^https?:/.test(url);

/** The address shown; a browser that starts again can come back to http(s) pages alone. */
const shown = (url: string) => (isHttp(url) ? { currentUrl: url, returnUrl: url } : { currentUrl: url });
