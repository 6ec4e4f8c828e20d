import type { HostBrowsers, LiveBrowser } from "#lib/browser/browser-service.ts";
import type { HandoverPages } from "#lib/browser/view/host-control.ts";
import { callInjected } from "#lib/injected/call-injected.ts";
import { pageDeadline } from "../page-deadline.ts";
import { withFrames } from "../page-kit/page-frames.ts";
import { forgetActivity } from "../report/report-activity.ts";

/** How long an input waits at most until the fields are watched. A page that is busy delays it no longer. */
const WATCH_MS_MAX = 1_500;

/** @see HandoverPages */
export function createHandoverPages(browser: Pick<HostBrowsers, "ensure" | "listUp">): HandoverPages {
  const find = async (sessionId: string): Promise<LiveBrowser | undefined> =>
    browser.listUp().includes(sessionId) ? browser.ensure(sessionId) : undefined;
  const watch = (live: LiveBrowser, isWatched: boolean) =>
    pageDeadline(undefined, WATCH_MS_MAX).race(() =>
      withFrames(live, async (frames) => {
        await Promise.allSettled(
          frames.map((frame) => callInjected(frame, "tools", "watchFields", [isWatched], WATCH_MS_MAX)),
        );
      }),
    );
  return {
    async watchFields(sessionId) {
      const live = await find(sessionId);
      if (live) await watch(live, true);
    },
    async end(sessionId) {
      const live = await find(sessionId);
      if (!live) return;
      forgetActivity(live);
      await watch(live, false);
    },
  };
}
