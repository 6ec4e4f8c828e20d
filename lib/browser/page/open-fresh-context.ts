import type { BrowserContext, CDPSession, Dialog, Page } from "playwright";
import { createDeadline } from "#lib/time/deadline.ts";
import type { BrowserEgress } from "../process/browser-egress.ts";
import type { BrowserProcess } from "../process/browser-provider.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { guardDocuments } from "./document-guard.ts";
import { explainFailure } from "./explain-failure.ts";
import { followMainFrame } from "./main-frame.ts";

/** Cookies, local storage and databases of a context, and the session storage of one of its pages. */
export type BrowserStorage = Awaited<ReturnType<BrowserContext["storageState"]>> & {
  sessionStorage?: { origin: string; items: { name: string; value: string }[] };
};

export type FreshContextOptions = {
  viewport: { width: number; height: number };
  /** Whether the page emulates a phone, with a touch screen and the viewport rules of mobile browsers. */
  isMobile: boolean;
  storage: BrowserStorage;
  /** Source of a script that runs at the start of each document. Null if there is none. */
  script?: string | null;
};

/** A page in a separate context. People do not see it. The caller must close it. */
export type FreshContext = {
  page: Page;
  /** A DevTools session with the page. */
  cdp: CDPSession;
  /** The guard of the browser's listeners. Listeners of this page need it, too. */
  guard: ListenerGuard;
  /** Returns why a page may not be opened; undefined if it may be. Call it before each navigation of the page. */
  refuse: (url: string) => Promise<string | undefined>;
  /** Returns the reason of the page's latest refused navigation. Undefined if no navigation was refused. */
  readRefusal: () => string | undefined;
  /** Closes the context. Never rejects; resolves after 5 s at the latest. */
  close: () => Promise<void>;
};

type FreshContextDeps = {
  process: Pick<BrowserProcess, "newContext" | "isGuarded" | "findRefusal">;
  egress: Pick<BrowserEgress, "refuse" | "resolve">;
  guard: ListenerGuard;
};

const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Opens a page in a new context of a running browser, with the same network checks as the session's pages. Denies
 * permissions, answers dialogs immediately, refuses downloads and closes popups.
 * @throws Error when the browser ends or the page cannot be opened.
 */
export async function openFreshContext(
  deps: FreshContextDeps,
  { viewport, isMobile, storage, script }: FreshContextOptions,
): Promise<FreshContext> {
  const { sessionStorage, ...storageState } = storage;
  const context = await deps.process.newContext({
    viewport,
    deviceScaleFactor: 1,
    isMobile,
    hasTouch: isMobile,
    storageState,
  });
  const close = () => closeContext(context);
  try {
    await context.grantPermissions([]);
    const { guard } = deps;
    const onDialog = (dialog: Dialog) => {
      // Answering fails if the page was closed together with its dialog.
      void (dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss()).catch(() => {});
    };
    context.on("dialog", guard(onDialog));
    const page = await context.newPage();
    context.on(
      "page",
      guard((popup) => popup.close().catch(() => {})),
    );
    const cdp = await context.newCDPSession(page);
    if (sessionStorage) await fillSessionStorage(page, cdp, guard, sessionStorage);
    if (script) await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source: script });
    const refuse = async (href: string) => {
      const url = URL.parse(href);
      return url ? deps.egress.refuse(url) : "the address is not a valid URL";
    };
    const readRefusal = await guardPage(deps, cdp, refuse);
    return { page, cdp, guard, refuse, readRefusal, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Makes the first document of an origin begin with a copy of session storage. Later documents keep what the page has
 * made of it.
 */
async function fillSessionStorage(
  page: Page,
  cdp: CDPSession,
  guard: ListenerGuard,
  { origin, items }: NonNullable<BrowserStorage["sessionStorage"]>,
): Promise<void> {
  const { identifier } = await cdp.send("Page.addScriptToEvaluateOnNewDocument", {
    source: `if (self.origin === ${JSON.stringify(origin)} && sessionStorage.length === 0)
  for (const { name, value } of ${JSON.stringify(items)}) sessionStorage.setItem(name, value);`,
  });
  const remove = guard(async () => {
    if (URL.parse(page.url())?.origin !== origin) return;
    page.off("domcontentloaded", remove);
    await cdp.send("Page.removeScriptToEvaluateOnNewDocument", { identifier });
  });
  page.on("domcontentloaded", remove);
}

async function guardPage(
  { process, egress, guard }: FreshContextDeps,
  cdp: CDPSession,
  refuse: FreshContext["refuse"],
): Promise<FreshContext["readRefusal"]> {
  let refusal: string | undefined;
  const mainFrame = await followMainFrame(cdp, guard, { onDocument() {}, onArrived() {}, onLoaded() {} });
  await cdp.send("Page.enable");
  await guardDocuments(cdp, {
    guard,
    mainFrameId: mainFrame.id,
    refuse: process.isGuarded ? undefined : refuse,
    explain: (url, reason) =>
      explainFailure({ findRefusal: process.findRefusal, resolve: egress.resolve }, url, reason),
    // Leaves downloads to the browser, which refuses them (`acceptDownloads: false`).
    capture: () => false,
    onRefused(_loaderId, reason) {
      refusal = reason;
    },
  });
  return () => refusal;
}

/** Closes a context, and waits for a limited time. Ignores a failure, because the browser may have ended already. */
const closeContext = async (context: BrowserContext): Promise<void> => {
  await createDeadline({ ms: CLOSE_TIMEOUT_MS }).settles(context.close());
};
