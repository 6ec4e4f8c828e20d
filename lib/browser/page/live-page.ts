import type { BrowserContext, CDPSession, Page } from "playwright";
import type { NavigationOutcome } from "../browser-service.ts";
import { installOverlay, type Overlay, type SubmitAnnotation } from "../overlay/install-overlay.ts";
import type { OverlayGate } from "../overlay/overlay-gate.ts";
import { guardDocuments } from "./document-guard.ts";
import { describeNetError } from "./explain-failure.ts";

/** An address that the main frame shows now; `isDocument` is false when the page only changed its own (`pushState`, a fragment). */
export type Arrival = { url: string; isDocument: boolean };

/** The events of a page. */
export type LivePageEvents = {
  /** The main frame shows another document, or has come further with it: parsed, loaded. */
  onDocument: () => void;
  /** The main frame shows another address, whoever caused it. */
  onArrived: (arrival: Arrival) => void;
  /** The document at that address has loaded with all its parts. */
  onLoaded: () => void;
  /** A navigation that nobody of ours asked for was refused; the page stays where it was. */
  onRefused: (reason: string) => void;
  onDownload: (url: string) => void;
  onCrashed: () => void;
  onAnnotation: SubmitAnnotation;
};

/** Why recent navigations were refused, by DevTools loader id. Chromium itself only reports `net::ERR_ABORTED` for them. */
export type Refusals = {
  get: (loaderId: string) => string | undefined;
  set: (loaderId: string, reason: string) => void;
};

/** What a page needs from its surroundings. */
type LivePageOptions = {
  refuse: ((url: string) => Promise<string | undefined>) | undefined;
  explain: (url: string, errorReason: string) => Promise<string>;
  navigationTimeoutMs: number;
  overlayGate: OverlayGate;
  refusals: Refusals;
};

/** A page of a session's browser, guarded, watched and with the overlay in it. */
export type LivePage = {
  page: Page;
  /** Our own DevTools session with it. */
  cdp: CDPSession;
  targetId: string;
  navigate: (url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  overlay: Overlay;
};

/** How long the page shown may take to give way to the one that was reached. */
const LANDING_TIMEOUT_MS = 10_000;

/** Makes a {@link LivePage} of a page that has just opened. @throws when it closed meanwhile. */
export async function adoptPage(
  context: BrowserContext,
  page: Page,
  options: LivePageOptions,
  events: LivePageEvents,
): Promise<LivePage> {
  const cdp = await context.newCDPSession(page);
  const [{ targetInfo }, { frameTree }] = await Promise.all([
    cdp.send("Target.getTargetInfo"),
    cdp.send("Page.getFrameTree"),
  ]);
  let mainFrameId = frameTree.frame.id;
  let committedLoader = frameTree.frame.loaderId;
  let navigations = 0;
  const commits = new Set<(loaderId: string) => void>();

  cdp.on("Page.frameNavigated", ({ frame }) => {
    if (frame.parentId !== undefined) return;
    mainFrameId = frame.id;
    committedLoader = frame.loaderId;
    for (const tell of commits) tell(frame.loaderId);
    events.onDocument();
    events.onArrived({ url: frame.url + (frame.urlFragment ?? ""), isDocument: true });
  });
  cdp.on("Page.navigatedWithinDocument", ({ frameId, url }) => {
    if (frameId === mainFrameId) events.onArrived({ url, isDocument: false });
  });
  cdp.on("Page.domContentEventFired", () => events.onDocument());
  cdp.on("Page.loadEventFired", () => {
    events.onDocument();
    events.onLoaded();
  });
  page.on("crash", () => events.onCrashed());
  page.on("download", (download) => {
    if (navigations === 0) events.onDownload(download.url());
    void download.cancel().catch(() => {});
  });

  const [overlay] = await Promise.all([
    installOverlay(cdp, {
      mainFrameId: () => mainFrameId,
      gate: options.overlayGate,
      onAnnotation: events.onAnnotation,
    }),
    cdp.send("Page.enable"),
    guardDocuments(cdp, {
      mainFrameId: () => mainFrameId,
      refuse: options.refuse,
      explain: options.explain,
      onRefused(loaderId, reason) {
        if (loaderId !== undefined) options.refusals.set(loaderId, reason);
        if (navigations === 0 || loaderId === undefined) events.onRefused(reason);
      },
    }),
  ]);

  const removeOverlay = options.overlayGate.add(overlay);
  page.once("close", removeOverlay);

  /** Waits until the document of a navigation is the one shown, so that the page's address is the new one. @returns whether it is. */
  function waitForCommit(loaderId: string): Promise<boolean> {
    if (committedLoader === loaderId) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timeoutMs = Math.min(LANDING_TIMEOUT_MS, options.navigationTimeoutMs);
      const timer = setTimeout(() => end(false), timeoutMs);
      function end(isShown: boolean) {
        clearTimeout(timer);
        commits.delete(see);
        resolve(isShown);
      }
      function see(committed: string) {
        if (committed === loaderId) end(true);
      }
      commits.add(see);
    });
  }

  async function navigate(url: string, signal?: AbortSignal): Promise<NavigationOutcome> {
    let stopped: string | undefined;
    const stop = (reason: string) => {
      stopped ??= reason;
      void cdp.send("Page.stopLoading").catch(() => {});
    };
    const seconds = options.navigationTimeoutMs / 1000;
    const timer = setTimeout(
      () => stop(`${URL.parse(url)?.host ?? url} did not answer in ${seconds} s`),
      options.navigationTimeoutMs,
    );
    const onAbort = () => stop("the navigation was stopped");
    signal?.addEventListener("abort", onAbort, { once: true });
    navigations += 1;
    try {
      if (signal?.aborted) return { landed: false, reason: "the navigation was stopped" };
      const result = await cdp.send("Page.navigate", { url });
      const refusal = result.loaderId === undefined ? undefined : options.refusals.get(result.loaderId);
      if (refusal !== undefined) return { landed: false, reason: refusal };
      if (result.isDownload)
        return { landed: false, reason: "the address is a download, and downloads are refused" };
      if (result.errorText !== undefined) {
        const interrupted = result.errorText === "net::ERR_ABORTED";
        return {
          landed: false,
          reason:
            stopped ??
            (interrupted ? "the navigation was interrupted" : describeNetError(result.errorText, url)),
        };
      }
      if (result.loaderId === undefined || (await waitForCommit(result.loaderId)))
        return { landed: true, url: page.url() };
      return { landed: false, reason: "the page shown is busy with its scripts and did not give way" };
    } catch (error) {
      return { landed: false, reason: stopped ?? `the browser ended meanwhile (${firstLine(error)})` };
    } finally {
      navigations -= 1;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  return { page, cdp, targetId: targetInfo.targetId, navigate, overlay };
}

const firstLine = (error: unknown) => String(error instanceof Error ? error.message : error).split("\n")[0];
