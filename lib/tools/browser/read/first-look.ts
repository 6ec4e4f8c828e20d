import { ElsewhereError } from "#lib/browser/elsewhere-error.ts";
import { NoBrowserError } from "#lib/browser/session/browser-start.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { describeFailure } from "../../describe-failure.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import type { HostServices } from "../host-services.ts";
import { readPage } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import type { PageTools } from "../page-tools.ts";
import { markActivity } from "../report/report-activity.ts";
import { waitForEffects } from "../report/wait-for-effects.ts";
import { showSnapshot } from "./show-snapshot.ts";
import { takeSnapshot } from "./take-snapshot.ts";

/**
 * How long to wait for the snapshot. After this time, the turn continues without a snapshot, so that a slow page or a
 * long queue for browsers does not delay the turn further.
 */
const LOOK_MS_MAX = 20_000;
/**
 * Maximum characters of the snapshot. The limit is small, because every model call of the turn includes the snapshot.
 */
const LOOK_CHARS_MAX = 6_000;
/** Requests that began within this time before the look count as filling the page; older ones are long polls. */
const FILLING_MS = 10_000;
/** Maximum time to wait for these requests. */
const REQUESTS_MS_MAX = 5_000;

type LookingSession = Parameters<PageTools["firstLook"]>[0];

/** What a look waits for, and what the model is told if it waits until the deadline. */
const LATE = {
  turn: "The page was not read: another agent has been using it.",
  browser: `The live browser was not up within ${LOOK_MS_MAX / 1_000} s. A browser tool waits for it.`,
  page: `The page could not be read: The page did not answer within ${LOOK_MS_MAX / 1_000} s.`,
} as const;

/** Implements {@link PageTools.firstLook}. Its snapshot is added to `snapshots`, so that the model can refer to it in `dom_query`. */
export function createFirstLook(
  { browser, snapshots, pageTurns }: Pick<HostServices, "browser" | "snapshots" | "pageTurns">,
  lookMsMax = LOOK_MS_MAX,
): PageTools["firstLook"] {
  return async (session, signal) => {
    const ended = new AbortController();
    const look: Look = { session, signal, ended: ended.signal, waitsFor: "turn" };
    try {
      return await pageDeadline(signal, lookMsMax).race(
        () => takeTurn(look),
        (reason) => {
          if (signal.aborted) throw reason;
          // A browser that runs is held only when its first page has answered.
          const isUp = browser.listUp().includes(session.browserSessionId);
          return LATE[look.waitsFor === "browser" && isUp ? "page" : look.waitsFor];
        },
      );
    } catch (error) {
      // The caller repeats the look at the host that has the browser now.
      if (error instanceof ElsewhereError) throw error;
      if (error instanceof NoBrowserError) return `The live browser could not be started: ${error.message}.`;
      return `The page could not be read: ${describeFailure(error)}`;
    } finally {
      ended.abort();
    }
  };

  async function takeTurn(look: Look): Promise<string> {
    const endTurn = await pageTurns.take(look.session, look.ended);
    try {
      look.waitsFor = "browser";
      const release = await hold(look);
      look.waitsFor = "page";
      try {
        return await readShown(look);
      } finally {
        release();
      }
    } finally {
      endTurn();
    }
  }

  /** Holds the browser. If the look ends before, the session keeps its place in the queue for its next tool call. */
  async function hold({ session, signal, ended }: Look): Promise<() => void> {
    const holding = browser.hold(session.browserSessionId, signal);
    try {
      return await createDeadline({ signal: ended }).race(holding);
    } catch (error) {
      holding.then(
        (release) => release(),
        () => {},
      );
      throw error;
    }
  }

  async function readShown({ session, ended }: Look): Promise<string> {
    const { sessionId, browserSessionId } = session;
    const live = await browser.ensure(browserSessionId);
    const since = { ...markActivity(live), sinceMs: performance.now() - FILLING_MS };
    await waitForEffects(
      live,
      { ...since, isRestAwaited: true, requestsMsMax: REQUESTS_MS_MAX },
      new AbortController().signal,
    );
    const { value, notice } = await readPage(live, takeSnapshot);
    await browser.settle(browserSessionId);
    const lastError = await browser.readLastError(browserSessionId);
    // The model gets nothing of a look that comes too late, so no later snapshot may be compared with this one.
    if (ended.aborted) return "";
    const snapshot = snapshots.add(sessionId, value);
    const shown = [notice, showSnapshot(snapshot, 1, LOOK_CHARS_MAX)].filter(Boolean).join("\n");
    return lastError === null
      ? shown
      : `The last navigation failed. ${quoteAsData("the page", JSON.stringify(lastError))}\n${shown}`;
  }
}

/** A look in progress. `signal` fires when the turn is stopped, `ended` when nothing waits for the look any more. */
type Look = {
  session: LookingSession;
  signal: AbortSignal;
  ended: AbortSignal;
  waitsFor: keyof typeof LATE;
};
