import type { HostBrowsers, LiveBrowser } from "#lib/browser/browser-service.ts";
import type { ToolCall } from "../tool.ts";
import { pageDeadline } from "./page-deadline.ts";

/** Maximum duration of a browser start, which usually takes a few seconds. A longer start counts as failed. */
const START_MS_MAX = 60_000;

/**
 * Returns the session's live browser. Starts the browser if needed, and records that the browser was used.
 * @throws Error with a readable message if the browser cannot be started or does not start in time, or if the call is
 * stopped.
 */
export async function ensureLiveBrowser(
  browser: Pick<HostBrowsers, "ensure" | "touch">,
  call: Pick<ToolCall, "browserSessionId" | "signal">,
): Promise<LiveBrowser> {
  const live = await pageDeadline(
    call.signal,
    START_MS_MAX,
    (seconds) => `The browser did not start within ${seconds} s; try again.`,
  ).race(() => browser.ensure(call.browserSessionId, call.signal));
  browser.touch(call.browserSessionId);
  return live;
}
