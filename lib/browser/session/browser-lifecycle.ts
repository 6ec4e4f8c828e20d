import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import type { BrowserEvent } from "./browser-machine.ts";
import type { PlaceTicket } from "./browser-places.ts";
import type { StoredRecord } from "./browser-record.ts";
import { type BrowserStart, NoBrowserError, shareStart } from "./browser-start.ts";
import type { BrowserFields, BrowserRow } from "./browser-store.ts";

/** One browser at a time for one session: it waits for a place, starts and ends, and each of that is recorded in order. */
type BrowserLifecycle = {
  /**
   * The browser that is up; starts one where none is, as soon as a place is free.
   * @throws NoBrowserError with a sentence when none can be had; the signal's reason when the caller stops waiting.
   */
  provision: (signal?: AbortSignal) => Promise<OpenBrowser>;
  /** The browser that is there now, recorded or not. */
  current: () => OpenBrowser | undefined;
  isStarting: () => boolean;
  /** Whether the session waits for a place. */
  isWaiting: () => boolean;
  /** Resolves when the start that is under way begins to wait for a place. */
  untilWaiting: () => Promise<void>;
  /** Records a browser that ended by itself. */
  gone: (taken: OpenBrowser, event: BrowserEvent, lastError: string | null) => void;
  /** Leaves the line, or ends the browser, if there is one; resolves once that is recorded. */
  end: () => Promise<void>;
};

type LifecycleDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  requestPlace: (onMove: (position: number) => void) => PlaceTicket;
  /** Milliseconds that a caller waits for a place at most, and the sentence it gets then. */
  placeWait: { waitMs: number; explain: () => string };
  take: () => Promise<OpenBrowser>;
  /** A browser has been taken: its events and its input are connected. It may be gone already. */
  onTaken: (taken: OpenBrowser) => void;
  /** It is up and recorded as such. */
  onUp: (taken: OpenBrowser, row: BrowserRow) => void;
  /** The browser was another process's until now, dead or alive. */
  onTakenOver?: ((holder: string) => void) | undefined;
  /** It is no longer the session's. */
  onReleased: () => void;
  /** We are about to end this browser, which still runs. Never rejects. */
  onEnding: (taken: OpenBrowser) => Promise<void>;
};

/** @see BrowserLifecycle */
export function createBrowserLifecycle(deps: LifecycleDeps): BrowserLifecycle {
  const { sessionId, record, logger } = deps;
  let open: OpenBrowser | undefined;
  let place: PlaceTicket | undefined;
  let starting: BrowserStart<OpenBrowser> | undefined;
  /** The end of the last browser, until it is recorded: the next one starts after it. */
  let ending: Promise<void> = Promise.resolve();

  async function provision(signal?: AbortSignal): Promise<OpenBrowser> {
    // One that is up is handed out only when it is recorded as such.
    if (open && !starting) return open;
    starting ??= begin();
    return starting.join(signal);
  }

  function begin(): BrowserStart<OpenBrowser> {
    let ticket: PlaceTicket | undefined;
    let leaving: Error | undefined;
    const queued = Promise.withResolvers<void>();
    const isWaiting = () => leaving === undefined && (ticket?.position() ?? 0) > 0;
    async function run(): Promise<OpenBrowser> {
      await ending;
      ticket = deps.requestPlace((position) => record.noteWaiting(position));
      try {
        return await start(ticket, queued.resolve);
      } catch (error) {
        ticket.release();
        throw error;
      }
    }
    const browser = run().finally(() => {
      if (starting === self) starting = undefined;
    });
    const self = shareStart({
      ...{ browser, isWaiting, queued: queued.promise },
      ...{ waitMs: deps.placeWait.waitMs, explainWait: deps.placeWait.explain },
      leaveLine(error) {
        if (!isWaiting()) return;
        leaving = error;
        ticket?.release(error);
        // A caller that comes while this is being recorded starts over, after it.
        ending = self.settled;
        starting = undefined;
      },
    });
    return self;
  }

  async function start(ticket: PlaceTicket, onQueued: () => void): Promise<OpenBrowser> {
    // Its end could not be written, or another process has it: that one is told.
    const holder = await record.dropClaim();
    if (holder !== null) deps.onTakenOver?.(holder);
    await record.move("provision", { lastError: null, currentUrl: null });
    await faultPoint("browser-starting");
    let taken: OpenBrowser;
    try {
      if (ticket.position() > 0) {
        record.noteWaiting(ticket.position());
        onQueued();
      }
      await ticket.granted;
      record.noteWaiting(0);
      taken = await deps.take().catch((error: unknown) => {
        throw new NoBrowserError(error instanceof Error ? error.message : String(error), { cause: error });
      });
    } catch (error) {
      record.noteWaiting(0);
      await recordFailure(error);
      throw error;
    }
    open = taken;
    place = ticket;
    deps.onTaken(taken);
    const row = await record
      .move("cameUp", { currentUrl: taken.selected().page.url() })
      .catch(async (error) => {
        release();
        await taken.close();
        throw error;
      });
    if (open !== taken) throw new NoBrowserError("the browser ended right after its start");
    deps.onUp(taken, row);
    return taken;
  }

  /** A session that no longer waits is `expired` and may try again; a start that failed is an `error` that says why. */
  async function recordFailure(error: unknown): Promise<void> {
    if (!(error instanceof NoBrowserError)) {
      logger.debug({ sessionId, err: error }, "a session stopped waiting for a browser");
      await record.move("abandoned", {}).catch(reportUnrecorded);
      return;
    }
    logger.warn({ sessionId, err: error }, "no browser could be started");
    await record.move("failed", { lastError: error.message }).catch(reportUnrecorded);
  }

  /** A browser ended by itself. */
  function gone(taken: OpenBrowser, event: BrowserEvent, lastError: string | null): void {
    if (open !== taken) return;
    logger.warn({ sessionId, event, lastError }, "a browser ended by itself");
    const isUp = starting?.settled;
    const held = release();
    ending = finish(taken, held, event, lastError === null ? {} : { lastError }, isUp);
  }
  async function finish(
    taken: OpenBrowser,
    held: PlaceTicket | undefined,
    event: BrowserEvent,
    patch: BrowserFields,
    isUp?: Promise<unknown>,
  ) {
    if (event === "reaped") await deps.onEnding(taken);
    await taken.close();
    held?.release();
    await isUp;
    await record.move(event, { currentUrl: null, ...patch }).catch(reportUnrecorded);
  }
  async function reportUnrecorded(error: unknown): Promise<void> {
    // With its session a browser's record goes too: there is nothing left to record.
    const isRemoved = await record.read().then(
      (row) => row === undefined,
      () => false,
    );
    if (!isRemoved) logger.warn({ sessionId, err: error }, "the end of a browser was not recorded");
  }
  function release(): PlaceTicket | undefined {
    const held = place;
    open = undefined;
    place = undefined;
    deps.onReleased();
    return held;
  }

  return {
    provision,
    current: () => open,
    isStarting: () => starting !== undefined,
    isWaiting: () => starting?.isWaiting() ?? false,
    untilWaiting: () => starting?.queued ?? new Promise(() => {}),
    gone,
    async end() {
      if (starting) {
        const { settled, giveUp } = starting;
        giveUp(new Error("the browser was ended while the session waited for it"));
        await settled;
      }
      const taken = open;
      if (taken) {
        const held = release();
        ending = finish(taken, held, "reaped", {});
      }
      await ending;
      await record.settle();
    },
  };
}
