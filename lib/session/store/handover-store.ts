import { and, eq, getTableColumns, inArray, isNull, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { inboxItems, runs } from "#db/schema/index.ts";
import type { InboxSettler } from "#db/schema/unions.ts";
import { callSubject } from "./approval-store.ts";
import type { InboxItemRow } from "./inbox-store.ts";
import { OPEN_STATES } from "./run-store.ts";

/** Finds the item of a call that hands the browser over, in any state. */
export async function findHandover(
  db: Executor,
  { sessionId, runId, callId }: { sessionId: string; runId: string; callId: string },
): Promise<InboxItemRow | undefined> {
  const [row] = await db
    .select()
    .from(inboxItems)
    .where(
      and(
        eq(inboxItems.sessionId, sessionId),
        eq(inboxItems.kind, "handover"),
        eq(inboxItems.subjectId, callSubject(runId, callId)),
      ),
    );
  return row;
}

/** Lists the open handovers of a session's browser whose runs can still wait for them. */
export const listOpenHandovers = (db: Executor, browserSessionId: string): Promise<InboxItemRow[]> =>
  db
    .select(getTableColumns(inboxItems))
    .from(inboxItems)
    .innerJoin(runs, eq(runs.id, inboxItems.runId))
    .where(
      and(
        eq(inboxItems.browserSessionId, browserSessionId),
        eq(inboxItems.kind, "handover"),
        eq(inboxItems.state, "open"),
        inArray(runs.state, OPEN_STATES),
        isNull(runs.cancelRequestedAt),
      ),
    );

/** How a person has settled a handover. The note of `done` is for the agent. */
export type HandoverEnd = { state: "done"; note: string | null } | { state: "declined" };

/**
 * Settles an open handover whose deadline has not passed. The caller has locked the session.
 *
 * @returns false if the item was not open any more.
 */
export async function endHandover(
  tx: Transaction,
  id: string,
  end: HandoverEnd,
  settledBy: InboxSettler,
): Promise<boolean> {
  const rows = await tx
    .update(inboxItems)
    .set({
      state: end.state,
      reason: end.state === "done" ? end.note : null,
      settledBy,
      settledAt: sql`now()`,
    })
    .where(
      and(
        eq(inboxItems.id, id),
        eq(inboxItems.state, "open"),
        sql`${inboxItems.expiresAt} > clock_timestamp()`,
      ),
    )
    .returning({ id: inboxItems.id });
  return rows.length > 0;
}
