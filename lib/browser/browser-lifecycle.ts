import { faultPoint } from "#lib/events/fault-point.ts";
import type { BrowserEvent } from "./browser-machine.ts";
import type { Logger } from "./browser-provider.ts";
import type { StoredRecord } from "./browser-record.ts";
import type { OpenBrowser } from "./open-browser.ts";
import type { BrowserFields, BrowserRow } from "./store.ts";

/** One browser at a time for one session: started on need, and its start and end recorded, in this order. */
export type BrowserLifecycle = {
  /** The browser that is up; starts one where none is. @throws Error with a sentence when none can be had. */
  provision: () => Promise<OpenBrowser>;
  /** The browser that is there now, recorded or not. */
  current: () => OpenBrowser | undefined;
  isStarting: () => boolean;
  /** Takes note of a browser that ended by itself. */
  gone: (taken: OpenBrowser, event: BrowserEvent, lastError: string | null) => void;
  /** Ends the browser, if there is one, and waits until that is recorded. */
  end: () => Promise<void>;
};

type LifecycleDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  take: () => Promise<OpenBrowser>;
  /** A browser has been taken: its events and its input get their places. It may be gone already. */
  onTaken: (taken: OpenBrowser) => void;
  /** It is up and recorded as such. */
  onUp: (taken: OpenBrowser, row: BrowserRow) => void;
  /** The browser was another process's until now, dead or alive. */
  onTakenOver?: ((holder: string) => void) | undefined;
  /** It is no longer the session's. */
  onReleased: () => void;
};

/** @see BrowserLifecycle */
export function createBrowserLifecycle(deps: LifecycleDeps): BrowserLifecycle {
  const { sessionId, record, logger } = deps;
  let open: OpenBrowser | undefined;
  let starting: Promise<OpenBrowser> | undefined;
  /** The end of the last browser, until it is recorded: the next one starts after it. */
  let ending: Promise<void> = Promise.resolve();

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
    // Its end could not be written, or another process has it: that one is told.
    const holder = await record.dropClaim();
    if (holder !== null) deps.onTakenOver?.(holder);
    await record.move("provision", { lastError: null, currentUrl: null });
    await faultPoint("K27");
    let taken: OpenBrowser;
    try {
      taken = await deps.take();
    } catch (error) {
      const lastError = error instanceof Error ? error.message : String(error);
      logger.warn({ sessionId, error }, "no browser could be started");
      await record.move("failed", { lastError });
      throw error;
    }
    open = taken;
    deps.onTaken(taken);
    const row = await record
      .move("cameUp", { currentUrl: taken.selected().page.url() })
      .catch(async (error) => {
        release();
        await taken.close();
        throw error;
      });
    if (open !== taken) throw new Error("the browser ended right after its start");
    deps.onUp(taken, row);
    return taken;
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
    patch: BrowserFields,
    isUp?: Promise<unknown>,
  ) {
    await taken.close();
    await isUp;
    await record.move(event, { currentUrl: null, ...patch }).catch(tellUnrecorded);
  }
  async function tellUnrecorded(error: unknown): Promise<void> {
    // With its session a browser's record goes too, and nobody misses its end.
    const isRemoved = await record.read().then(
      (row) => row === undefined,
      () => false,
    );
    if (!isRemoved) logger.warn({ sessionId, error }, "the end of a browser was not recorded");
  }
  function release(): void {
    open = undefined;
    deps.onReleased();
  }

  return {
    provision,
    current: () => open,
    isStarting: () => starting !== undefined,
    gone,
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
