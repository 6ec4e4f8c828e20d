import type { ToolServices } from "../../services.ts";
import { markActivity } from "../report/report-activity.ts";
import { settle } from "../report/settle.ts";
import { withinDeadline } from "../within-deadline.ts";
import { showSnapshot } from "./show-snapshot.ts";
import { takeSnapshot } from "./take-snapshot.ts";

/** Looks at the session's page before the first model call of a turn. @returns what the model is shown; never rejects. */
export type FirstLook = (
  whose: { sessionId: string; browserSessionId: string },
  signal: AbortSignal,
) => Promise<string>;

/** A cold start takes a few seconds, and a page may be slow; after that the turn goes on without the look. */
const LOOK_MS_MAX = 20_000;
/** It goes with every model call of the turn. */
const LOOK_CHARS_MAX = 6_000;

/** Makes the first look; its snapshot counts as shown to the model, like one of `dom_query`. */
export function createFirstLook({
  browser,
  snapshots,
  pageTurns,
}: Pick<ToolServices, "browser" | "snapshots" | "pageTurns">): FirstLook {
  return async (whose, signal) => {
    const over = new AbortController();
    try {
      return await withinDeadline(
        signal,
        LOOK_MS_MAX,
        () => look(whose, over.signal),
        (seconds) => `The page did not answer within ${seconds} s.`,
      );
    } catch (error) {
      return `The page could not be read: ${error instanceof Error ? error.message : error}`;
    } finally {
      over.abort();
    }
  };

  /** @param isOver ends the wait for a page that another agent uses. */
  async function look(whose: Parameters<FirstLook>[0], isOver: AbortSignal): Promise<string> {
    const endTurn = await pageTurns.take(whose, isOver);
    try {
      return await lookInTurn(whose);
    } finally {
      endTurn();
    }
  }

  async function lookInTurn({ sessionId, browserSessionId }: Parameters<FirstLook>[0]): Promise<string> {
    const opening = await browser.open(browserSessionId);
    if (opening.state === "waiting")
      return "The live browser is not up yet: all browsers are in use. A browser tool waits for it.";
    if (opening.state === "failed") return `The live browser could not be started: ${opening.reason}.`;
    const release = await browser.hold(browserSessionId);
    try {
      const live = await browser.ensure(browserSessionId);
      await settle(live, { ...markActivity(live), isRestAwaited: true }, new AbortController().signal);
      const snapshot = snapshots.add(sessionId, await takeSnapshot(live));
      const { lastError } = await browser.readStatus(browserSessionId);
      const shown = showSnapshot(snapshot, 1, LOOK_CHARS_MAX);
      return lastError === null
        ? shown
        : `The last navigation failed: ${JSON.stringify(lastError)}\n${shown}`;
    } finally {
      release();
    }
  }
}
