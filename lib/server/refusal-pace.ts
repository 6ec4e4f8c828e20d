import { CLOCK, type Clock, createWorkMeter } from "#lib/time/work-meter.ts";

/** Refusals that one client gets without waiting: at once, and per second. */
const AT_ONCE = 300;
const PER_SECOND = 100;
const MS_PER_REFUSAL = 1_000 / PER_SECOND;
const WAIT_MAX_MS = 5_000;
/** Number of refusals that wait at the same time. Further ones are sent at once, because each one takes memory. */
const WAITING_MAX = 1_000;

/**
 * Creates the pace at which a client gets refusals. Every refused request takes some of the main thread's time. A client
 * that repeats such requests in a loop waits for each answer, so that its loop becomes slow. Source: decision 076.
 */
export function createRefusalPace(clock: Clock = CLOCK) {
  const clients = createWorkMeter(AT_ONCE * MS_PER_REFUSAL);
  let waiting = 0;
  return {
    /**
     * Waits until an answer may be sent. Only refusals wait.
     * @param subject the client.
     * @param isKnown whether the client has sent a valid credential.
     */
    async wait(subject: string, isKnown: boolean, status: number): Promise<void> {
      if (!isPaced(isKnown, status)) return;
      const at = clock.now();
      const waitMs = clients.waitOf(subject, at, MS_PER_REFUSAL);
      if (waitMs <= WAIT_MAX_MS) clients.add(subject, at, MS_PER_REFUSAL);
      if (waitMs === 0 || waiting === WAITING_MAX) return;
      waiting += 1;
      await clock.pause(Math.min(waitMs, WAIT_MAX_MS));
      waiting -= 1;
    },
  };
}

/**
 * Whether a refusal counts. Without a valid credential, each one does. With one, only those do that a correct client does
 * not get in a loop: a wrong credential, a missing right, and too many requests.
 */
const isPaced = (isKnown: boolean, status: number): boolean =>
  status >= 400 && status < 500 && (!isKnown || status === 401 || status === 403 || status === 429);
