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
 * slow start of the browser does not delay the turn further.
 */
const LOOK_MS_MAX = 20_000;
/**
 * Maximum characters of the snapshot. The limit is small, because every model call of the turn includes the snapshot.
 */
const LOOK_CHARS_MAX = 6_000;

/** Implements {@link PageTools.firstLook}. Its snapshot is added to `snapshots`, so that the model can refer to it in `dom_query`. */
export function createFirstLook({
  browser,
  snapshots,
  pageTurns,
}: Pick<HostServices, "browser" | "snapshots" | "pageTurns">): PageTools["firstLook"] {
  return async (session, signal) => {
    const ended = new AbortController();
    try {
      return await pageDeadline(
        signal,
        LOOK_MS_MAX,
        (seconds) => `The page did not answer within ${seconds} s.`,
      ).race(() => look(session, ended.signal));
    } catch (error) {
      return `The page could not be read: ${describeFailure(error)}`;
    } finally {
      ended.abort();
    }
  };

  /**
   * @param waitSignal fires when the caller no longer waits for the result. If another agent uses the page at that
   * time, `look` stops waiting for the page.
   */
  async function look(
    session: Parameters<PageTools["firstLook"]>[0],
    waitSignal: AbortSignal,
  ): Promise<string> {
    const endTurn = await pageTurns.take(session, waitSignal);
    try {
      return await lookInTurn(session);
    } finally {
      endTurn();
    }
  }

  async function lookInTurn({
    sessionId,
    browserSessionId,
  }: Parameters<PageTools["firstLook"]>[0]): Promise<string> {
    const opening = await browser.open(browserSessionId);
    if (opening.state === "waiting")
      return "The live browser is not up yet: all browsers are in use. A browser tool waits for it.";
    if (opening.state === "failed") return `The live browser could not be started: ${opening.reason}.`;
    const release = await browser.hold(browserSessionId);
    try {
      const live = await browser.ensure(browserSessionId);
      await waitForEffects(
        live,
        { ...markActivity(live), isRestAwaited: true },
        new AbortController().signal,
      );
      const { value, notice } = await readPage(live, takeSnapshot);
      const snapshot = snapshots.add(sessionId, value);
      await browser.settle(browserSessionId);
      const lastError = await browser.readLastError(browserSessionId);
      const shown = [notice, showSnapshot(snapshot, 1, LOOK_CHARS_MAX)].filter(Boolean).join("\n");
      return lastError === null
        ? shown
        : `The last navigation failed. ${quoteAsData("the page", JSON.stringify(lastError))}\n${shown}`;
    } finally {
      release();
    }
  }
}
