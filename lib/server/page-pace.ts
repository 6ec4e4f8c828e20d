import { CLOCK, type Clock, createWorkMeter } from "#lib/time/work-meter.ts";
import { REFERENCE_PATH } from "./reference/reference-page.ts";

/** How long a request may wait for its turn, and how many seconds of its rate a client may use at once. */
const WAIT_MAX_MS = 5_000;
const BURST_MS = 10_000;
/** The rate of all clients together, as a multiple of the rate of one client. */
const CLIENTS_AT_RATE = 3;

type PaceVerdict = { isAllowed: true } | { isAllowed: false; retrySeconds: number };

/**
 * Returns the cost of a request for a page or a file that anybody can load, as a multiple of an ordinary page, which
 * takes about 7 ms of the main thread. A static file is compressed outside of the main thread; the reference is large.
 */
export function pageCost(pathname: string): number {
  if (pathname === REFERENCE_PATH) return 4;
  return /^\/_next\/static\/|\.\w+$/.test(pathname) && pathname !== "/api/openapi.json" ? 0.4 : 1;
}

/**
 * Creates the pace at which clients load pages and files without a credential. A client that loads more waits, which
 * slows down clients that load in a loop; a client for which too many requests wait is refused. Source: decision 075.
 *
 * @param perMinute pages of one client; 0 means unlimited.
 */
export function createPagePace(perMinute: number, clock: Clock = CLOCK) {
  const clients = createWorkMeter(BURST_MS);
  const all = createWorkMeter(BURST_MS);
  const msPerPage = 60_000 / perMinute;

  return {
    /**
     * Waits until a request may be answered.
     * @param subject the client.
     */
    async enter(subject: string, cost: number): Promise<PaceVerdict> {
      if (perMinute === 0) return { isAllowed: true };
      const at = clock.now();
      const ms = cost * msPerPage;
      const allMs = ms / CLIENTS_AT_RATE;
      const waitMs = Math.max(clients.waitOf(subject, at, ms), all.waitOf("", at, allMs));
      if (waitMs > WAIT_MAX_MS)
        return { isAllowed: false, retrySeconds: Math.ceil((waitMs - WAIT_MAX_MS) / 1_000) };
      clients.add(subject, at, ms);
      all.add("", at, allMs);
      if (waitMs > 0) await clock.pause(waitMs);
      return { isAllowed: true };
    },
  };
}
