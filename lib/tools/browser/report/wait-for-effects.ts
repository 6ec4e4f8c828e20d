import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { callInjected } from "#lib/injected/call-injected.ts";
import { pageDeadline } from "../page-deadline.ts";
import { withFrames } from "../page-kit/page-frames.ts";
import type { ActivityMark } from "./report-activity.ts";

/** Maximum time to wait for the page to load. */
const LOAD_MS_MAX = 5_000;
/** Maximum time to wait for the new pages, requests and downloads that the action began, and those of the new page. */
const REQUESTS_MS_MAX = 2_000;
/** A page counts as at rest if its content has not changed for this time. */
const QUIET_MS = 100;
/** Maximum time to wait until the page is at rest. */
const QUIET_MS_MAX = 1_000;
const POLL_MS = 10;
/** How long to wait before the first check. The browser reports the effects of an action with a delay. */
const GRACE_MS = 50;

/** What to wait for after an action. */
type EffectOptions = Pick<ActivityMark, "position" | "sinceMs"> & {
  /**
   * Number of the session's pages when the action ended. The browser may announce the newest page a little later, so
   * `settle` waits until the browser has announced all of these pages.
   */
  pageCount?: number;
  /** Whether to also wait until the content of the page stops changing. True if the caller reads the content next. */
  isRestAwaited: boolean;
  /** Maximum time to wait for requests, in milliseconds. Default: 2 s. */
  requestsMsMax?: number;
};

/**
 * Waits for the effects of an action: the pages that it opened exist, the requests and downloads that it began have
 * ended, and the current page has loaded. If `isRestAwaited`, also waits until the content of the page has stopped
 * changing and the requests that the page began meanwhile have ended: many pages fetch their content after they have
 * loaded. Each of these waits has its own deadline, because some pages never come to rest. Never rejects.
 */
export async function waitForEffects(
  live: LiveBrowser,
  {
    position,
    sinceMs,
    pageCount = 0,
    isRestAwaited,
    requestsMsMax: requestsMs = REQUESTS_MS_MAX,
  }: EffectOptions,
  signal: AbortSignal,
): Promise<void> {
  // Waits first, because the download of a `blob:` or `data:` URL causes no request: nothing is pending until the browser
  // announces the download.
  await wait(GRACE_MS);
  const isBusy = () => {
    const closed = live.activity.since(position).filter(({ kind }) => kind === "page-closed").length;
    if (live.context.pages().length + closed < pageCount) return true;
    return live.openingPages() + live.activity.pending(live.page(), sinceMs) + live.pendingDownloads() > 0;
  };
  const pending = () => live.documents.of(live.page().mainFrame());
  // A document that becomes a download is pending until the download has ended.
  const isSilent = () =>
    live.pendingDownloads() === 0 &&
    performance.now() - (pending()?.sinceMs ?? Number.POSITIVE_INFINITY) >= REQUESTS_MS_MAX;
  const untilIdle = async (untilMs: number) => {
    while (isBusy() && !isSilent() && performance.now() < untilMs && !signal.aborted) await wait(POLL_MS);
  };
  const beganMs = performance.now();
  await untilIdle(beganMs + requestsMs);
  // The page stays as it is until the server of its next document answers.
  if (pending()) return;
  const leftMs = beganMs + requestsMs - performance.now();
  await untilLoaded(live);
  if (!isRestAwaited) return;
  const untilMs = performance.now() + leftMs;
  for (;;) {
    // `untilQuiet` may fail, because a page that is busy or navigating does not answer.
    await pageDeadline(signal, QUIET_MS_MAX + POLL_MS)
      .race(() => untilQuiet(live))
      .catch(() => {});
    if (!isBusy() || isSilent() || performance.now() >= untilMs || signal.aborted) break;
    await untilIdle(untilMs);
  }
  // The page may have navigated during the wait.
  await untilLoaded(live);
}

const untilLoaded = (live: LiveBrowser) =>
  // A page that is still loading after `LOAD_MS_MAX` is used in its current state.
  live
    .page()
    .waitForLoadState("load", { timeout: LOAD_MS_MAX })
    .catch(() => {});

const untilQuiet = (live: LiveBrowser): Promise<void> =>
  withFrames(live, async ([main]) => {
    if (main) await callInjected(main, "tools", "untilQuiet", [QUIET_MS, QUIET_MS_MAX]);
  });

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
