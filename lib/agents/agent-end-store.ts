import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { agents, runs, type UsageRow, waits } from "#db/schema/index.ts";
import { OPEN_STATES } from "#lib/session/store/run-store.ts";
import type { WaitRow } from "#lib/session/store/wait-store.ts";
import { addUsage } from "./add-usage.ts";
import { type AgentRow, findAgent } from "./agent-store.ts";

/**
 * Adds the usage of an ended run to the totals of its sub-agent. Called after every run, also if another run follows.
 * Does nothing if the session is not a sub-agent.
 */
export async function addRunUsage(tx: Transaction, sessionId: string, usage: UsageRow): Promise<void> {
  const agent = await findAgent(tx, sessionId);
  if (!agent) return;
  await tx
    .update(agents)
    .set({ usage: addUsage([agent.usage, usage]) })
    .where(eq(agents.sessionId, sessionId));
}

/** Stores how the turn of a sub-agent ended. */
export async function storeEnd(
  tx: Transaction,
  sessionId: string,
  end: Pick<AgentRow, "outcome" | "error" | "isSubmitted" | "result">,
): Promise<void> {
  await tx
    .update(agents)
    .set({ ...end, reportedIn: null, settledAt: new Date() })
    .where(eq(agents.sessionId, sessionId));
}

/** Makes an ended sub-agent live again, for a new turn. */
export async function startAgain(tx: Transaction, sessionId: string): Promise<void> {
  await tx
    .update(agents)
    .set({
      outcome: null,
      result: null,
      error: null,
      isSubmitted: false,
      settledAt: null,
      reportedIn: null,
      submission: null,
      progress: null,
    })
    .where(eq(agents.sessionId, sessionId));
}

/** Stores the result that a sub-agent submitted. Does nothing if the sub-agent has ended. */
export async function storeSubmission(db: Executor, sessionId: string, value: unknown): Promise<void> {
  await db
    .update(agents)
    .set({ submission: { value } })
    .where(and(eq(agents.sessionId, sessionId), isNull(agents.outcome)));
}

/** Stores the latest progress report of a sub-agent. */
export async function storeProgress(tx: Transaction, sessionId: string, progress: string): Promise<void> {
  await tx.update(agents).set({ progress }).where(eq(agents.sessionId, sessionId));
}

/** The parent's waits for this sub-agent that have not ended. */
export const listWaitsFor = (
  tx: Transaction,
  { sessionId, parentSessionId }: Pick<AgentRow, "sessionId" | "parentSessionId">,
): Promise<WaitRow[]> =>
  tx
    .select()
    .from(waits)
    .where(
      and(
        eq(waits.sessionId, parentSessionId),
        eq(waits.kind, "agents"),
        isNull(waits.endedBy),
        sql`${waits.subjects} @> ${JSON.stringify([sessionId])}::jsonb`,
      ),
    );

/** How many of these sub-agents are live (have not ended). */
export const countLiveAmong = (db: Executor, sessionIds: string[]): Promise<number> =>
  db.$count(agents, and(inArray(agents.sessionId, sessionIds), isNull(agents.outcome)));

/**
 * Requests a stop of every open run of a session's live children and of all sub-agents below them. Called in the
 * transaction that ends the session's turn: the requests are stored, so the runs stop even if this process crashes.
 */
export async function requestStopBelow(tx: Transaction, sessionId: string): Promise<void> {
  const below = sql`(with recursive below as (
    select ${agents.sessionId} as id from ${agents} where ${agents.parentSessionId} = ${sessionId} and ${isNull(agents.outcome)}
    union select child.session_id from ${agents} child join below on child.parent_session_id = below.id
  ) select id from below)`;
  await tx
    .update(runs)
    .set({ cancelRequestedAt: sql`coalesce(${runs.cancelRequestedAt}, now())` })
    .where(and(sql`${runs.sessionId} in ${below}`, inArray(runs.state, OPEN_STATES)));
}
