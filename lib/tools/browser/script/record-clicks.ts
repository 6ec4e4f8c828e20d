import type { Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { createListenerGuard } from "#lib/browser/process/listener-guard.ts";
import { startSource } from "#lib/injected/bundle.ts";

/** A click on a page of the session's browser. */
export type RecordedClick = {
  /** Address of the page when it was clicked. */
  url: string;
  /** A selector that matched only the clicked control. */
  selector: string;
};

/** How many clicks of one browser are kept, and how long their texts may be. Longer ones are left out. */
const CLICKS_MAX = 50;
const TEXT_MAX = 1_000;
const WORLD_NAME = "agent-session-clicks";
const BINDING = "agentSessionClicked";

/** The clicks by the browser's activity log, which stays the same for as long as the browser runs. */
const clicksOf = new WeakMap<LiveBrowser["activity"], RecordedClick[]>();
const recorded = new WeakSet<Page>();

/** Returns the latest clicks in the browser, oldest first, at most 50. The browser may have been started again since. */
export const listClicks = ({ activity }: LiveBrowser): RecordedClick[] => [...(clicksOf.get(activity) ?? [])];

/**
 * Records from now on what is clicked in the selected page with a mouse, by scripts of the agent and by people. The
 * recorder runs in an isolated world, so the page can neither see it nor forge a click.
 *
 * @throws Error if the page is gone.
 */
export async function recordClicks(live: LiveBrowser): Promise<void> {
  const page = live.page();
  if (recorded.has(page)) return;
  recorded.add(page);
  const session = await page.context().newCDPSession(page);
  const clicks = clicksOf.get(live.activity) ?? [];
  clicksOf.set(live.activity, clicks);
  // A listener that fails only ends the recording.
  const guard = createListenerGuard(() => void clicksOf.delete(live.activity));
  const onCalled = guard(({ name, payload }: { name: string; payload: string }) => {
    if (name !== BINDING) return;
    // The cast is safe: only `reportClicks` can call the binding.
    clicks.push(JSON.parse(payload) as RecordedClick);
    if (clicks.length > CLICKS_MAX) clicks.shift();
  });
  session.on("Runtime.bindingCalled", onCalled);
  // Chromium adds scripts and bindings to worlds only while these domains are enabled.
  await Promise.all([session.send("Page.enable"), session.send("Runtime.enable")]);
  await session.send("Runtime.addBinding", { name: BINDING, executionContextName: WORLD_NAME });
  await session.send("Page.addScriptToEvaluateOnNewDocument", {
    source: `if (self === top) ${startSource("clicks", "reportClicks", [BINDING, TEXT_MAX])}`,
    worldName: WORLD_NAME,
    runImmediately: true,
  });
}
