import { and, eq, isNull, ne, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { agents, deliveries, inboxItems, sessions } from "#db/schema/index.ts";
import type { CallbackEvent, ItemEvent } from "#db/schema/unions.ts";
import type { InboxItemRow } from "./inbox-store.ts";

const take = (tx: Transaction, lastEvent: ItemEvent, condition: ReturnType<typeof and>) =>
  tx
    .update(inboxItems)
    .set({ lastEvent })
    .where(condition)
    .returning()
    .then((rows) => rows.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime()));

/**
 * Marks the open items of a run that no event has reported as reported by `run.waiting`. A plan is not among them,
 * because no run waits for it. The caller has locked the session.
 *
 * @returns these items, oldest first.
 */
export const takeWaitingItems = (tx: Transaction, runId: string): Promise<InboxItemRow[]> =>
  take(
    tx,
    "run.waiting",
    and(
      eq(inboxItems.runId, runId),
      eq(inboxItems.state, "open"),
      ne(inboxItems.kind, "plan"),
      isNull(inboxItems.lastEvent),
    ),
  );

/**
 * Marks the items of a run that `run.waiting` has reported, and that have ended since, as reported by `run.resumed`. The
 * caller has locked the session.
 *
 * @returns these items, oldest first.
 */
export const takeResumedItems = (tx: Transaction, runId: string): Promise<InboxItemRow[]> =>
  take(
    tx,
    "run.resumed",
    and(
      eq(inboxItems.runId, runId),
      sql`${inboxItems.lastEvent} = 'run.waiting'`,
      ne(inboxItems.state, "open"),
    ),
  );

/**
 * Reads which callbacks a session receives. A sub-agent has no callback of its own: the events about its items go to the
 * callback of the root session.
 *
 * @returns the root session and the events of its callback; none without a callback.
 */
export async function readSubscription(
  db: Executor,
  sessionId: string,
): Promise<{ rootSessionId: string; events: CallbackEvent[] }> {
  const [row] = await db
    .select({ rootSessionId: sessions.id, events: sessions.callbackEvents })
    .from(sessions)
    .where(
      sql`${sessions.id} = coalesce((select ${agents.rootSessionId} from ${agents}
        where ${agents.sessionId} = ${sessionId}), ${sessionId})`,
    );
  return { rootSessionId: row?.rootSessionId ?? sessionId, events: row?.events ?? [] };
}

/** Inserts a delivery that is due now. */
export async function insertDelivery(
  tx: Transaction,
  row: Pick<typeof deliveries.$inferInsert, "id" | "sessionId" | "runId" | "event" | "itemId" | "body">,
): Promise<void> {
  await tx.insert(deliveries).values({ ...row, nextAttemptAt: sql`now()` });
}
