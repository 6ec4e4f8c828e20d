import type { CDPSession } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";

/** What people see of a page's tab. */
export type PageTab = {
  title: () => string;
  /** Whether the document in the page still loads. */
  isLoading: () => boolean;
  /** Reads the title again. A script can change it at any time. Never rejects. */
  refresh: () => Promise<void>;
};

type TabOptions = { guard: ListenerGuard; mainFrameId: () => string; onChange: () => void };

/** Longest title that is kept. The page decides the length. */
const TITLE_CHARS_MAX = 200;

/** Follows the title and the loading of a page. */
export function followTab(cdp: CDPSession, { guard, mainFrameId, onChange }: TabOptions): PageTab {
  let title = "";
  let isLoading = false;

  async function refresh(): Promise<void> {
    // The browser answers, so a busy page or a dialog does not delay it. It does not answer for a page that has closed.
    const { targetInfo } = await cdp.send("Target.getTargetInfo").catch(() => ({ targetInfo: undefined }));
    const next = shorten(targetInfo?.title ?? title, TITLE_CHARS_MAX);
    if (next === title) return;
    title = next;
    onChange();
  }
  function setLoading(frameId: string, next: boolean): void {
    if (frameId !== mainFrameId() || next === isLoading) return;
    isLoading = next;
    onChange();
    if (!next) void refresh();
  }
  cdp.on(
    "Page.frameStartedLoading",
    guard(({ frameId }) => setLoading(frameId, true)),
  );
  cdp.on(
    "Page.frameStoppedLoading",
    guard(({ frameId }) => setLoading(frameId, false)),
  );
  cdp.on(
    "Page.frameNavigated",
    guard(() => refresh()),
  );
  cdp.on(
    "Page.domContentEventFired",
    guard(() => refresh()),
  );
  return { title: () => title, isLoading: () => isLoading, refresh };
}
