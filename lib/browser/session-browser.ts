import type { BrowserEvent } from "./browser-machine.ts";
import type { Logger } from "./browser-provider.ts";
import type { StoredRecord } from "./browser-record.ts";
import type { BrowserInput, LiveBrowser, NavigationOutcome, ScreencastFrame } from "./browser-service.ts";
import { createInputQueue, type InputQueue } from "./input.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { createRedirectWatch } from "./redirect-watch.ts";
import { createScreencast } from "./screencast.ts";
import type { BrowserPatch } from "./store.ts";

/** What one session's browser needs from the house. */
export type SessionBrowserDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  /** Makes room and hands over a browser that is up. @throws Error with a sentence. */
  take: () => Promise<OpenBrowser>;
  /** Says why a page may not be gone to, or undefined. */
  refuse: (url: URL) => Promise<string | undefined>;
  onAnnotation: (submission: unknown) => Promise<void>;
  nowMs: () => number;
};

/** The browser of one session, over all the processes that it is played by in time. */
export type SessionBrowser = {
  ensure: () => Promise<LiveBrowser>;
  retarget: (url: string) => Promise<void>;
  navigate: (url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  history: (action: "back" | "forward" | "reload") => Promise<void>;
  touch: () => void;
  watch: (onFrame: (frame: ScreencastFrame) => void) => () => void;
  input: (input: BrowserInput) => Promise<void>;
  /** Whether a process runs, or is being started. */
  isLive: () => boolean;
  /** Milliseconds since somebody used it; 0 while it is watched, starts or goes somewhere. */
  idleMs: (nowMs: number) => number;
  /** Ends the process and its processes, if there is one. */
  end: () => Promise<void>;
};

/** How long a page that was reached may take until its document is there; then it is used as it is. */
const LOAD_TIMEOUT_MS = 10_000;

/** @see SessionBrowser */
export function createSessionBrowser(deps: SessionBrowserDeps): SessionBrowser {
  const { sessionId, record, logger } = deps;
  const redirects = createRedirectWatch(deps.nowMs);
  const cast = createScreencast((error) => logger.debug({ sessionId, error }, "the page cannot be cast"));
  let open: OpenBrowser | undefined;
  let starting: Promise<OpenBrowser> | undefined;
  /** The way to the selected page that a start of the browser includes. */
  let firstLanding: Promise<unknown> = Promise.resolve();
  /** The newest navigation of ours that is under way. */
  let heading: object | undefined;
  /** The newest retarget that a browser was sent to. */
  let headedFor = 0;
  /** The end of the last browser, until it is recorded: the next one starts after it. */
  let ending: Promise<void> = Promise.resolve();
  let usedAtMs = deps.nowMs();
  let keyboard: InputQueue | undefined;

  const touch = () => {
    usedAtMs = deps.nowMs();
    redirects.end();
  };

  function provision(): Promise<OpenBrowser> {
    // One that is up is handed out only when it is recorded as such.
    if (open && !starting) return Promise.resolve(open);
    starting ??= start().finally(() => {
      starting = undefined;
    });
    return starting;
  }

  async function start(): Promise<OpenBrowser> {
    await ending;
    await dropStaleClaim();
    await record.move("provision", { lastError: null, currentUrl: null });
    let taken: OpenBrowser;
    try {
      taken = await deps.take();
    } catch (error) {
      const lastError = error instanceof Error ? error.message : String(error);
      logger.warn({ sessionId, error }, "no browser could be started");
      await record.move("failed", { lastError });
      throw error;
    }
    bind(taken);
    const row = await record
      .move("cameUp", { currentUrl: taken.selected().page.url() })
      .catch(async (error) => {
        release();
        await taken.close();
        throw error;
      });
    if (open !== taken) throw new Error("the browser ended right after its start");
    usedAtMs = deps.nowMs();
    firstLanding = Promise.resolve();
    headedFor = row.retargets;
    if (row.desiredUrl !== null) firstLanding = goToSelected(taken, row.desiredUrl, row.retargets);
    return taken;
  }

  /** A row that claims a browser though none is here: its end could not be written. */
  async function dropStaleClaim(): Promise<void> {
    const row = await record.read();
    if (row?.status === "ready") await record.move("lost", { currentUrl: null });
    if (row?.status === "creating") await record.move("abandoned", { currentUrl: null });
  }

  function bind(taken: OpenBrowser): void {
    open = taken;
    const select = () => {
      const { cdp } = taken.selected();
      keyboard = createInputQueue(({ method, params }) => cdp.send(method, params));
      cast.attach(cdp);
    };
    const lose = (event: BrowserEvent, lastError: string | null) => gone(taken, event, lastError);
    taken.events = {
      onDocument: cast.refresh,
      onArrived(url) {
        const isRedirect = redirects.isOpen();
        if (isRedirect) redirects.begin();
        // Where a navigation of ours is under way, its end tells more than its steps.
        if (heading) return;
        const arrived = isRedirect ? { currentUrl: url } : { currentUrl: url, lastNavigatedUrl: url };
        record.note({ ...arrived, lastError: null });
      },
      onLoaded: () => redirects.loaded(),
      onRefused: (reason) => record.note({ lastError: reason }),
      onDownload: (url) => record.note({ lastError: `${url} is a download, and downloads are refused` }),
      onDialog: (kind, message) => logger.debug({ sessionId, kind, message }, "dialog of a page dismissed"),
      onCrashed: () => lose("failed", "the page crashed: its renderer ended"),
      onGone: () => lose("lost", null),
      onAnnotation: deps.onAnnotation,
      onSelected(selected) {
        select();
        const url = selected.page.url();
        record.note(/^https?:/.test(url) ? { currentUrl: url, lastNavigatedUrl: url } : { currentUrl: url });
      },
    };
    select();
    // It may have gone away while nobody listened.
    if (!taken.isOpen()) taken.events.onGone();
  }

  /** A browser ended by itself. */
  function gone(taken: OpenBrowser, event: BrowserEvent, lastError: string | null): void {
    if (open !== taken) return;
    logger.warn({ sessionId, event, lastError }, "a browser ended by itself");
    const isUp = starting?.catch(() => {});
    release();
    ending = finish(taken, event, lastError === null ? {} : { lastError }, isUp);
  }
  async function finish(
    taken: OpenBrowser,
    event: BrowserEvent,
    patch: BrowserPatch,
    isUp?: Promise<unknown>,
  ) {
    await taken.close();
    await isUp;
    await record
      .move(event, { currentUrl: null, ...patch })
      .catch((error) => logger.warn({ sessionId, error }, "the end of a browser was not recorded"));
  }
  function release(): void {
    open = undefined;
    keyboard = undefined;
    heading = undefined;
    cast.attach(undefined);
  }

  /** Goes to a page; a newer navigation of ours takes this one's place. */
  async function head(taken: OpenBrowser, url: string, signal?: AbortSignal) {
    const own = {};
    heading = own;
    const parsed = URL.parse(url);
    const reason = parsed ? await deps.refuse(parsed) : "the address cannot be read";
    const outcome: NavigationOutcome =
      reason === undefined ? await taken.selected().navigate(url, signal) : { landed: false, reason };
    const isNewest = heading === own && open === taken;
    if (isNewest) heading = undefined;
    return { outcome, isNewest };
  }

  /** Goes to the page that a retarget selected, and records how that ended. Never rejects. */
  async function goToSelected(taken: OpenBrowser, url: string, retargets: number): Promise<void> {
    headedFor = retargets;
    redirects.begin();
    try {
      const { outcome, isNewest } = await head(taken, url);
      if (!isNewest) return;
      if (!outcome.landed) redirects.end();
      const currentUrl = taken.selected().page.url();
      const landing = { lastNavigatedUrl: url, lastError: null };
      await record.patch(
        { ...(outcome.landed ? landing : { lastError: outcome.reason }), currentUrl },
        retargets,
      );
    } catch (error) {
      logger.error({ sessionId, error }, "a navigation's outcome was not recorded");
    }
  }

  async function ensure(): Promise<LiveBrowser> {
    touch();
    const taken = await provision();
    await firstLanding;
    return {
      sessionId,
      browser: taken.browser,
      context: taken.context,
      page: () => taken.selected().page,
      cdp: () => taken.toolSession(),
      devtoolsUrl: taken.process.devtoolsUrl,
      targetId: async () => taken.selected().targetId,
    };
  }

  return {
    ensure,
    touch,
    async retarget(url) {
      usedAtMs = deps.nowMs();
      const row = await record.select(url);
      provision().then(
        (taken) => {
          // A browser that was started meanwhile came up on the page selected by then, mostly this one.
          if (headedFor < row.retargets) void goToSelected(taken, url, row.retargets);
        },
        (error) => logger.debug({ sessionId, error }, "a retarget found no browser"),
      );
    },
    async navigate(url, signal) {
      await ensure();
      const taken = open;
      if (!taken) return { landed: false, reason: "the browser ended meanwhile" };
      const { outcome, isNewest } = await head(taken, url, signal);
      usedAtMs = deps.nowMs();
      if (!isNewest) return outcome;
      const currentUrl = taken.selected().page.url();
      if (outcome.landed) redirects.end();
      await record.patch(
        outcome.landed
          ? { currentUrl, lastNavigatedUrl: currentUrl, lastError: null }
          : { currentUrl, lastError: outcome.reason },
      );
      if (!outcome.landed) return outcome;
      const { page } = taken.selected();
      await page.waitForLoadState("domcontentloaded", { timeout: LOAD_TIMEOUT_MS }).catch(() => {});
      return { landed: true, url: page.url() };
    },
    async history(action) {
      const page = (await ensure()).page();
      const options = { waitUntil: "domcontentloaded", timeout: LOAD_TIMEOUT_MS } as const;
      const moves = {
        back: () => page.goBack(options),
        forward: () => page.goForward(options),
        reload: () => page.reload(options),
      };
      // A refusal, or a page that goes on loading, is told by the record.
      await moves[action]().catch((error) =>
        logger.debug({ sessionId, action, error }, "no clean end of a move"),
      );
    },
    watch(onFrame) {
      usedAtMs = deps.nowMs();
      const unwatch = cast.watch(onFrame);
      provision().catch((error) => logger.debug({ sessionId, error }, "nothing to watch"));
      return () => {
        usedAtMs = deps.nowMs();
        unwatch();
      };
    },
    async input(input) {
      if (input.type !== "mouse" || input.action !== "move") touch();
      else usedAtMs = deps.nowMs();
      if (!open) await ensure();
      await keyboard?.push(input);
    },
    isLive: () => open !== undefined || starting !== undefined,
    idleMs(nowMs) {
      const isBusy = starting !== undefined || heading !== undefined || cast.watchers() > 0;
      return isBusy ? 0 : nowMs - usedAtMs;
    },
    async end() {
      await starting?.catch(() => {});
      const taken = open;
      if (taken) {
        release();
        ending = finish(taken, "reaped", {});
      }
      await ending;
      await record.settle();
    },
  };
}
