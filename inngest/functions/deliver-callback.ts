import type { Inngest } from "inngest";
import type { AttemptKey } from "#lib/callback/attempt-delivery.ts";
import type { AttemptOutcome } from "#lib/callback/conclude-attempt.ts";
import { ATTEMPTS_MAX } from "#lib/callback/retry-schedule.ts";

import { momentAfter } from "./moment-after.ts";

const WAITS_MAX = 100;

/**
 * Delivers one callback: up to five `attempt-n` steps with `backoff-n` sleeps between them. It also ends when the delivery
 * is held; the delivery then gets another job.
 * Source: specification, Delivery semantics.
 *
 * @param atOnceMax maximum number of attempts at the same time; undefined for the engine's own limit. A slow receiver
 * holds a call of the engine for up to ten seconds, so callbacks must not take all calls that turns need.
 */
export const createDeliverCallback = (
  client: Inngest,
  attempt: (key: AttemptKey) => Promise<AttemptOutcome>,
  atOnceMax?: number,
) =>
  client.createFunction(
    {
      id: "deliver-callback",
      triggers: { event: "callback/delivery.requested" },
      retries: 20,
      ...(atOnceMax !== undefined && { concurrency: { limit: atOnceMax } }),
    },
    async ({ event, step }) => {
      // The cast is safe because only `requestDelivery` creates these jobs.
      const { deliveryId, cycle } = event.data as { deliveryId: string; cycle: number };
      let waits = 0;
      for (let number = 1; number <= ATTEMPTS_MAX; ) {
        const name = waits === 0 ? `attempt-${number}` : `attempt-${number}-after-wait-${waits}`;
        const outcome = await step.run(name, () =>
          attempt({ deliveryId, cycle, number, outOfOrder: waits >= WAITS_MAX }),
        );
        if (outcome.state !== "wait" && outcome.state !== "retry") return outcome;
        if (outcome.state === "wait") {
          // This delivery waits until the callback of `run.started` was attempted once, or for a slot of its receiver.
          waits++;
          await step.sleepUntil(`wait-${waits}`, momentAfter(outcome.delayMs));
        } else {
          await step.sleepUntil(`backoff-${number}`, momentAfter(outcome.delayMs));
          number++;
        }
      }
      return { state: "dropped" as const };
    },
  );
