import type { BrowserContext, CDPSession, Page } from "playwright";
import { errorText } from "#lib/text/error-text.ts";
import type { NavigationOutcome } from "../browser-service.ts";
import { installOverlay, type Overlay } from "../overlay/install-overlay.ts";
import type { SubmitAnnotation } from "../overlay/overlay-controller.ts";
import type { OverlayGate } from "../overlay/overlay-gate.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { followTab, type PageTab } from "../stage/page-tab.ts";
import { guardDocuments } from "./document-guard.ts";
import { endBusyScript } from "./end-busy-script.ts";
import { describeNetError } from "./explain-failure.ts";
import { followMainFrame, type MainFrame, type MainFrameEvents, type ShownDocument } from "./main-frame.ts";
import type { PageDownloads } from "./page-downloads.ts";
import type { PageScripts } from "./page-script.ts";
import { watchPickers } from "./watch-pickers.ts";

/** The events of a page. */
export type LivePageEvents = MainFrameEvents & {
  /**
   * Called when a navigation was refused and {@link LivePage.navigate} does not return the reason. The page keeps its
   * current document.
   */
  onRefused: (reason: string, url: string) => void;
  /** Called when the title or the loading of the page may have changed. */
  onTabChanged: () => void;
  onCrashed: () => void;
  onAnnotation: SubmitAnnotation;
};

/**
 * The reasons of recently refused navigations, by DevTools loader id. Chromium itself reports only `net::ERR_ABORTED`.
 */
export type Refusals = {
  get: (loaderId: string) => string | undefined;
  set: (loaderId: string, reason: string) => void;
};

/** Settings and services that all pages of one browser share. */
export type LivePageOptions = {
  /** The guard of the browser's listeners. */
  guard: ListenerGuard;
  refuse: ((url: string) => Promise<string | undefined>) | undefined;
  explain: (url: string, errorReason: string) => Promise<string>;
  navigationTimeoutMs: number;
  overlayGate: OverlayGate;
  /** Opens a further DevTools connection. The overlay needs it for frames that have a process of their own. */
  openDevtools: Devtools["open"];
  refusals: Refusals;
  downloads: Pick<PageDownloads, "capture">;
  scripts: Pick<PageScripts, "add" | "remove">;
  /** Called when a script of a page has asked for a file, and got none. */
  onPicker: (page: Page) => void;
};

/** A page of a session's browser. The document guard, the event listeners and the overlay are installed in it. */
export type LivePage = {
  page: Page;
  /** The service's own DevTools session with the page. */
  cdp: CDPSession;
  targetId: string;
  /** Returns the document that the page shows. */
  shown: () => ShownDocument;
  navigate: (url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  overlay: Overlay;
  tab: PageTab;
  /** Whether the page loads, or the service navigates it. */
  isNavigating: () => boolean;
  /** Ends the loading of the page, as the stop button of a browser does. */
  stop: () => Promise<void>;
};

type Adopted = {
  page: Page;
  cdp: CDPSession;
  mainFrame: MainFrame;
  options: LivePageOptions;
  events: LivePageEvents;
  /**
   * The navigations in progress that the service started; each entry stops one for a reason. While there are any,
   * `navigate` returns the reason of a refusal, so `onRefused` is not called. Exception: for a refusal without a loader
   * id, `onRefused` is called, because `navigate` cannot find the reason.
   */
  navigations: Set<(reason: string) => void>;
};

/**
 * How long the current page may take to unload after the server of the new page has answered. After this time, a script
 * that keeps the page busy is ended, and the page gets the same time again.
 */
const LANDING_TIMEOUT_MS = 10_000;
/** After how long without an answer a page that did not unload counts as busy. */
const BUSY_MS_MAX = 1_000;

/** Creates the {@link LivePage} for a page that has just opened. @throws when the page closes during the setup. */
export async function adoptPage(
  context: BrowserContext,
  page: Page,
  options: LivePageOptions,
  events: LivePageEvents,
): Promise<LivePage> {
  const cdp = await context.newCDPSession(page);
  const [{ targetInfo }, mainFrame] = await Promise.all([
    cdp.send("Target.getTargetInfo"),
    followMainFrame(cdp, options.guard, events),
  ]);
  const adopted: Adopted = { page, cdp, mainFrame, options, events, navigations: new Set() };
  page.on(
    "crash",
    options.guard(() => events.onCrashed()),
  );

  const tab = followTab(cdp, {
    guard: options.guard,
    mainFrameId: mainFrame.id,
    onChange: events.onTabChanged,
  });
  const [overlay] = await Promise.all([
    installOverlay(cdp, {
      guard: options.guard,
      mainFrameId: mainFrame.id,
      gate: options.overlayGate,
      openDevtools: options.openDevtools,
      onAnnotation: events.onAnnotation,
    }),
    cdp.send("Page.enable"),
    options.scripts.add(cdp),
    watchPickers(cdp, options.guard, () => options.onPicker(page)),
    guardDocuments(cdp, {
      guard: options.guard,
      mainFrameId: mainFrame.id,
      refuse: options.refuse,
      explain: options.explain,
      capture: (response) => options.downloads.capture(cdp, response),
      onRefused(loaderId, reason, url) {
        if (loaderId !== undefined) options.refusals.set(loaderId, reason);
        if (adopted.navigations.size === 0 || loaderId === undefined) events.onRefused(reason, url);
      },
    }),
  ]);
  const removeOverlay = options.overlayGate.add(overlay);
  const forget = () => {
    removeOverlay();
    overlay.end();
    options.scripts.remove(cdp);
  };
  page.once("close", options.guard(forget));

  return {
    page,
    cdp,
    targetId: targetInfo.targetId,
    shown: mainFrame.shown,
    overlay,
    tab,
    isNavigating: () => tab.isLoading() || adopted.navigations.size > 0,
    navigate: (url, signal) => navigate(adopted, url, signal),
    async stop() {
      for (const stop of adopted.navigations) stop(STOPPED);
      await cdp.send("Page.stopLoading").catch(() => {});
    },
  };
}

async function navigate(adopted: Adopted, url: string, signal?: AbortSignal): Promise<NavigationOutcome> {
  const { cdp, options } = adopted;
  let stopReason: string | undefined;
  const stop = (reason: string) => {
    stopReason ??= reason;
    void cdp.send("Page.stopLoading").catch(() => {});
  };
  const seconds = options.navigationTimeoutMs / 1000;
  const timer = setTimeout(
    () => stop(`${URL.parse(url)?.host ?? url} did not answer in ${seconds} s`),
    options.navigationTimeoutMs,
  );
  const onAbort = () => stop(STOPPED);
  signal?.addEventListener("abort", onAbort, { once: true });
  adopted.navigations.add(stop);
  adopted.events.onTabChanged();
  try {
    if (signal?.aborted) return { landed: false, reason: STOPPED };
    return await land(adopted, url, () => stopReason);
  } catch (error) {
    return { landed: false, reason: stopReason ?? `the browser ended meanwhile (${firstLine(error)})` };
  } finally {
    adopted.navigations.delete(stop);
    adopted.events.onTabChanged();
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Why a navigation that a person or a caller has stopped did not reach its page. */
const STOPPED = "the navigation was stopped";

/**
 * Navigates, and waits until the page shows the new document.
 * @param readStopReason returns why the navigation was stopped. Undefined if it was not stopped.
 * @throws when the browser ends.
 */
async function land(
  { page, cdp, mainFrame, options }: Adopted,
  url: string,
  readStopReason: () => string | undefined,
): Promise<NavigationOutcome> {
  const { loaderId, errorText, isDownload } = await cdp.send("Page.navigate", { url });
  const refusal = loaderId === undefined ? undefined : options.refusals.get(loaderId);
  if (refusal !== undefined) return { landed: false, reason: refusal };
  if (isDownload) return { landed: false, reason: "the address is a download, not a page" };
  if (errorText !== undefined) {
    const isInterrupted = errorText === "net::ERR_ABORTED";
    const reason = isInterrupted ? "the navigation was interrupted" : describeNetError(errorText, url);
    return { landed: false, reason: readStopReason() ?? reason };
  }
  const timeoutMs = Math.min(LANDING_TIMEOUT_MS, options.navigationTimeoutMs);
  // Without a new document, only the address changes. Playwright learns of it slightly later.
  if (loaderId === undefined) await untilAddress(page, url);
  if (loaderId === undefined || (await mainFrame.untilShown(loaderId, timeoutMs)))
    return { landed: true, url: page.url() };
  const isFreed = await endBusyScript(cdp, BUSY_MS_MAX);
  if (isFreed && (await mainFrame.untilShown(loaderId, timeoutMs))) return { landed: true, url: page.url() };
  return { landed: false, reason: "the current page is busy with its scripts and did not unload" };
}

const ADDRESS_MS_MAX = 1_000;

const untilAddress = (page: Page, url: string): Promise<void> =>
  page
    .waitForURL(({ href }) => href === URL.parse(url)?.href, { timeout: ADDRESS_MS_MAX, waitUntil: "commit" })
    .catch(() => {});

const firstLine = (error: unknown) => errorText(error).split("\n")[0];
