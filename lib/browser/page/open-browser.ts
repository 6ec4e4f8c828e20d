import type { Browser, BrowserContext, CDPSession, Page } from "playwright";
import { createOverlayGate, type OverlayGate } from "../overlay/overlay-gate.ts";
import type { BrowserEgress } from "../process/browser-egress.ts";
import type { BrowserProcess, BrowserProvider } from "../process/browser-provider.ts";
import { explainFailure } from "./explain-failure.ts";
import { adoptPage, type LivePage, type LivePageEvents, type Refusals } from "./live-page.ts";
import { type AnsweredDialog, type PageDialogs, watchDialogs } from "./page-dialogs.ts";

/** Size of a session's page, in CSS pixels. */
export const VIEWPORT = { width: 1280, height: 800 };

/** What the owner of a browser is told: its selected page's events, a change of that page, and its end. */
type OpenBrowserEvents = LivePageEvents & {
  /** A dialog of a page was answered without a script. */
  onDialog: (dialog: AnsweredDialog) => void;
  onSelected: (page: LivePage) => void;
  /** The browser is gone, and nobody here ended it. */
  onGone: () => void;
};

/** A browser that is up, with one page to begin with. Its owner sets `events`. */
export type OpenBrowser = {
  process: BrowserProcess;
  browser: Browser;
  context: BrowserContext;
  /** The page people see and tools work on. */
  selected: () => LivePage;
  /** A DevTools session with that page for tools; one for each page. */
  toolSession: () => Promise<CDPSession>;
  /** Whether the annotation overlay is in its pages. */
  overlayGate: OverlayGate;
  dialogs: PageDialogs;
  /** Why the navigation of a DevTools loader id was refused; undefined for other and for long past ones. */
  readRefusal: (loaderId: string) => string | undefined;
  events: OpenBrowserEvents | undefined;
  isOpen: () => boolean;
  close: () => Promise<void>;
};

/** Deadlines, in milliseconds: for a page to answer, and for a script to answer a dialog that it listens for. */
type BrowserLimits = { navigationTimeoutMs: number; dialogTimeoutMs?: number | undefined };

const CONNECT_TIMEOUT_MS = 15_000;
/** Connected, with a page in place: a renderer that dies on the way is not always reported. */
const OPEN_TIMEOUT_MS = 25_000;
const REFUSALS_MAX = 50;
/** Pages of one browser at the same time; each may cost a process. */
const PAGES_MAX = 8;

/**
 * Starts a browser and opens a page in a context of its own: downloads and permissions denied, dialogs dismissed.
 * A page that the page opens becomes the selected one, until it closes; where there are eight, a further one is closed.
 *
 * @throws Error with a sentence when no browser can be had.
 */
export async function openBrowser(
  provider: BrowserProvider,
  egress: BrowserEgress,
  limits: BrowserLimits,
): Promise<OpenBrowser> {
  const process = await provider.start();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`the browser did not come up within ${OPEN_TIMEOUT_MS / 1_000} s`)),
    OPEN_TIMEOUT_MS,
  );
  try {
    return await Promise.race([connect(process, egress, limits), late.promise]);
  } catch (error) {
    await process.kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function connect(
  process: BrowserProcess,
  egress: BrowserEgress,
  limits: BrowserLimits,
): Promise<OpenBrowser> {
  // Loaded with the first browser: it is a tenth of the time that a start takes.
  const { chromium } = await import("playwright");
  const browser = await chromium.connectOverCDP(process.devtoolsUrl, {
    timeout: CONNECT_TIMEOUT_MS,
    // There are none: without a name, a temporary folder is made for them, and left behind by a process that is killed.
    artifactsDir: "/nonexistent",
  });
  const context = await browser.newContext({
    viewport: VIEWPORT,
    acceptDownloads: false,
    ...(process.contextProxy ? { proxy: { server: process.contextProxy, bypass: "<-loopback>" } } : {}),
  });
  // An empty grant refuses everything else.
  await context.grantPermissions([]);
  const dialogs = watchDialogs(context, (dialog) => self.events?.onDialog(dialog), limits.dialogTimeoutMs);

  const refuse = async (href: string) => {
    const url = URL.parse(href);
    return url ? egress.refuse(url) : "the address cannot be read";
  };
  const overlayGate = createOverlayGate();
  const refusals = rememberRefusals();
  const pageOptions = {
    refusals,
    overlayGate,
    refuse: process.isGuarded ? undefined : refuse,
    explain: (url: string, reason: string) =>
      explainFailure({ findRefusal: process.findRefusal, resolve: egress.resolve }, url, reason),
    navigationTimeoutMs: limits.navigationTimeoutMs,
  };
  /** Pages in the order in which they took the foreground; the last is the selected one. */
  const pages: LivePage[] = [];
  const toolSessions = new WeakMap<Page, Promise<CDPSession>>();
  let isOpen = true;

  const self: OpenBrowser = {
    process,
    browser,
    context,
    selected() {
      const last = pages.at(-1);
      if (!last) throw new Error("the browser has no page");
      return last;
    },
    toolSession() {
      const { page } = self.selected();
      const known = toolSessions.get(page) ?? context.newCDPSession(page);
      toolSessions.set(page, known);
      return known;
    },
    overlayGate,
    dialogs,
    readRefusal: (loaderId) => refusals.get(loaderId),
    events: undefined,
    isOpen: () => isOpen,
    async close() {
      isOpen = false;
      self.events = undefined;
      // A local browser dies with its group; only a remote one has to be asked to forget the context.
      if (process.pid === undefined) await browser.close().catch(() => {});
      await process.kill();
    },
  };

  /** Events of a page reach the owner while that page is the selected one. */
  const eventsOf = (page: Page): LivePageEvents => {
    const owner = () => (pages.at(-1)?.page === page ? self.events : undefined);
    return {
      onDocument: () => owner()?.onDocument(),
      onArrived: (arrival) => owner()?.onArrived(arrival),
      onLoaded: () => owner()?.onLoaded(),
      onRefused: (reason) => owner()?.onRefused(reason),
      onDownload: (url) => owner()?.onDownload(url),
      onCrashed() {
        if (self.events) return owner()?.onCrashed();
        // Nobody has it yet: nobody is to get it.
        isOpen = false;
        void process.kill();
      },
      onAnnotation: async (body) =>
        self.events?.onAnnotation(body) ?? { isStored: false, reason: "the browser is closing" },
    };
  };

  async function select(page: Page): Promise<void> {
    const live = await adoptPage(context, page, pageOptions, eventsOf(page));
    if (page.isClosed()) return;
    pages.push(live);
    page.on("close", () => void deselect(live));
    self.events?.onSelected(live);
  }
  async function deselect(live: LivePage): Promise<void> {
    const wasSelected = pages.at(-1) === live;
    pages.splice(pages.indexOf(live), 1);
    if (!isOpen || !wasSelected) return;
    const back = pages.at(-1);
    if (back) self.events?.onSelected(back);
    else await context.newPage().catch(() => {});
  }

  // Every page comes this way, the first one and one that a tool opens included.
  const first = Promise.withResolvers<void>();
  let openPages = 0;
  context.on("page", (page) => {
    openPages += 1;
    page.on("crash", () => first.reject(new Error("the page crashed as it came up")));
    page.on("close", () => {
      openPages -= 1;
    });
    // A hostile page opens others without end.
    if (openPages > PAGES_MAX) void page.close().catch(() => {});
    else void select(page).then(first.resolve, first.reject);
  });
  await context.newPage();
  await first.promise;

  const onGone = () => {
    if (!isOpen) return;
    isOpen = false;
    self.events?.onGone();
  };
  browser.on("disconnected", onGone);
  void process.exited.then(onGone);
  return self;
}

/** Keeps the latest refusals; a page that is refused in a loop costs no memory. */
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
