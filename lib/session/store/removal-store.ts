import { and, eq, gt, inArray, isNotNull, isNull, lt, ne, not, or, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client.ts";
import {
  browsers,
  deliveries,
  evidence,
  outbox,
  publications,
  removals,
  runs,
  sessions,
} from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { isTouched } from "./idle-session-store.ts";
import { removeUnpublishedPages } from "./page-removal-store.ts";
import { isOpen } from "./run-store.ts";

/**
 * How many rows of a session and its sub-agents were removed, by kind, and the size of the removed evidence in bytes.
 */
export type RemovedRows = {
  sessions: number;
  requests: number;
  runs: number;
  messages: number;
  events: number;
  toolCalls: number;
  deliverables: number;
  annotations: number;
  elicitations: number;
  deliveries: number;
  evidence: number;
  evidenceBytes: number;
  secrets: number;
  shareLinks: number;
  /** Number of revisions of all variants. */
  variantRevisions: number;
  previews: number;
  reports: number;
  /** Number of workspaces that had been started. */
  workspaces: number;
  /** Number of browsers that were starting or running. */
  browsers: number;
};

/** A published variant, which remains when its session is removed. */
export type KeptPublication = { id: string; variant: string };

/** The result of a removal: the removed sessions, their runs, the removed rows, and what remains. */
export type Removal = {
  sessionIds: string[];
  /** Ids of all runs. The check for leftover rows uses them. */
  runIds: string[];
  openRunIds: string[];
  rows: RemovedRows;
  publications: KeptPublication[];
  /** Slugs of the landing pages that remain. */
  pages: string[];
};

/**
 * Removes a session of this owner and its sub-agents, with all their rows and large objects. Only published variants
 * and landing pages remain. Also records the removal, so that every process can remove the data that it stores outside
 * the database.
 *
 * @param unlessTouchedSince if set, a session that was used at or after this time, or that has an open run, is not
 * removed.
 * @returns undefined if the owner has no such session, or if the session was not removed.
 */
export async function removeSessionRows(
  tx: Transaction,
  sessionId: string,
  ownerId: string,
  unlessTouchedSince?: Date,
): Promise<Removal | undefined> {
  const sessionIds = await lockFamily(tx, sessionId, ownerId);
  if (sessionIds.length === 0) return undefined;
  const found = await tx
    .select({ id: runs.id, state: runs.state })
    .from(runs)
    .where(inArray(runs.sessionId, sessionIds));
  const open = found.filter(isOpen);
  if (unlessTouchedSince) {
    if (open.length > 0 || (await isTouched(tx, sessionIds, unlessTouchedSince))) return undefined;
  }
  const rows = await countRows(tx, sessionIds);
  const published = await tx
    .select({ id: publications.id, variant: publications.variant })
    .from(publications)
    .where(and(inArray(publications.sessionId, sessionIds), isNotNull(publications.release)))
    .orderBy(publications.createdAt, publications.id);
  await tx
    .delete(publications)
    .where(and(inArray(publications.sessionId, sessionIds), isNull(publications.release)));
  const pages = await removeUnpublishedPages(tx, sessionIds);
  await forgetJobs(tx, sessionIds);
  await tx.execute(sql`
    select lo_unlink(large.oid) from ${evidence} join pg_largeobject_metadata large
      on ${evidence.path} = 'database:' || large.oid where ${inArray(evidence.sessionId, sessionIds)}`);
  await tx.insert(removals).values(sessionIds.map((id) => ({ sessionId: id })));
  await tx.delete(sessions).where(inArray(sessions.id, sessionIds));
  return {
    sessionIds,
    runIds: found.map(({ id }) => id),
    openRunIds: open.map(({ id }) => id),
    rows,
    publications: published,
    pages,
  };
}

/**
 * Locks a session and all its descendants, level by level, before all other rows (`architecture.md`, Locks). A locked
 * session cannot get more children.
 */
async function lockFamily(tx: Transaction, sessionId: string, ownerId: string): Promise<string[]> {
  const family: string[] = [];
  let found = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, sessionId), eq(sessions.ownerId, ownerId)))
    .for("update");
  while (found.length > 0) {
    const parents = found.map(({ id }) => id);
    family.push(...parents);
    found = await tx
      .select({ id: sessions.id })
      .from(sessions)
      .where(inArray(sessions.parentSessionId, parents))
      .orderBy(sessions.id)
      .for("update");
  }
  return family;
}

const COUNTED = {
  requests: "requests",
  runs: "runs",
  messages: "messages",
  events: "events",
  toolCalls: "tool_calls",
  deliverables: "deliverables",
  annotations: "annotations",
  elicitations: "elicitations",
  deliveries: "deliveries",
  evidence: "evidence",
  secrets: "sealed_secrets",
  shareLinks: "share_tokens",
  variantRevisions: "variant_revisions",
  previews: "previews",
  reports: "reports",
} as const satisfies Partial<Record<keyof RemovedRows, string>>;

async function countRows(tx: Transaction, sessionIds: string[]): Promise<RemovedRows> {
  const counts = Object.entries(COUNTED).map(
    ([name, table]) =>
      sql`(select count(*)::int from ${sql.identifier(table)} where session_id in ${sessionIds}) as ${sql.identifier(name)}`,
  );
  const others = sql`
    (select coalesce(sum(size_bytes), 0)::float8 from ${evidence} where session_id in ${sessionIds}) as "evidenceBytes",
    (select count(*)::int from ${sessions} where id in ${sessionIds} and startup_status <> 'uninitialized') as workspaces,
    (select count(*)::int from ${browsers} where session_id in ${sessionIds} and status in ('creating', 'ready')) as browsers`;
  const rows = await queryRows<Omit<RemovedRows, "sessions">>(
    tx,
    sql`select ${sql.join(counts, sql`, `)}, ${others}`,
  );
  const [row] = rows;
  if (!row) throw new Error("the database returned no counts");
  return { sessions: sessionIds.length, ...row };
}

/**
 * Deletes the jobs of these sessions' runs and callbacks from the outbox. Jobs of test runs remain there, and the
 * engine keeps the jobs that it already has. When such a job is executed, it finds no row and does nothing.
 */
async function forgetJobs(tx: Transaction, sessionIds: string[]): Promise<void> {
  const ofRuns = sql`select ${runs.id} || ':' || sent.number from ${runs},
    generate_series(1, ${runs.generation}) sent (number) where ${inArray(runs.sessionId, sessionIds)}`;
  const ofDeliveries = sql`select ${deliveries.id} || ':' || asked.number || ending.text from ${deliveries},
    generate_series(1, ${deliveries.cycle}) asked (number),
    lateral (select '' as text union all select ':' || n from generate_series(1, ${deliveries.generation}) n) ending
    where ${inArray(deliveries.sessionId, sessionIds)}`;
  const jobs = sql`select id from ${outbox} where id in (${ofRuns} union all ${ofDeliveries}) order by id for update`;
  await tx.delete(outbox).where(sql`${outbox.id} in (${jobs})`);
}

/** Records that no data of a removed session is left. @returns whether this call recorded it. */
export async function markVerified(db: Database, sessionId: string): Promise<boolean> {
  const marked = await db
    .update(removals)
    .set({ verifiedAt: sql`now()` })
    .where(and(eq(removals.sessionId, sessionId), isNull(removals.verifiedAt)))
    .returning({ sessionId: removals.sessionId });
  return marked.length > 0;
}

/** The record of a removed session, with the state of the removal of its data outside the database. */
type RemovalRow = typeof removals.$inferSelect;

/** Lists the removals after `since`, and all pending and unverified removals. */
export const listRemovals = (db: Database, since: Date): Promise<RemovalRow[]> =>
  db
    .select()
    .from(removals)
    .where(or(gt(removals.removedAt, since), removals.isPending, isNull(removals.verifiedAt)));

/** Records whether data of a removed session still has to be removed. */
export async function markRemoval(db: Database, sessionId: string, isPending: boolean): Promise<void> {
  await db
    .update(removals)
    .set({ isPending })
    .where(and(eq(removals.sessionId, sessionId), ne(removals.isPending, isPending)));
}

/** Deletes the records of the removals before a time, except pending and unverified removals. */
export async function pruneRemovals(db: Database, before: Date): Promise<void> {
  await db
    .delete(removals)
    .where(and(lt(removals.removedAt, before), not(removals.isPending), isNotNull(removals.verifiedAt)));
}
