import type { BrowserOpening, NavigationOutcome } from "../../browser-service.ts";
import { LOAD_TIMEOUT_MS } from "../../page/page-navigation.ts";
import { runningIn } from "../lifecycle/lifecycle-state.ts";
import { ensure, open } from "./provide-browser.ts";
import { noteUseEnded, type Session, touch } from "./session-state.ts";

export type HistoryAction = "back" | "forward" | "reload";

/**
 * Opens the page of a retarget (a client's request to show another page). If the browser is lost meanwhile and there is
 * no newer retarget, retries once with a new browser.
 */
export async function goTo(session: Session, url: string, retargets: number, isRetry = false): Promise<void> {
  const { life, navigation, usage, deps } = session;
  usage.usedAtMs = deps.nowMs();
  const running = await life.provision();
  // A browser that has just started may already be opening the page of this retarget or of a newer one.
  if (navigation.lastRetarget() < retargets) {
    await navigation.goToSelected(running.browser, url, retargets);
    noteUseEnded(session);
  } else await running.landing;
  const isNewest = navigation.lastRetarget() === retargets;
  if (running.isLost && isNewest && !isRetry) await goTo(session, url, retargets, true);
}

/** @see BrowserService.navigate */
export async function navigate(
  session: Session,
  url: string,
  signal?: AbortSignal,
): Promise<NavigationOutcome> {
  const { deps, life, navigation, usage } = session;
  await ensure(session, signal);
  const running = runningIn(life.state());
  if (!running) return { landed: false, reason: "the browser ended meanwhile" };
  const outcome = await navigation.go(running.browser, url, signal);
  usage.usedAtMs = deps.nowMs();
  return outcome;
}

/** @see BrowserService.history */
export async function goThroughHistory(session: Session, action: HistoryAction): Promise<BrowserOpening> {
  const { life, deps } = session;
  const wasUp = runningIn(life.state()) !== undefined;
  const opening = await open(session);
  const running = runningIn(life.state());
  // A browser that has just started has a freshly loaded page and no history.
  if (!wasUp || !running || opening.state !== "ready") return opening;
  touch(session);
  const { page } = running.browser.selected();
  const options = { waitUntil: "domcontentloaded", timeout: LOAD_TIMEOUT_MS } as const;
  const moves = {
    back: () => page.goBack(options),
    forward: () => page.goForward(options),
    reload: () => page.reload(options),
  };
  // Errors do not fail the call: a refusal is already recorded, and after a timeout the page may still be loading.
  await moves[action]().catch((error) =>
    deps.logger.debug(
      { sessionId: deps.sessionId, action, err: error },
      "history navigation did not complete",
    ),
  );
  noteUseEnded(session);
  return opening;
}
