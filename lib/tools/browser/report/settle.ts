import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { withFrames } from "../page-kit/page-frames.ts";
import { withinDeadline } from "../within-deadline.ts";
import type { ActivityMark } from "./report-activity.ts";

/** How long a page may take to load, and then to answer the requests that the action began, in milliseconds. */
const LOAD_MS_MAX = 5_000;
const REQUESTS_MS_MAX = 2_000;
/** A page is at rest if nothing has changed for `QUIET_MS`. `QUIET_MS_MAX` ends the wait for a page that never rests. */
const QUIET_MS = 100;
const QUIET_MS_MAX = 1_000;
const POLL_MS = 10;
/** The browser reports the effects of an action a moment later. */
const GRACE_MS = 50;

/** What to wait for after an action. */
type SettleOptions = Pick<ActivityMark, "position" | "sinceMs"> & {
  /** Number of pages at the end of the action; the browser may announce the last one a little later. */
  pageCount?: number;
  /** Whether to wait until the content stops changing, because it is read next. */
  isRestAwaited: boolean;
};

/**
 * Waits for the effects of an action: opened pages exist, requests and downloads that began since then have ended, the
 * current page has loaded, and, if requested, its content has stopped changing. Each of these waits has its own deadline,
 * because some pages never come to rest. Never rejects.
 */
export async function settle(
  live: LiveBrowser,
  { position, sinceMs, pageCount = 0, isRestAwaited }: SettleOptions,
  signal: AbortSignal,
): Promise<void> {
  // A download of the page's own data causes no request, so nothing is pending until the browser announces it.
  await wait(GRACE_MS);
  const untilMs = Date.now() + REQUESTS_MS_MAX;
  const isBusy = () => {
    const closed = live.activity.since(position).filter(({ kind }) => kind === "page-closed").length;
    if (live.context.pages().length + closed < pageCount) return true;
    return live.openingPages() + live.activity.pending(live.page(), sinceMs) + live.pendingDownloads() > 0;
  };
  while (isBusy() && Date.now() < untilMs && !signal.aborted) await wait(POLL_MS);
  await untilLoaded(live);
  if (!isRestAwaited) return;
  // A page that is busy or navigating does not answer.
  await withinDeadline(signal, QUIET_MS_MAX + POLL_MS, () => untilQuiet(live)).catch(() => {});
  // The page may have navigated meanwhile.
  await untilLoaded(live);
}

const untilLoaded = (live: LiveBrowser) =>
  // A page that is still loading after this time is shown in its current state.
  live
    .page()
    .waitForLoadState("load", { timeout: LOAD_MS_MAX })
    .catch(() => {});

const untilQuiet = (live: LiveBrowser): Promise<unknown> =>
  withFrames(live, ([main]) =>
    main
      ? main.session.send("Runtime.evaluate", {
          expression: `(${observeRest})(${QUIET_MS}, ${QUIET_MS_MAX})`,
          contextId: main.contextId,
          awaitPromise: true,
        })
      : Promise.resolve(undefined),
  );

/** Runs inside the page, sent as source: resolves when nothing was changed for some time, at the latest after `maxMs`. */
function observeRest(quietMs: number, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      observer.disconnect();
      clearTimeout(end);
      resolve();
    };
    let rest = setTimeout(finish, quietMs);
    const end = setTimeout(finish, maxMs);
    const observer = new MutationObserver(() => {
      clearTimeout(rest);
      rest = setTimeout(finish, quietMs);
    });
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document, all);
  });
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
