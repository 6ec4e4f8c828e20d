import { createBrowserLifecycle } from "./browser-lifecycle.ts";
import type { Logger } from "./browser-provider.ts";
import type { StoredRecord } from "./browser-record.ts";
import type {
  BrowserInput,
  LiveBrowser,
  NavigationOutcome,
  ScriptPointer,
  ViewListeners,
} from "./browser-service.ts";
import { createInputQueue, type InputQueue } from "./input.ts";
import type { OpenBrowser } from "./open-browser.ts";
import type { SubmitAnnotation } from "./overlay/install-overlay.ts";
import type { OverlayHold } from "./overlay/overlay-gate.ts";
import { createPageNavigation, LOAD_TIMEOUT_MS } from "./page-navigation.ts";
import { createScreencast } from "./screencast.ts";

/** What one session's browser needs from the house. */
export type SessionBrowserDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  /** Whether another process, which is there, holds this session's browser. */
  isElsewhere: () => Promise<boolean>;
  /** Another process held the browser until now. */
  onTakenOver?: (holder: string) => void;
  /** Makes room and hands over a browser that is up. @throws Error with a sentence. */
  take: () => Promise<OpenBrowser>;
  /** Says why a page may not be gone to, or undefined. */
  refuse: (url: URL) => Promise<string | undefined>;
  onAnnotation: SubmitAnnotation;
  nowMs: () => number;
};

/** How long a page may take to let the overlay go. */
const OVERLAY_TIMEOUT_MS = 10_000;

/** The browser of one session, over all the processes that it is played by in time. */
export type SessionBrowser = {
  ensure: () => Promise<LiveBrowser>;
  retarget: (url: string) => Promise<void>;
  navigate: (url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  history: (action: "back" | "forward" | "reload") => Promise<void>;
  touch: () => void;
  watch: (listeners: ViewListeners) => () => void;
  input: (input: BrowserInput) => Promise<void>;
  /** @see BrowserService.readCursor */
  readCursor: (x: number, y: number) => Promise<string>;
  /** Whether a process runs, or is being started. */
  isLive: () => boolean;
  /** Milliseconds since somebody used it; 0 while it is watched, starts or goes somewhere. */
  idleMs: (nowMs: number) => number;
  /** Ends its browser with all its processes, if one runs. */
  end: () => Promise<void>;
};

/** @see SessionBrowser */
export function createSessionBrowser(deps: SessionBrowserDeps): SessionBrowser {
  const { sessionId, record, logger } = deps;
  const life = createBrowserLifecycle({
    ...deps,
    onTaken: bind,
    onUp(taken, row) {
      usedAtMs = deps.nowMs();
      firstLanding = navigation.comeUp(taken, row);
    },
    onReleased() {
      keyboard = undefined;
      navigation.abandon();
      cast.attach(undefined);
    },
  });
  const navigation = createPageNavigation({ ...deps, isCurrent: (taken) => life.current() === taken });
  const cast = createScreencast((error) => logger.debug({ sessionId, error }, "the page cannot be cast"));
  /** The navigation to its page that a start of the browser includes. */
  let firstLanding: Promise<unknown> = Promise.resolve();
  let usedAtMs = deps.nowMs();
  let keyboard: InputQueue | undefined;
  /** Browsers that ended by themselves. */
  const lost = new WeakSet<OpenBrowser>();
  const pointerListeners = new Set<(pointer: ScriptPointer) => void>();
  /** Who pressed a button or key of the page last. */
  let lastActor: "person" | "script" | undefined;

  const touch = () => {
    usedAtMs = deps.nowMs();
    navigation.noteUse();
  };

  function bind(taken: OpenBrowser): void {
    const select = () => {
      const { cdp } = taken.selected();
      keyboard = createInputQueue(({ method, params }) => cdp.send(method, params));
      cast.attach(cdp);
    };
    taken.events = {
      onDocument: cast.refresh,
      onArrived: navigation.noteArrival,
      onLoaded: navigation.noteLoaded,
      onRefused: (reason) => record.note({ lastError: reason }),
      onDownload: (url) => record.note({ lastError: `${url} is a download, and downloads are refused` }),
      onDialog: (dialog) => logger.debug({ sessionId, ...dialog }, "dialog of a page answered"),
      onCrashed: () => life.gone(taken, "failed", "the page crashed: its renderer ended"),
      onGone() {
        lost.add(taken);
        life.gone(taken, "lost", null);
      },
      async onAnnotation(body) {
        // A script's input is trusted by the page, so an annotation counts only when a person acted last.
        if (taken.overlayGate.isHeldByScript() || lastActor === "script")
          return { isStored: false, reason: "a script of the agent was using the page; please submit again" };
        return deps.onAnnotation(body);
      },
      onSelected(selected) {
        select();
        navigation.noteSelected(selected.page.url());
      },
    };
    select();
    // It may have gone away while nobody listened.
    if (!taken.isOpen()) taken.events.onGone();
  }

  /** Brings up the page of a retarget. A browser that dies on the way there is replaced once: its page is still wanted. */
  async function bringTo(url: string, retargets: number, isSecond = false): Promise<void> {
    const taken = await life.provision();
    // A browser that was started meanwhile came up on the page selected by then, mostly this one.
    if (navigation.headedFor() < retargets) await navigation.goToSelected(taken, url, retargets);
    else await firstLanding;
    const isNewest = navigation.headedFor() === retargets;
    if (lost.has(taken) && isNewest && !isSecond) await bringTo(url, retargets, true);
  }

  async function ensure(): Promise<LiveBrowser> {
    touch();
    const taken = await life.provision();
    await firstLanding;
    return {
      sessionId,
      browser: taken.browser,
      context: taken.context,
      page: () => taken.selected().page,
      cdp: () => taken.toolSession(),
      devtoolsUrl: taken.process.devtoolsUrl,
      targetId: async () => taken.selected().targetId,
      noteScriptInput(pointer) {
        if (pointer?.kind !== "move") lastActor = "script";
        if (pointer) for (const listener of [...pointerListeners]) listener(pointer);
      },
      hideOverlay: (why) => hideOverlay(taken, why),
      claimDialogs: taken.dialogs.claim,
      readRefusal: taken.readRefusal,
    };
  }

  async function hideOverlay(taken: OpenBrowser, why: OverlayHold): Promise<() => void> {
    const { out, release } = taken.overlayGate.hold(why);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error("the page does not answer: its own scripts keep it busy")),
      OVERLAY_TIMEOUT_MS,
    );
    // A document that was left meanwhile rejects, and its overlay went with it.
    const isOut = out.get(taken.selected().overlay)?.catch(() => {});
    try {
      await Promise.race([isOut, late.promise]);
      return release;
    } catch (error) {
      release();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Somebody who looks takes no browser away from a process that works with it. */
  async function provisionToWatch(): Promise<void> {
    if (life.current() || !(await deps.isElsewhere())) await life.provision();
  }

  return {
    ensure,
    touch,
    async retarget(url) {
      usedAtMs = deps.nowMs();
      const row = await record.select(url);
      bringTo(url, row.retargets).catch((error) =>
        logger.debug({ sessionId, error }, "a retarget found no browser"),
      );
    },
    async navigate(url, signal) {
      await ensure();
      const taken = life.current();
      if (!taken) return { landed: false, reason: "the browser ended meanwhile" };
      const outcome = await navigation.go(taken, url, signal);
      usedAtMs = deps.nowMs();
      return outcome;
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
    watch({ onFrame, onPointer }) {
      usedAtMs = deps.nowMs();
      const unwatch = cast.watch(onFrame);
      if (onPointer) pointerListeners.add(onPointer);
      provisionToWatch().catch((error) => logger.debug({ sessionId, error }, "nothing to watch"));
      return () => {
        usedAtMs = deps.nowMs();
        if (onPointer) pointerListeners.delete(onPointer);
        unwatch();
      };
    },
    async input(input) {
      const isMove = input.type === "mouse" && input.action === "move";
      if (isMove) usedAtMs = deps.nowMs();
      else {
        lastActor = "person";
        touch();
      }
      if (!life.current()) await ensure();
      await keyboard?.push(input);
    },
    readCursor: async (x, y) => (await life.current()?.selected().overlay.readCursor(x, y)) ?? "default",
    isLive: () => life.current() !== undefined || life.isStarting(),
    idleMs(nowMs) {
      const isBusy = life.isStarting() || navigation.isUnderWay() || cast.watchers() > 0;
      return isBusy ? 0 : nowMs - usedAtMs;
    },
    end: life.end,
  };
}
