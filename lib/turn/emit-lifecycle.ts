import type { Transaction } from "#db/client.ts";
import type { CallbackEvent } from "#db/schema/unions.ts";
import { planDelivery } from "#lib/callback/plan-delivery.ts";
import { insertDelivery } from "#lib/callback/store.ts";
import type { NewEvent } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { type Job, requestDelivery } from "#lib/session/jobs.ts";
import { enqueueJobs } from "#lib/session/outbox-store.ts";

/** Emits a lifecycle event together with its callback row and the job to deliver it; `send` gets the job. */
export function emitLifecycle(
  tx: Transaction,
  emit: Emit,
  subscribed: CallbackEvent[] | null,
  send: Job[],
  event: NewEvent,
): void {
  emit(event, async (stored) => {
    const delivery = planDelivery(subscribed, stored);
    if (!delivery) return;
    await insertDelivery(tx, delivery);
    const job = requestDelivery({ id: delivery.id, cycle: 1 });
    await enqueueJobs(tx, [job]);
    send.push(job);
  });
}
