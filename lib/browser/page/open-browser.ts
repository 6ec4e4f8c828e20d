import type { Browser, BrowserContext, CDPSession, Page } from "playwright";
import type { Logger } from "#lib/log/logger.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { createOverlayGate, type OverlayGate } from "../overlay/overlay-gate.ts";
import type { BrowserEgress } from "../process/browser-egress.ts";
import type { BrowserProcess } from "../process/browser-provider.ts";
import { createListenerGuard, type ListenerGuard } from "../process/listener-guard.ts";
import type { PERSON_MS_MAX } from "../stage/people-dialogs.ts";
import { type ActionOutcome, DONE, refuseAction } from "../stage/stage-state.ts";
import { createStageWidgets, type StageWidgets } from "../stage/stage-widgets.ts";
import { keepSiteData, type SiteData } from "../state/keep-site-data.ts";
import { type BrowserState, endUnused, type OpenBrowserEvents, openFirstPage } from "./browser-pages.ts";
import { explainFailure } from "./explain-failure.ts";
import type { LivePage, Refusals } from "./live-page.ts";
import { type FreshContext, type FreshContextOptions, openFreshContext } from "./open-fresh-context.ts";
import { type PageActivity, watchActivity } from "./page-activity.ts";
import { type AnsweredDialog, type PageDialogs, watchDialogs } from "./page-dialogs.ts";
import { type PageDownloads, watchDownloads } from "./page-downloads.ts";
import { createPageScripts, type PageScripts } from "./page-script.ts";
import { type PendingDocuments, watchDocuments } from "./pending-documents.ts";

/** Size of a session's page, in CSS pixels. */
export const VIEWPORT = { width: 1280, height: 800 };

/** A running browser. It starts with one page. A session that uses it calls `setEvents`. */
export type OpenBrowser = {
  process: BrowserProcess;
  browser: Browser;
  context: BrowserContext;
  /** Returns the page that people see and tools work on. */
  selected: () => LivePage;
  /** Returns the DevTools session that tools use for the selected page. Each page has its own DevTools session. */
  toolSession: () => Promise<CDPSession>;
  /** Decides whether the annotation overlay is in the browser's pages. */
  overlayGate: OverlayGate;
  dialogs: PageDialogs;
  downloads: PageDownloads;
  /** The guard of the browser's listeners. */
  guard: ListenerGuard;
  activity: PageActivity;
  /** The documents that the browser's pages wait for. */
  documents: PendingDocuments;
  /** The script that the service runs in the browser's pages. */
  scripts: PageScripts;
  siteData: SiteData;
  /** Returns the number of new pages that are still being set up. Such a page cannot be selected. */
  opening: () => number;
  /** Selects a page by its DevTools target id. Has no effect if the browser has no such page. */
  select: (targetId: string) => void;
  /** Lists the pages in the order in which they were opened. */
  tabs: () => BrowserTab[];
  /** Closes a page as a person does: the page may ask first (`beforeunload`). The last page stays. */
  closeTab: (id: string) => Promise<ActionOutcome>;
  /** What waits for the person who has control. */
  widgets: StageWidgets;
  /**
   * Returns why the navigation with this DevTools loader id was refused. Undefined if the navigation was not refused,
   * or if its refusal is no longer stored. Only the latest refusals are stored.
   */
  readRefusal: (loaderId: string) => string | undefined;
  /** Opens a page in a separate context of the browser. @see openFreshContext */
  openContext: (options: FreshContextOptions) => Promise<FreshContext>;
  /** Sets the receiver of the browser's events. */
  setEvents: (events: OpenBrowserEvents) => void;
  isOpen: () => boolean;
  close: () => Promise<void>;
};

/** A page with its tab. `id` is its DevTools target id. */
type BrowserTab = Pick<LivePage, "page" | "tab" | "isNavigating"> & { id: string; isShown: boolean };

/**
 * Settings of all browsers. The time limits in milliseconds are for a page's server to answer, for a script to answer a
 * dialog, and for reading a download.
 */
type BrowserSettings = {
  logger: Logger;
  navigationTimeoutMs: number;
  dialogTimeoutMs?: number | undefined;
  personMsMax?: typeof PERSON_MS_MAX | undefined;
  downloadTimeoutMs?: number | undefined;
};

/**
 * Time limit for opening the first page. Without the limit, a start could hang, because Chromium does not always report
 * that a renderer process died.
 */
const OPEN_TIMEOUT_MS = 25_000;
const REFUSALS_MAX = 50;

/**
 * Opens a page in a new context of a Chromium. The service denies permissions, and answers each dialog that no
 * script claims and that waits for no person. The browser writes no downloads to disk. A popup becomes the selected page. When the selected page
 * closes, the previously selected page becomes the selected page again. If there is none, a new page opens. While eight
 * pages are open, the service closes any further page immediately.
 *
 * @param start starts the Chromium, or finds one to share.
 * @throws Error with a readable message when no browser can be started.
 */
export async function openBrowser(
  start: () => Promise<BrowserProcess>,
  egress: BrowserEgress,
  settings: BrowserSettings,
): Promise<OpenBrowser> {
  const process = await start();
  const message = `the browser did not come up within ${OPEN_TIMEOUT_MS / 1_000} s`;
  try {
    return await createDeadline({ ms: OPEN_TIMEOUT_MS, lateMessage: message }).race(
      Promise.race([connect(process, egress, settings), failOnExit(process)]),
    );
  } catch (error) {
    await process.kill();
    throw error;
  }
}

/** Rejects when the Chromium has ended, because some questions to it are not answered then. */
const failOnExit = ({ exited }: Pick<BrowserProcess, "exited">): Promise<never> =>
  exited.then(() => {
    throw new Error("the browser ended while it started");
  });

async function connect(
  process: BrowserProcess,
  egress: BrowserEgress,
  settings: BrowserSettings,
): Promise<OpenBrowser> {
  const { browser, devtools, holdRequests } = process;
  const context = await process.newContext({ viewport: VIEWPORT });
  // An empty list of granted permissions denies all permissions.
  await context.grantPermissions([]);
  const refuse = async (href: string) => {
    const url = URL.parse(href);
    return url ? egress.refuse(url) : "the address is not a valid URL";
  };
  const refusals = rememberRefusals();
  const overlayGate = createOverlayGate();
  const state: BrowserState = { pages: [], opened: [], opening: 0, isOpen: true, events: undefined };
  /** Ends the browser because of an unexpected error in a listener. Its other listeners may still be called. */
  const fail = (error: unknown) => {
    if (!state.isOpen) return;
    settings.logger.error(
      { err: error },
      "an event of a browser could not be handled; the browser was ended",
    );
    if (state.events) state.events.onFailed();
    else endUnused(process, state);
  };
  const guard = createListenerGuard(fail);
  void process.faulted.then(fail);
  const onGone = guard(() => {
    if (!state.isOpen) return;
    state.isOpen = false;
    state.events?.onGone();
  });
  const activity = watchActivity(context, guard);
  const documents = watchDocuments(context, guard);
  const onDialog = (dialog: AnsweredDialog) => {
    activity.add({ kind: "dialog", dialog });
    state.events?.onDialog(dialog);
  };
  const widgets = createStageWidgets({
    guard,
    openDevtools: devtools.open,
    selected: () => state.pages.at(-1),
    isPersonThere: () => state.events?.isPersonThere() ?? false,
    onChange: () => state.events?.onStageChanged(),
    personMsMax: settings.personMsMax,
  });
  const dialogs = watchDialogs(context, guard, onDialog, {
    people: widgets.dialogs,
    ...(settings.dialogTimeoutMs !== undefined && { answerTimeoutMs: settings.dialogTimeoutMs }),
  });
  const downloads = await watchDownloads(
    context,
    guard,
    refuse,
    async (download) => state.events?.onDownload(download),
    settings.downloadTimeoutMs,
  );
  const scripts = createPageScripts();
  const siteData = keepSiteData({ context, devtools, guard, logger: settings.logger, holdRequests });
  const opened: OpenBrowser = {
    process,
    browser,
    context,
    overlayGate,
    dialogs,
    downloads,
    guard,
    activity,
    documents,
    scripts,
    siteData,
    widgets,
    setEvents(events) {
      state.events = events;
    },
    selected() {
      const last = state.pages.at(-1);
      if (!last) throw new Error("the browser has no page");
      return last;
    },
    opening: () => state.opening,
    select(targetId) {
      const index = state.pages.findIndex((each) => each.targetId === targetId);
      const [live] = index === -1 ? [] : state.pages.splice(index, 1);
      if (!live) return;
      state.pages.push(live);
      if (index === state.pages.length - 1) return;
      widgets.noteSelected();
      state.events?.onSelected(live);
    },
    tabs: () =>
      state.opened.map(({ targetId, page, tab, isNavigating }) => {
        const isShown = state.pages.at(-1)?.page === page;
        return { id: targetId, page, tab, isNavigating, isShown };
      }),
    closeTab: (id) => closeTab(state, guard, id),
    toolSession: createToolSessions(context, () => opened.selected().page),
    readRefusal: refusals.get,
    openContext: (options) =>
      openFreshContext({ process, egress, guard }, { ...options, script: scripts.inFreshContexts() }),
    isOpen: () => state.isOpen,
    async close() {
      state.isOpen = false;
      state.events = undefined;
      siteData.end();
      widgets.end();
      browser.off("disconnected", onGone);
      await process.kill();
    },
  };

  await openFirstPage(opened, state, {
    refusals,
    scripts,
    onPicker: (page) => activity.add({ kind: "picker", page }),
    overlayGate,
    openDevtools: process.devtools.open,
    downloads,
    guard,
    navigationTimeoutMs: settings.navigationTimeoutMs,
    refuse: process.isGuarded ? undefined : refuse,
    explain: (url, reason) =>
      explainFailure({ findRefusal: process.findRefusal, resolve: egress.resolve }, url, reason),
  });

  browser.on("disconnected", onGone);
  void process.exited.then(onGone);
  return opened;
}

/** How long a page may take to close. A page that has asked a person in this time is not closed. */
const CLOSE_MS_MAX = 3_000;

async function closeTab(state: BrowserState, guard: ListenerGuard, id: string): Promise<ActionOutcome> {
  const live = state.opened.find(({ targetId }) => targetId === id);
  if (!live) return refuseAction("the tab was closed already");
  if (state.opened.length === 1) return refuseAction("the last tab cannot be closed");
  const { page } = live;
  let hasAsked = false;
  const noteDialog = guard(() => {
    hasAsked = true;
  });
  page.on("dialog", noteDialog);
  const closed = new Promise<void>((resolve) => page.once("close", () => resolve()));
  await page.close({ runBeforeUnload: true });
  const isClosed = await createDeadline({ ms: CLOSE_MS_MAX }).settles(closed);
  page.off("dialog", noteDialog);
  if (!isClosed && !hasAsked) await page.close();
  return DONE;
}

/** Creates a function that returns the DevTools session of the selected page. Each page has its own session. */
function createToolSessions(context: BrowserContext, readSelected: () => Page): () => Promise<CDPSession> {
  const sessions = new WeakMap<Page, Promise<CDPSession>>();
  return () => {
    const page = readSelected();
    const session = sessions.get(page) ?? context.newCDPSession(page);
    sessions.set(page, session);
    return session;
  };
}

/** Stores the reasons of the latest refusals only, because a page may cause refused navigations in a loop. */
function rememberRefusals(): Refusals {
  const reasons = new Map<string, string>();
  return {
    get: (loaderId) => reasons.get(loaderId),
    set(loaderId, reason) {
      const [oldest] = reasons.keys();
      if (oldest !== undefined && reasons.size >= REFUSALS_MAX) reasons.delete(oldest);
      reasons.set(loaderId, reason);
    },
  };
}
