import { shorten } from "#lib/text/shorten.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { BrowserOpening, LiveBrowser } from "../../browser-service.ts";
import { hideOverlay } from "../../overlay/hide-overlay.ts";
import { describeLogins } from "../../state/describe-restart.ts";
import { NoBrowserError } from "../browser-start.ts";
import { isStarting, type RunningBrowser, runningIn } from "../lifecycle/lifecycle-state.ts";
import { noteUseEnded, type Session, touch } from "./session-state.ts";

const URL_SHOWN = 500;

/** @see HostBrowsers.takeRestartNote */
export function takeRestartNote({ life, usage }: Session): string | undefined {
  const running = runningIn(life.state());
  if (!running?.isRestart || running.starts <= usage.toldStarts) return undefined;
  usage.toldStarts = running.starts;
  const url = JSON.stringify(shorten(running.browser.selected().page.url(), URL_SHOWN));
  const logins = describeLogins(running.browser.siteData.restoration());
  const note = `The browser was restarted and shows ${url} now; ${logins}, and what was typed into forms is lost.`;
  const { restartReason: reason } = running;
  return reason === undefined ? note : `${note} The restart was needed because ${reason}.`;
}

/** Starts the browser if none runs, and waits until its first page has landed. */
export async function ensure(session: Session, signal?: AbortSignal): Promise<LiveBrowser> {
  touch(session);
  const running = await session.life.provision(signal);
  await createDeadline({ signal }).race(running.landing);
  return toLiveBrowser(session, running);
}

/**
 * How many refs (element numbers in page snapshots) are reserved for each start of a session's browser. No browser
 * needs more.
 */
const REFS_PER_BROWSER = 100_000;

function toLiveBrowser({ deps, usage }: Session, { browser, starts }: RunningBrowser): LiveBrowser {
  return {
    sessionId: deps.sessionId,
    browser: browser.browser,
    context: browser.context,
    page: () => browser.selected().page,
    cdp: () => browser.toolSession(),
    openDevtools: browser.process.devtools.open,
    targetId: async () => browser.selected().targetId,
    shownDocument: () => browser.selected().shown(),
    noteScriptInput(pointer) {
      if (pointer) for (const listener of [...usage.pointerListeners]) listener(pointer);
    },
    hideOverlay: (why) => hideOverlay(browser, why),
    firstRef: (starts - 1) * REFS_PER_BROWSER + 1,
    claimDialogs: browser.dialogs.claim,
    activity: browser.activity,
    documents: browser.documents,
    pendingDownloads: browser.downloads.pending,
    hasWorkspace: deps.hasWorkspace,
    openingPages: browser.opening,
    select: browser.select,
    readRefusal: browser.readRefusal,
    openContext: browser.openContext,
    isOpen: browser.isOpen,
  };
}

/** Updates the page script of the running browser. A browser that starts later reads the script itself. */
export async function refreshPageScript(session: Session): Promise<void> {
  const { deps, life } = session;
  const state = life.state();
  const running = runningIn(state);
  if (!running) {
    // A browser that is being started may have read the old script, so the script is read again after the start.
    if (isStarting(state)) void state.start.settled.then(() => refreshPageScript(session));
    return;
  }
  await running.browser.scripts
    .set(await deps.readPageScript())
    .catch((error: unknown) =>
      deps.logger.debug({ sessionId: deps.sessionId, err: error }, "a page did not run the script"),
    );
}

/** @see BrowserService.hold */
export async function hold(session: Session, signal?: AbortSignal): Promise<() => void> {
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    session.usage.holds -= 1;
    noteUseEnded(session);
  };
  session.usage.holds += 1;
  try {
    await ensure(session, signal);
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

/** Starts the browser if none runs, and waits until it runs. If no place is free, returns without waiting for one. */
export async function open({ deps, life, usage }: Session): Promise<BrowserOpening> {
  usage.usedAtMs = deps.nowMs();
  const up = life.provision().then(
    (): BrowserOpening => ({ state: "ready" }),
    (error: unknown): BrowserOpening => {
      if (error instanceof NoBrowserError) return { state: "failed", reason: error.message };
      throw error;
    },
  );
  return Promise.race([up, life.untilWaiting().then((): BrowserOpening => ({ state: "waiting" }))]);
}
