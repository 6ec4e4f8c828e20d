import type { Transaction } from "#db/client.ts";
import type { CallbackEvent, ItemEvent } from "#db/schema/unions.ts";
import type { NewEvent, StoredEvent } from "#lib/events/event.ts";
import { newDeliveryId } from "../new-id.ts";
import { readEventContext } from "../store/elicitation-store.ts";
import { type InboxItemRow, titleOf } from "../store/inbox-store.ts";
import {
  insertDelivery,
  readSubscription,
  takeResumedItems,
  takeWaitingItems,
} from "../store/item-report-store.ts";
import { enqueueJobs } from "../store/job-store.ts";
import { type Job, requestDelivery } from "../store/jobs.ts";

/** An event about an item, and the callback that reports the event, if the caller has asked for it. */
type ItemReport = {
  event: NewEvent;
  /** Stores the callback and its job. Call it in the transaction that has stored the event. */
  onStored: (stored: StoredEvent) => Promise<void>;
  /** The jobs that `onStored` stores. Send them after the commit. */
  jobs: Job[];
};

/**
 * Reports the open items of a run that is being parked. Each item is reported once, however often the run is parked. The
 * caller has locked the session. Source: decision 124.
 */
export async function reportWaiting(tx: Transaction, runId: string): Promise<ItemReport[]> {
  return toReports(tx, runId, await takeWaitingItems(tx, runId), (item) => ({
    kind: "run.waiting",
    item: toWaitingItem(item),
  }));
}

/**
 * Reports the items of a run that it has waited for and that have ended. Each item is reported once. The caller has
 * locked the session. Source: decision 124.
 */
export async function reportResumed(tx: Transaction, runId: string): Promise<ItemReport[]> {
  return toReports(tx, runId, await takeResumedItems(tx, runId), (item) => {
    if (item.state === "open") throw new Error(`the item ${item.id} is open`);
    const { state, settledBy } = item;
    return {
      kind: "run.resumed",
      item: { ...toWaitingItem(item), state, ...(settledBy && { settledBy }) },
    };
  });
}

type About = Extract<NewEvent, { kind: ItemEvent }>;
type ItemFields = { [Kind in ItemEvent]: Pick<Extract<About, { kind: Kind }>, "kind" | "item"> }[ItemEvent];

async function toReports(
  tx: Transaction,
  runId: string,
  items: InboxItemRow[],
  toFields: (item: InboxItemRow) => ItemFields,
): Promise<ItemReport[]> {
  const [first] = items;
  if (!first) return [];
  const context = await readEventContext(tx, runId);
  const subscription = await readSubscription(tx, first.sessionId);
  return items.map((item) => {
    const fields = toFields(item);
    return { event: { ...context, ...fields }, ...planCallback(tx, item, fields, subscription) };
  });
}

/**
 * Plans the callback of an event. Its body is composed once, except for the link to the item, which every attempt adds
 * (`lib/callback`). The delivery belongs to the session that waits, because inserting a row below the root session would
 * lock the root session after its descendant (`architecture.md`, Locks).
 */
function planCallback(
  tx: Transaction,
  { id: itemId, sessionId }: InboxItemRow,
  { kind: event, item }: ItemFields,
  { rootSessionId, events }: { rootSessionId: string; events: CallbackEvent[] },
): Pick<ItemReport, "onStored" | "jobs"> {
  if (!events.includes(event)) return { onStored: async () => {}, jobs: [] };
  const id = newDeliveryId();
  const jobs = [requestDelivery({ id, cycle: 1 })];
  return {
    jobs,
    async onStored({ runId, requestId, body }) {
      if (runId === null) throw new Error(`the event about ${itemId} names no run`);
      const { timestamp } = JSON.parse(body) as { timestamp: string };
      const head = JSON.stringify({ event, sessionId: rootSessionId, requestId, runId, timestamp, item });
      await insertDelivery(tx, {
        id,
        sessionId,
        runId,
        event,
        itemId,
        body: `${head.slice(0, -1)},"data":${body}}`,
      });
      await enqueueJobs(tx, jobs);
    },
  };
}

const toWaitingItem = (item: InboxItemRow) => ({
  id: item.id,
  kind: item.kind,
  ...(item.agentName !== null && { agentName: item.agentName }),
  title: titleOf(item),
  createdAt: item.createdAt.toISOString(),
  expiresAt: item.expiresAt?.toISOString() ?? null,
});
