import type { Logger } from "#lib/log/logger.ts";
import type {
  BrowserInput,
  BrowserOpening,
  LiveBrowser,
  NavigationOutcome,
  ScriptPointer,
  ViewListeners,
} from "../browser-service.ts";
import type { SubmitAnnotation } from "../overlay/install-overlay.ts";
import type { OverlayHold } from "../overlay/overlay-gate.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import { createPageNavigation, LOAD_TIMEOUT_MS } from "../page/page-navigation.ts";
import { createInputQueue, type InputQueue } from "../view/input.ts";
import type { PictureKeeper, PictureKeeperDeps } from "../view/page-picture.ts";
import { createScreencast } from "../view/screencast.ts";
import { createBrowserLifecycle } from "./browser-lifecycle.ts";
import type { PlaceTicket } from "./browser-places.ts";
import type { StoredRecord } from "./browser-record.ts";
import { NoBrowserError, untilAborted } from "./browser-start.ts";

/** What one session's browser needs from the house. */
type SessionBrowserDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  /** Whether another process, which is there, holds this session's browser. */
  isElsewhere: () => Promise<boolean>;
  /** Another process held the browser until now. */
  onTakenOver?: (holder: string) => void;
  requestPlace: (onMove: (position: number) => void) => PlaceTicket;
  placeWait: { waitMs: number; explain: () => string };
  /** Hands over a browser that is up. @throws Error with a sentence. */
  take: () => Promise<OpenBrowser>;
  /** Whether a person who only looks may have a browser started: a turn is open, and no session waits for a place. */
  mayStartForViewer: () => Promise<boolean>;
  /** A use of the browser has ended: it may be one that a waiting session gets. */
  onUnused: () => void;
  createPictureKeeper: (page: Pick<PictureKeeperDeps, "findIdle" | "hideOverlay">) => PictureKeeper;
  /** Says why a page may not be gone to, or undefined. */
  refuse: (url: URL) => Promise<string | undefined>;
  onAnnotation: SubmitAnnotation;
  nowMs: () => number;
};

/** How long a page may take to let the overlay go. */
const OVERLAY_TIMEOUT_MS = 10_000;

/** The browser of one session, over all the processes that it is played by in time. */
export type SessionBrowser = {
  ensure: (signal?: AbortSignal) => Promise<LiveBrowser>;
  /** @see BrowserService.hold */
  hold: (signal?: AbortSignal) => Promise<() => void>;
  /** @see BrowserService.open */
  open: () => Promise<BrowserOpening>;
  retarget: (url: string) => Promise<void>;
  navigate: (url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  history: (action: "back" | "forward" | "reload") => Promise<BrowserOpening>;
  touch: () => void;
  watch: (listeners: ViewListeners) => () => void;
  input: (input: BrowserInput) => Promise<void>;
  /** @see BrowserService.readCursor */
  readCursor: (x: number, y: number) => Promise<string>;
  /** Whether a browser runs, is being started, or is waited for. */
  isLive: () => boolean;
  /** Whether a browser runs. */
  isUp: () => boolean;
  /** Whether a browser is up that no tool call uses, that no person watches, and that is going nowhere. */
  isUnused: () => boolean;
  /** Milliseconds since it was used last; 0 while it is in use. */
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
      void firstLanding.then(rest, rest);
    },
    onEnding: (taken) => picture.keep(taken),
    onReleased() {
      keyboard = undefined;
      navigation.abandon();
      cast.attach(undefined);
    },
  });
  const picture = deps.createPictureKeeper({
    findIdle: () => (isUnused() ? life.current() : undefined),
    hideOverlay: (taken) => hideOverlay(taken, "picture"),
  });
  const navigation = createPageNavigation({ ...deps, isCurrent: (taken) => life.current() === taken });
  const cast = createScreencast((error) =>
    logger.debug({ sessionId, err: error }, "the page cannot be cast"),
  );
  /** The navigation to its page that a start of the browser includes. */
  let firstLanding: Promise<unknown> = Promise.resolve();
  let usedAtMs = deps.nowMs();
  /** Tool calls that have the browser to themselves: while there are any, it is not ended for another session. */
  let holds = 0;
  let keyboard: InputQueue | undefined;
  /** Browsers that ended by themselves. */
  const lost = new WeakSet<OpenBrowser>();
  const pointerListeners = new Set<(pointer: ScriptPointer) => void>();
  /** Who pressed a button or key of the page last. */
  let lastActor: "person" | "script" | undefined;

  const isUnused = () =>
    life.current() !== undefined &&
    !life.isStarting() &&
    holds === 0 &&
    !navigation.isUnderWay() &&
    cast.watchers() === 0;

  /** A use has ended. */
  function rest(): void {
    usedAtMs = deps.nowMs();
    if (!isUnused()) return;
    picture.keepSoon();
    deps.onUnused();
  }

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
    if (navigation.headedFor() < retargets) {
      await navigation.goToSelected(taken, url, retargets);
      rest();
    } else await firstLanding;
    const isNewest = navigation.headedFor() === retargets;
    if (lost.has(taken) && isNewest && !isSecond) await bringTo(url, retargets, true);
  }

  async function ensure(signal?: AbortSignal): Promise<LiveBrowser> {
    touch();
    const taken = await life.provision(signal);
    await untilAborted(firstLanding, signal);
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

  async function hold(signal?: AbortSignal): Promise<() => void> {
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      holds -= 1;
      rest();
    };
    holds += 1;
    try {
      await ensure(signal);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  /** A person who only looks takes no browser from a process that works with it, and no place from a session. */
  async function provisionToWatch(): Promise<void> {
    if (life.current() || life.isStarting()) return;
    if (!(await deps.isElsewhere()) && (await deps.mayStartForViewer())) await life.provision();
  }

  /** Starts the browser where none is up, without waiting for a place. */
  async function open(): Promise<BrowserOpening> {
    usedAtMs = deps.nowMs();
    if (life.current() && !life.isStarting()) return { state: "ready" };
    const up = life.provision().then(
      (): BrowserOpening => ({ state: "ready" }),
      (error: unknown): BrowserOpening => {
        if (error instanceof NoBrowserError) return { state: "failed", reason: error.message };
        throw error;
      },
    );
    return Promise.race([up, life.untilWaiting().then((): BrowserOpening => ({ state: "waiting" }))]);
  }

  return {
    ensure,
    hold,
    open,
    touch,
    async retarget(url) {
      usedAtMs = deps.nowMs();
      const row = await record.select(url);
      bringTo(url, row.retargets).catch((error) =>
        logger.debug({ sessionId, err: error }, "a retarget found no browser"),
      );
    },
    async navigate(url, signal) {
      await ensure(signal);
      const taken = life.current();
      if (!taken) return { landed: false, reason: "the browser ended meanwhile" };
      const outcome = await navigation.go(taken, url, signal);
      usedAtMs = deps.nowMs();
      return outcome;
    },
    async history(action) {
      const wasUp = life.current() !== undefined;
      const opening = await open();
      const taken = life.current();
      // A browser that has just started shows its page fresh, and has no history yet.
      if (!wasUp || !taken || opening.state !== "ready") return opening;
      touch();
      const { page } = taken.selected();
      const options = { waitUntil: "domcontentloaded", timeout: LOAD_TIMEOUT_MS } as const;
      const moves = {
        back: () => page.goBack(options),
        forward: () => page.goForward(options),
        reload: () => page.reload(options),
      };
      // The record shows a refusal; a page that is still loading is not a failure.
      await moves[action]().catch((error) =>
        logger.debug({ sessionId, action, err: error }, "a move through the history did not complete"),
      );
      rest();
      return opening;
    },
    watch({ onFrame, onPointer }) {
      usedAtMs = deps.nowMs();
      const unwatch = cast.watch(onFrame);
      if (onPointer) pointerListeners.add(onPointer);
      provisionToWatch().catch((error) => logger.debug({ sessionId, err: error }, "nothing to watch"));
      return () => {
        if (onPointer) pointerListeners.delete(onPointer);
        unwatch();
        rest();
      };
    },
    async input(input) {
      const isMove = input.type === "mouse" && input.action === "move";
      if (isMove) usedAtMs = deps.nowMs();
      else {
        lastActor = "person";
        touch();
      }
      if (!life.current()) {
        // What was meant for the page shown now must not reach another one minutes later.
        if (life.isWaiting() || (await open()).state !== "ready") return;
        await firstLanding;
      }
      await keyboard?.push(input);
    },
    readCursor: async (x, y) => (await life.current()?.selected().overlay.readCursor(x, y)) ?? "default",
    isLive: () => life.current() !== undefined || life.isStarting(),
    isUp: () => life.current() !== undefined,
    isUnused,
    idleMs: (nowMs) => (isUnused() ? nowMs - usedAtMs : 0),
    end: life.end,
  };
}
