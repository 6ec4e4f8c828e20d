import { and, asc, desc, eq, inArray, sql } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { agents, evidence } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { OPEN } from "#lib/session/store/run-store.ts";

export type EvidenceRow = typeof evidence.$inferSelect;

/**
 * Inserts a row, whose `createdAt` the database sets.
 *
 * @param stored the path of the file with the bytes, or bytes that are stored together with the row in the database.
 * @returns false, without a change, if a row with this id exists.
 */
export async function insertEvidence(
  db: Database,
  row: Omit<typeof evidence.$inferInsert, "path">,
  stored: { path: string } | { bytes: Uint8Array },
): Promise<boolean> {
  const insert = async (tx: Executor, path: string) => {
    const added = await tx
      .insert(evidence)
      .values({ ...row, path })
      .onConflictDoNothing({ target: evidence.id })
      .returning({ id: evidence.id });
    return added.length > 0;
  };
  if ("path" in stored) return insert(db, stored.path);
  return db.transaction(async (tx) => {
    const path = await insertBytes(tx, stored.bytes);
    const isNew = await insert(tx, path);
    if (!isNew) await tx.execute(sql`select lo_unlink(${oidOf(path)}::oid)`);
    return isNew;
  });
}

/** SQL condition for the rows that a session may read: its own, and those of its direct and indirect sub-agents. */
const isOfTree = (sessionId: string) =>
  sql`${evidence.sessionId} = any(array(with recursive family as (
    select ${sessionId}::text as id
    union select child.session_id from ${agents} child join family on child.parent_session_id = family.id
  ) select id from family))`;

/** Lists the evidence of a session and of its direct and indirect sub-agents, oldest first. */
export function listEvidence(db: Database, sessionId: string): Promise<EvidenceRow[]> {
  return db
    .select()
    .from(evidence)
    .where(isOfTree(sessionId))
    .orderBy(asc(evidence.createdAt), asc(evidence.id));
}

/** Lists the newest evidence of the same sessions, newest first, and counts all of it. */
export async function listNewestEvidence(
  db: Database,
  sessionId: string,
  limit: number,
): Promise<{ rows: EvidenceRow[]; total: number }> {
  const found = await db
    .select({ row: evidence, total: sql`count(*) over ()`.mapWith(Number) })
    .from(evidence)
    .where(isOfTree(sessionId))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
    .limit(limit);
  return { rows: found.map(({ row }) => row), total: found[0]?.total ?? 0 };
}

/** Returns a row of the session or of one of its direct or indirect sub-agents; undefined if none has this id. */
export async function findEvidence(
  db: Database,
  sessionId: string,
  id: string,
): Promise<EvidenceRow | undefined> {
  const [row] = await db
    .select()
    .from(evidence)
    .where(and(eq(evidence.id, id), isOfTree(sessionId)));
  return row;
}

/**
 * A position in a list that is sorted by creation time. `createdAt` is the timestamp as the database prints it, because
 * a `Date` would lose the microseconds.
 */
export type EvidencePosition = { createdAt: string; id: string };

/** A row of evidence that is old enough to be removed. */
export type OldEvidence = Pick<EvidenceRow, "sessionId" | "path"> & EvidencePosition;

/** Selects old evidence: at most `limit` rows that were created before `before` and come after the position `after`. */
export type OldEvidencePage = { before: Date; after: EvidencePosition | null; limit: number };

/**
 * Lists evidence that was created before a time, oldest first. Skips sessions that have an open run. If `hasFiles` is
 * false, also skips evidence whose bytes are in files.
 */
export function listOldEvidence(
  db: Database,
  { before, after, limit, hasFiles }: OldEvidencePage & { hasFiles: boolean },
): Promise<OldEvidence[]> {
  const isInReach = hasFiles ? sql`` : sql`and starts_with(path, ${PREFIX})`;
  const isAfter = after ? sql`and (created_at, id) > (${after.createdAt}::timestamptz, ${after.id})` : sql``;
  return queryRows<OldEvidence>(
    db,
    sql`select id, session_id as "sessionId", path, created_at::text as "createdAt" from evidence
      where created_at < ${before.toISOString()}::timestamptz and not exists (
        select from runs where runs.session_id = evidence.session_id and runs.state in ${OPEN}) ${isAfter} ${isInReach}
      order by created_at, id limit ${limit}`,
  );
}

/** Deletes rows of evidence, together with bytes that are in the database. @returns the number of deleted rows. */
export async function deleteEvidence(
  db: Database,
  rows: readonly Pick<EvidenceRow, "id" | "path">[],
): Promise<number> {
  const ids = rows.map(({ id }) => id);
  const oids = rows.filter(({ path }) => isInDatabase(path)).map(({ path }) => oidOf(path));
  return db.transaction(async (tx) => {
    const removed = await tx.delete(evidence).where(inArray(evidence.id, ids)).returning({ id: evidence.id });
    if (oids.length > 0)
      await tx.execute(
        sql`select lo_unlink(oid) from pg_largeobject_metadata where ${inArray(sql`oid`, oids)}`,
      );
    return removed.length;
  });
}

/** A row's `path` begins with this prefix if its bytes are in the database. */
const PREFIX = "database:";

/**
 * Whether the bytes of a row with this path are in the database. Otherwise they are in a file below the data folder.
 */
export const isInDatabase = (path: string): boolean => path.startsWith(PREFIX);

const oidOf = (path: string) => Number(path.slice(PREFIX.length));

/**
 * Stores bytes as a Postgres large object. Large objects need no table of their own and are included in dumps. Source:
 * Postgres manual, Large Objects.
 *
 * @returns the value for the row's `path`.
 */
export async function insertBytes(db: Executor, bytes: Uint8Array): Promise<string> {
  const text = Buffer.from(bytes).toString("base64");
  const [row] = await queryRows<{ oid: number | string }>(
    db,
    sql`select lo_from_bytea(0, decode(${text}, 'base64')) as oid`,
  );
  if (!row) throw new Error("the id of the new large object was not returned");
  return `${PREFIX}${row.oid}`;
}

/** Reads the large object that a row's `path` names. @returns undefined if the large object does not exist. */
export async function readBytes(db: Database, path: string): Promise<Buffer | undefined> {
  const oid = oidOf(path);
  const [row] = await queryRows<{ text: string }>(
    db,
    sql`select encode(lo_get(oid), 'base64') as text from pg_largeobject_metadata where oid = ${oid}::oid`,
  );
  return row && Buffer.from(row.text, "base64");
}
