import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createWorkMeter } from "#lib/time/work-meter.ts";

/** Refusals that one client gets without waiting: at once, and per second. */
const AT_ONCE = 300;
const PER_SECOND = 100;
const MS_PER_REFUSAL = 1_000 / PER_SECOND;
const WAIT_MAX_MS = 5_000;

type Clock = { now: () => number; pause: (ms: number) => Promise<unknown> };
const CLOCK: Clock = { now: () => performance.now(), pause };

/**
 * Creates the pace at which a client gets refusals. Every refused request takes some of the main thread's time. A client
 * that repeats such requests in a loop waits for each answer, so that its loop becomes slow. Source: decision 076.
 */
export function createRefusalPace(clock: Clock = CLOCK) {
  const clients = createWorkMeter(AT_ONCE * MS_PER_REFUSAL);
  return {
    /**
     * Waits until an answer may be sent. Only refusals wait.
     * @param subject the client.
     */
    async wait(subject: string, request: Pick<IncomingMessage, "headers">, status: number): Promise<void> {
      if (!isPaced(request, status)) return;
      const at = clock.now();
      const waitMs = clients.waitOf(subject, at, MS_PER_REFUSAL);
      if (waitMs <= WAIT_MAX_MS) clients.add(subject, at, MS_PER_REFUSAL);
      if (waitMs > 0) await clock.pause(Math.min(waitMs, WAIT_MAX_MS));
    },
  };
}

/**
 * Whether a refusal counts. Without a credential, each one does. With a credential, only those do that a correct client
 * does not get in a loop: a wrong credential, a missing right, and too many requests.
 */
function isPaced({ headers }: Pick<IncomingMessage, "headers">, status: number): boolean {
  if (status < 400 || status >= 500) return false;
  const hasCredential = headers.authorization !== undefined || headers.cookie !== undefined;
  return !hasCredential || status === 401 || status === 403 || status === 429;
}
