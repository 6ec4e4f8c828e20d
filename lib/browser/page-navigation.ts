import { faultPoint } from "#lib/events/fault-point.ts";
import type { Logger } from "./browser-provider.ts";
import type { StoredRecord } from "./browser-record.ts";
import type { NavigationOutcome } from "./browser-service.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { createRedirectWatch } from "./redirect-watch.ts";

/** Takes the page of one session's browser where it is to go, and records where it came. */
export type PageNavigation = {
  /** Goes to the page that a retarget selected, and records how that ended. Never rejects. */
  goToSelected: (taken: OpenBrowser, url: string, retargets: number) => Promise<void>;
  /** Goes to a page on behalf of a tool or a person. */
  go: (taken: OpenBrowser, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** The newest retarget that a browser was sent to. */
  headedFor: () => number;
  /** Counts a retarget as seen to: a browser came up on what was selected by then. */
  cameUpAt: (retargets: number) => void;
  /** Whether a navigation of ours is under way. */
  isUnderWay: () => boolean;
  /** The page shows another address, whoever caused it. */
  noteArrival: (url: string) => void;
  noteLoaded: () => void;
  /** Somebody used the page: an arrival from now on is theirs, no longer a redirect of the last navigation. */
  noteUse: () => void;
  /** The browser is gone: what is under way leads nowhere. */
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

/** How long a page that was reached may take until its document is there; then it is used as it is. */
export const LOAD_TIMEOUT_MS = 10_000;

const INTERRUPTED: NavigationOutcome = { landed: false, reason: "the navigation was interrupted" };

/** @see PageNavigation */
export function createPageNavigation(deps: NavigationDeps): PageNavigation {
  const { sessionId, record, logger } = deps;
  const redirects = createRedirectWatch(deps.nowMs);
  /** The newest navigation of ours that is under way. */
  let heading: object | undefined;
  let headedFor = 0;

  /** Goes to a page; a newer navigation of ours takes this one's place. */
  async function head(taken: OpenBrowser, url: string, signal?: AbortSignal) {
    const own = {};
    heading = own;
    const parsed = URL.parse(url);
    const reason = parsed ? await deps.refuse(parsed) : "the address cannot be read";
    await faultPoint("K28");
    // A name may be resolved so late that a newer navigation went before.
    if (heading !== own) return { outcome: INTERRUPTED, isNewest: false };
    const outcome: NavigationOutcome =
      reason === undefined ? await taken.selected().navigate(url, signal) : { landed: false, reason };
    const isNewest = heading === own && deps.isCurrent(taken);
    if (isNewest) heading = undefined;
    return { outcome, isNewest };
  }

  return {
    async goToSelected(taken, url, retargets) {
      headedFor = retargets;
      redirects.begin();
      try {
        const { outcome, isNewest } = await head(taken, url);
        if (!isNewest) return;
        if (!outcome.landed) redirects.end();
        const currentUrl = taken.selected().page.url();
        const landing = { lastNavigatedUrl: url, lastError: null };
        await record.patch(
          { ...(outcome.landed ? landing : { lastError: outcome.reason }), currentUrl },
          retargets,
        );
      } catch (error) {
        logger.error({ sessionId, error }, "a navigation's outcome was not recorded");
      }
    },
    async go(taken, url, signal) {
      const { outcome, isNewest } = await head(taken, url, signal);
      if (!isNewest) return outcome;
      const currentUrl = taken.selected().page.url();
      if (outcome.landed) redirects.end();
      await record.patch(
        outcome.landed
          ? { currentUrl, lastNavigatedUrl: currentUrl, lastError: null }
          : { currentUrl, lastError: outcome.reason },
      );
      if (!outcome.landed) return outcome;
      const { page } = taken.selected();
      await page.waitForLoadState("domcontentloaded", { timeout: LOAD_TIMEOUT_MS }).catch(() => {});
      return { landed: true, url: page.url() };
    },
    headedFor: () => headedFor,
    cameUpAt(retargets) {
      headedFor = retargets;
    },
    isUnderWay: () => heading !== undefined,
    noteArrival(url) {
      const isRedirect = redirects.isOpen();
      if (isRedirect) redirects.begin();
      // Where a navigation of ours is under way, its end tells more than its steps.
      if (heading) return;
      const arrived = isRedirect ? { currentUrl: url } : { currentUrl: url, lastNavigatedUrl: url };
      record.note({ ...arrived, lastError: null });
    },
    noteLoaded: redirects.loaded,
    noteUse: redirects.end,
    abandon() {
      heading = undefined;
    },
  };
}
