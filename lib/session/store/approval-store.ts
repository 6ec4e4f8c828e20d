import { and, desc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { inboxItems } from "#db/schema/index.ts";
import type { InboxSettler, InboxState, WaitEnd } from "#db/schema/unions.ts";
import { closedState, type InboxItemRow, OUTSIDE_SUBJECTS, SCRIPT_SUBJECTS } from "./inbox-store.ts";

/** The subject of the item of a call that needs approval, or that hands the browser over. A call has one item of a kind. */
export const callSubject = (runId: string, callId: string): string => `${runId}/${callId}`;

/** Finds the item of a call that needs approval, in any state. */
export async function findApproval(
  db: Executor,
  runId: string,
  callId: string,
): Promise<InboxItemRow | undefined> {
  const [row] = await db
    .select()
    .from(inboxItems)
    .where(and(eq(inboxItems.kind, "approval"), eq(inboxItems.subjectId, callSubject(runId, callId))));
  return row;
}

/** The subjects of the items of one call of scripts, which may be approved several times, once for each time it runs. */
export const scriptSubject = (sessionId: string, hash: string): string =>
  `${SCRIPT_SUBJECTS}${sessionId}/${hash}/`;

/** The same as {@link scriptSubject} for a call of other agents over MCP. */
export const outsideSubject = (sessionId: string, hash: string): string =>
  `${OUTSIDE_SUBJECTS}${sessionId}/${hash}/`;

/** Lists the items of one call, newest first. @param prefix see {@link scriptSubject} and {@link outsideSubject}. */
export const listApprovalsOf = (db: Executor, sessionId: string, prefix: string): Promise<InboxItemRow[]> =>
  db
    .select()
    .from(inboxItems)
    .where(and(eq(inboxItems.sessionId, sessionId), sql`starts_with(${inboxItems.subjectId}, ${prefix})`))
    .orderBy(desc(inboxItems.createdAt), desc(inboxItems.id));

/** Whether a person has approved a tool for the rest of a session, which includes its sub-agents. */
export async function isApprovedForSession(
  db: Executor,
  rootSessionId: string,
  toolName: string,
): Promise<boolean> {
  const [row] = await db
    .select({ id: inboxItems.id })
    .from(inboxItems)
    .where(
      and(
        eq(inboxItems.rootSessionId, rootSessionId),
        eq(inboxItems.forSession, true),
        sql`${inboxItems.call} ->> 'toolName' = ${toolName}`,
      ),
    )
    .limit(1);
  return row !== undefined;
}

/** The state that the open item of a call gets when its wait ends; undefined if the item stays open. */
export const ITEM_STATE_AFTER: Record<WaitEnd, "expired" | "withdrawn" | undefined> = {
  settled: undefined,
  deadline: "expired",
  message: "withdrawn",
  stopped: "withdrawn",
};

/** A person's decision about a call. */
export type Decision = { approve: true; forSession: boolean } | { approve: false; reason: string | null };

/**
 * Settles an open approval whose deadline has not passed. The caller has locked the session.
 *
 * @returns false if the item was not open any more.
 */
export async function decideApproval(
  tx: Transaction,
  id: string,
  decision: Decision,
  settledBy: InboxSettler,
): Promise<boolean> {
  const end = decision.approve
    ? { state: "approved" as const, forSession: decision.forSession }
    : { state: "denied" as const, reason: decision.reason };
  const rows = await tx
    .update(inboxItems)
    .set({ ...end, settledBy, settledAt: sql`now()` })
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

/**
 * Closes the open approvals and handovers of a run; with `callId`, only those of this call. The caller has locked the
 * session.
 */
export async function closeItemsOfCalls(
  tx: Transaction,
  { runId, callId }: { runId: string; callId: string | null },
  state: Extract<InboxState, "expired" | "withdrawn">,
): Promise<void> {
  await tx
    .update(inboxItems)
    .set({ state: closedState(state), settledAt: sql`now()` })
    .where(
      and(
        eq(inboxItems.runId, runId),
        inArray(inboxItems.kind, ["approval", "handover"]),
        eq(inboxItems.state, "open"),
        callId === null ? undefined : eq(inboxItems.subjectId, callSubject(runId, callId)),
      ),
    );
}

/** Records that an approved call begins. @returns false if it had begun before. */
export async function beginApproved(db: Executor, id: string): Promise<boolean> {
  const rows = await db
    .update(inboxItems)
    .set({ begunAt: sql`now()` })
    .where(and(eq(inboxItems.id, id), eq(inboxItems.state, "approved"), isNull(inboxItems.begunAt)))
    .returning({ id: inboxItems.id });
  return rows.length > 0;
}
