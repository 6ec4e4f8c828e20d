import { and, asc, desc, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { agents, events, requests, runs, sessions, type UsageRow } from "#db/schema/index.ts";
import { OPEN_STATES } from "#lib/session/store/run-store.ts";
import { sessionColumns } from "#lib/session/store/session-store.ts";

export type AgentRow = typeof agents.$inferSelect;

/** The row that describes a session as a sub-agent; undefined if the session has no parent. */
export async function findAgent(db: Executor, sessionId: string): Promise<AgentRow | undefined> {
  const [row] = await db.select().from(agents).where(eq(agents.sessionId, sessionId));
  return row;
}

const listWhere = (db: Executor, condition: SQL | undefined): Promise<AgentRow[]> =>
  db.select().from(agents).where(condition).orderBy(asc(agents.createdAt), asc(agents.spawnIndex));

/** The children of a session, in the order in which they were spawned. */
export const listChildren = (db: Executor, parentSessionId: string): Promise<AgentRow[]> =>
  listWhere(db, eq(agents.parentSessionId, parentSessionId));

/** The children of a session that are live, which means that they have not ended. */
export const listLiveChildren = (db: Executor, parentSessionId: string): Promise<AgentRow[]> =>
  listWhere(db, and(eq(agents.parentSessionId, parentSessionId), isNull(agents.outcome)));

/**
 * The live children of a session, and the ended children that were not yet reported to the session's model.
 *
 * @param reader id of the call or turn that reads the list. A reader that repeats its read after a crash gets the same
 * children.
 */
export const listUnreported = (db: Executor, parentSessionId: string, reader: string): Promise<AgentRow[]> =>
  listWhere(
    db,
    and(
      eq(agents.parentSessionId, parentSessionId),
      or(isNull(agents.outcome), isNull(agents.reportedIn), eq(agents.reportedIn, reader)),
    ),
  );

/** The sub-agents that a call spawned. */
export const listSpawned = (db: Executor, call: { runId: string; callId: string }): Promise<AgentRow[]> =>
  listWhere(db, and(eq(agents.spawnRunId, call.runId), eq(agents.spawnCallId, call.callId)));

/** Every sub-agent below a session, parents before their children. */
export async function listBelow(db: Executor, sessionId: string): Promise<AgentRow[]> {
  const own = await findAgent(db, sessionId);
  const all = await db
    .select()
    .from(agents)
    .where(eq(agents.rootSessionId, own?.rootSessionId ?? sessionId))
    .orderBy(asc(agents.depth), asc(agents.createdAt), asc(agents.spawnIndex));
  const family = new Set([sessionId]);
  return all.filter((row) => {
    if (family.has(row.parentSessionId)) family.add(row.sessionId);
    return family.has(row.parentSessionId);
  });
}

/** Whether a sub-agent is below a session, at any depth. */
export async function isBelow(db: Executor, sessionId: string, agentId: string): Promise<boolean> {
  const [agent] = await db
    .select({ parentSessionId: agents.parentSessionId })
    .from(agents)
    .where(eq(agents.sessionId, agentId));
  if (!agent) return false;
  return agent.parentSessionId === sessionId || isBelow(db, sessionId, agent.parentSessionId);
}

/**
 * A sub-agent with short values: the objective and the JSON of the result are cut if they are too long. The submission
 * and `resultSchema` are left out.
 */
export type BriefAgent = Omit<AgentRow, "result" | "submission" | "resultSchema"> & {
  resultText: string | null;
  isResultCut: boolean;
};

/** Maximum number of sub-agents that `listBriefly` returns. The session page reads this list every two seconds. */
const LISTED_MAX = 100;
const OBJECTIVE_CHARACTERS_MAX = 500;

/**
 * Lists up to 100 sub-agents below a session in brief, parents before their children. If there are more, leaves out the
 * oldest of the ended ones first.
 *
 * @param resultCharactersMax maximum length of a result's JSON, in characters.
 */
export async function listBriefly(
  db: Executor,
  sessionId: string,
  resultCharactersMax: number,
): Promise<BriefAgent[]> {
  const { result, submission: _submission, resultSchema: _schema, ...columns } = getTableColumns(agents);
  const json = sql`(${result} -> 'value')::text`;
  const below = sql`with recursive below as (
    select ${agents.sessionId} as id from ${agents} where ${agents.parentSessionId} = ${sessionId}
    union select child.session_id from ${agents} child join below on child.parent_session_id = below.id
  ) select id from below`;
  const rows = await db
    .select({
      ...columns,
      objective: sql<string>`left(${agents.objective}, ${OBJECTIVE_CHARACTERS_MAX})`,
      resultText: sql<string | null>`left(${json}, ${resultCharactersMax})`,
      isResultCut: sql<boolean>`coalesce(length(${json}) > ${resultCharactersMax}, false)`,
    })
    .from(agents)
    .where(sql`${agents.sessionId} = any(array(${below}))`)
    .orderBy(sql`${agents.outcome} is null desc`, desc(agents.createdAt), desc(agents.spawnIndex))
    .limit(LISTED_MAX);
  return rows.toSorted(
    (one, other) =>
      one.depth - other.depth ||
      one.createdAt.getTime() - other.createdAt.getTime() ||
      one.spawnIndex - other.spawnIndex,
  );
}

/**
 * How many sub-agents are live: children of a session, children with their own browser, and all under the root session.
 */
export type LiveCounts = { children: number; browsers: number; total: number };

/**
 * Counts the live sub-agents of a session and of its whole tree. The caller has locked the root session, so no
 * sub-agent is added during the count.
 */
export async function countLive(
  tx: Transaction,
  { sessionId, rootSessionId }: { sessionId: string; rootSessionId: string },
): Promise<LiveCounts> {
  const isChild = sql`${agents.parentSessionId} = ${sessionId}`;
  const [counts] = await tx
    .select({
      children: sql<number>`(count(*) filter (where ${isChild}))::int`,
      browsers: sql<number>`(count(*) filter (where ${isChild} and ${agents.browser} = 'own'))::int`,
      total: sql<number>`count(*)::int`,
    })
    .from(agents)
    .where(and(eq(agents.rootSessionId, rootSessionId), isNull(agents.outcome)));
  return counts ?? { children: 0, browsers: 0, total: 0 };
}

/** The names of all sub-agents under a root session. */
export async function listNames(tx: Transaction, rootSessionId: string): Promise<string[]> {
  const rows = await tx
    .select({ name: agents.name })
    .from(agents)
    .where(eq(agents.rootSessionId, rootSessionId));
  return rows.map(({ name }) => name);
}

/**
 * Records that a call or turn (`reader`) has shown the results of these sub-agents to the parent's model. A sub-agent
 * for which an earlier reader is already recorded stays unchanged.
 */
export async function markReported(db: Executor, sessionIds: string[], reader: string): Promise<void> {
  if (sessionIds.length === 0) return;
  await db
    .update(agents)
    .set({ reportedIn: reader })
    .where(and(inArray(agents.sessionId, sessionIds), isNull(agents.reportedIn)));
}

/** Whether a run may spawn and message sub-agents: it is running, and no stop was requested. */
export async function mayDelegate(tx: Transaction, runId: string): Promise<boolean> {
  const [run] = await tx
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.id, runId), eq(runs.state, "running"), isNull(runs.cancelRequestedAt)));
  return run !== undefined;
}

/**
 * Reads the session that delegates, and the row that describes it as a sub-agent (`agent`). The row is null if the
 * session is not a sub-agent. The result is undefined if the session does not exist.
 */
export async function readParent(db: Executor, sessionId: string) {
  const [row] = await db
    .select({ session: sessionColumns, agent: agents })
    .from(sessions)
    .leftJoin(agents, eq(agents.sessionId, sessions.id))
    .where(eq(sessions.id, sessionId));
  return row;
}

/**
 * The source of a session, and the ids of its open run and request, for an event in the session's log. The ids are null
 * if no run is open.
 * @throws Error if the session does not exist.
 */
export async function readOpenRun(
  tx: Transaction,
  sessionId: string,
): Promise<{ requestId: string | null; runId: string | null; source: typeof sessions.$inferSelect.source }> {
  const [row] = await tx
    .select({ source: sessions.source, runId: runs.id, requestId: runs.requestId })
    .from(sessions)
    .leftJoin(
      runs,
      and(
        eq(runs.sessionId, sessions.id),
        inArray(runs.state, OPEN_STATES),
        sql`(${sessions.activeRunId} is null or ${runs.id} = ${sessions.activeRunId})`,
      ),
    )
    .where(eq(sessions.id, sessionId))
    .orderBy(asc(runs.createdAt))
    .limit(1);
  if (!row) throw new Error(`there is no session ${sessionId}`);
  return row;
}

/** The usage of a session's children, and the part of this usage that earlier runs of the session have already reported. */
export async function readDelegatedUsage(
  tx: Transaction,
  sessionId: string,
): Promise<{ all: UsageRow[]; reported: UsageRow[] }> {
  const children = await tx
    .select({ usage: agents.usage })
    .from(agents)
    .where(eq(agents.parentSessionId, sessionId));
  const earlier = await tx
    .select({ usage: runs.usage })
    .from(runs)
    .where(and(eq(runs.sessionId, sessionId), sql`${runs.usage} ? 'delegated'`));
  return {
    all: children.flatMap(({ usage }) => usage ?? []),
    reported: earlier.flatMap(({ usage }) => (usage?.delegated ? [usage.delegated] : [])),
  };
}

/**
 * The owner of a session. The threads that check schemas are shared fairly between owners, so a check needs the owner's
 * id.
 */
export async function findSessionOwner(db: Executor, sessionId: string): Promise<string | undefined> {
  const [row] = await db
    .select({ ownerId: sessions.ownerId })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  return row?.ownerId;
}

/** Describes the last step of each session. A session without a step has no entry. */
export async function listLastSteps(db: Executor, sessionIds: string[]): Promise<Map<string, string>> {
  if (sessionIds.length === 0) return new Map();
  // Reads each log backwards from its end, so that the cost does not grow with the log.
  const last = db
    .select({ kind: events.kind, body: events.body })
    .from(events)
    .where(and(eq(events.sessionId, sessions.id), inArray(events.kind, Object.keys(STEP_WORDS))))
    .orderBy(desc(events.seq))
    .limit(1)
    .as("last");
  const rows = await db
    .select({
      sessionId: sessions.id,
      kind: last.kind,
      toolName: sql<string | null>`${last.body}::json ->> 'toolName'`,
    })
    .from(sessions)
    .innerJoinLateral(last, sql`true`)
    .where(inArray(sessions.id, sessionIds));
  return new Map(
    rows.map(({ sessionId, kind, toolName }) => [sessionId, STEP_WORDS[kind]?.(toolName ?? "") ?? ""]),
  );
}

const STEP_WORDS: Record<string, (tool: string) => string> = {
  "run.started": () => "began its turn",
  "message.completed": () => "wrote a message",
  "tool.call": (tool) => `calls ${tool}`,
  "tool.result": (tool) => `called ${tool}`,
  "turn.waiting": () => "waits",
  "run.completed": () => "ended its turn",
};

/** Maps each of these sessions to the id of its newest request. A session without a request has no entry. */
export async function listNewestRequests(db: Executor, sessionIds: string[]): Promise<Map<string, string>> {
  if (sessionIds.length === 0) return new Map();
  const newest = db
    .select({ id: requests.id })
    .from(requests)
    .where(eq(requests.sessionId, sessions.id))
    .orderBy(desc(requests.position))
    .limit(1)
    .as("newest");
  const rows = await db
    .select({ sessionId: sessions.id, requestId: newest.id })
    .from(sessions)
    .innerJoinLateral(newest, sql`true`)
    .where(inArray(sessions.id, sessionIds));
  return new Map(rows.map(({ sessionId, requestId }) => [sessionId, requestId]));
}
