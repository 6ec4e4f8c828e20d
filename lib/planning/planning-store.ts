import { and, asc, eq, inArray, isNotNull, ne, or, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import {
  agents,
  evidence,
  plans,
  type RequirementEvidence,
  requirements,
  sessions,
} from "#db/schema/index.ts";
import type { PlanMode } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";

export type PlanRow = typeof plans.$inferSelect;
export type RequirementRow = typeof requirements.$inferSelect;

/** Finds the plan of a root session. Returns undefined if nothing has been written to the plan yet. */
export async function findPlan(db: Executor, rootSessionId: string): Promise<PlanRow | undefined> {
  const [row] = await db.select().from(plans).where(eq(plans.sessionId, rootSessionId));
  return row;
}

/** Reads the mode of a root session's plan. Returns `off` if the session has no plan. */
export async function readPlanMode(db: Executor, rootSessionId: string): Promise<PlanMode> {
  const [row] = await db.select({ mode: plans.mode }).from(plans).where(eq(plans.sessionId, rootSessionId));
  return row?.mode ?? "off";
}

type PlanChange = Partial<Omit<typeof plans.$inferInsert, "sessionId" | "createdAt" | "updatedAt">>;

/**
 * Writes the given columns of a root session's plan, and creates the plan if necessary. The caller has locked the
 * session.
 */
export async function writePlan(tx: Transaction, sessionId: string, change: PlanChange): Promise<PlanRow> {
  // The session page ignores a plan with an earlier `updatedAt` than the plan that the page already shows. Each change
  // therefore needs a later time than the change before it. `now()` would not do: it is the time at which the
  // transaction began.
  const set = { ...storable(change), updatedAt: sql`clock_timestamp()` };
  const [row] = await tx
    .insert(plans)
    .values({ sessionId, ...set })
    .onConflictDoUpdate({ target: plans.sessionId, set })
    .returning();
  if (!row) throw new Error(`the plan of session ${sessionId} was not written`);
  return row;
}

/** Lists the requirements of a root session, in the order in which they were added. */
export const listRequirementRows = (db: Executor, rootSessionId: string): Promise<RequirementRow[]> =>
  db
    .select()
    .from(requirements)
    .where(eq(requirements.sessionId, rootSessionId))
    .orderBy(asc(requirements.number));

/** The parts of the plan and of the requirements that the model's instructions for a turn contain. */
export type PlanningState = {
  plan: Pick<PlanRow, "mode" | "items" | "revision"> | null;
  /** The first `UNMET_MAX` requirements that are open or failed. */
  unmet: Pick<RequirementRow, "number" | "status" | "text">[];
};

const UNMET_MAX = 20;

/** Reads the plan of a root session and its unmet requirements, in one query. */
export async function readPlanningState(db: Executor, rootSessionId: string): Promise<PlanningState> {
  const [row] = await db
    .select({
      plan: { mode: plans.mode, items: plans.items, revision: plans.revision },
      unmet: sql<PlanningState["unmet"]>`(
        select coalesce(json_agg(unmet order by unmet.number), '[]'::json) from (
          select number, status, text from ${requirements}
          where ${requirements.sessionId} = ${rootSessionId} and ${requirements.status} in ('open', 'failed')
          order by number limit ${UNMET_MAX}
        ) as unmet
      )`,
    })
    .from(sessions)
    .leftJoin(plans, eq(plans.sessionId, sessions.id))
    .where(eq(sessions.id, rootSessionId));
  return row ?? { plan: null, unmet: [] };
}

/** Lists the requirements of a root session that have an assertion and are not waived. */
export const listAssertedRows = (db: Executor, rootSessionId: string): Promise<RequirementRow[]> =>
  db
    .select()
    .from(requirements)
    .where(
      and(
        eq(requirements.sessionId, rootSessionId),
        isNotNull(requirements.assertion),
        ne(requirements.status, "waived"),
      ),
    )
    .orderBy(asc(requirements.number));

type NewRequirementRow = Pick<
  typeof requirements.$inferInsert,
  "sessionId" | "number" | "text" | "assertion" | "author" | "runId" | "callId"
>;

/** Adds requirements. The caller has locked the session. */
export async function insertRequirements(
  tx: Transaction,
  rows: NewRequirementRow[],
): Promise<RequirementRow[]> {
  if (rows.length === 0) return [];
  return tx.insert(requirements).values(storable(rows)).returning();
}

type RequirementChange = Partial<
  Pick<
    typeof requirements.$inferInsert,
    "text" | "status" | "note" | "evidence" | "assertion" | "outcome" | "updateRunId" | "updateCallId"
  >
>;

/** Changes a requirement. The caller has locked the session. */
export async function updateRequirementRow(
  tx: Transaction,
  { sessionId, number }: Pick<RequirementRow, "sessionId" | "number">,
  change: RequirementChange,
): Promise<RequirementRow> {
  const [row] = await tx
    .update(requirements)
    .set({ ...storable(change), updatedAt: sql`clock_timestamp()` })
    .where(and(eq(requirements.sessionId, sessionId), eq(requirements.number, number)))
    .returning();
  if (!row) throw new Error(`requirement r${number} of session ${sessionId} is gone`);
  return row;
}

/**
 * Reads the evidence with these ids. Leaves out evidence that belongs neither to the root session nor to one of its
 * sub-agents.
 */
export async function listTreeEvidence(
  db: Executor,
  rootSessionId: string,
  ids: readonly string[],
): Promise<RequirementEvidence[]> {
  if (ids.length === 0) return [];
  const tree = db
    .select({ id: agents.sessionId })
    .from(agents)
    .where(eq(agents.rootSessionId, rootSessionId));
  const { id, sessionId, kind, title, url, mediaType } = evidence;
  return db
    .select({ id, sessionId, kind, title, url, mediaType })
    .from(evidence)
    .where(and(inArray(id, [...ids]), or(eq(sessionId, rootSessionId), inArray(sessionId, tree))));
}
