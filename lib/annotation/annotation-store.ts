import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { annotations, sessions } from "#db/schema/index.ts";
import type { AnnotationStatus } from "#db/schema/unions.ts";
import { defineStatement, queryRows } from "#db/statement.ts";
import { storable } from "#db/storable.ts";

export type AnnotationRow = typeof annotations.$inferSelect;

/** The part of an annotation that changes after it was submitted. */
export type AnnotationState = Pick<AnnotationRow, "status" | "resolution" | "resolvedBy" | "sentRequestId">;

/** The state of an annotation that was just submitted. */
export const OPEN: AnnotationState = {
  status: "open",
  resolution: null,
  resolvedBy: null,
  sentRequestId: null,
};

/** Limits for one session: the number of its annotations, and their total size in bytes. 0 means no limit. */
export type AnnotationLimits = { count: number; bytes: number };

const insertCounted = defineStatement<
  "id" | "sessionId" | "event" | "payload" | "createdAt" | "bytes" | "countMax" | "bytesMax"
>((value) => {
  const bytes = sql`s.annotation_bytes + ${value("bytes")}::bigint`;
  const isWithin = (total: typeof bytes, max: typeof bytes) => sql`(${max} = 0 or ${total} <= ${max})`;
  return sql`
    with counted as (
      update ${sessions} s set annotation_count = s.annotation_count + 1, annotation_bytes = ${bytes}
      where s.id = ${value("sessionId")}
        and ${isWithin(sql`s.annotation_count + 1`, sql`${value("countMax")}::bigint`)}
        and ${isWithin(bytes, sql`${value("bytesMax")}::bigint`)}
      returning s.id
    )
    insert into ${annotations} (id, session_id, event, payload, created_at)
    select ${value("id")}, counted.id, ${value("event")}, ${value("payload")}::json, ${value("createdAt")}::timestamptz
    from counted returning id`;
});

/**
 * Stores an annotation if the session stays within its limits. The same statement updates the session's counters and so
 * locks the session's row. Concurrent inserts therefore cannot exceed a limit.
 *
 * @returns whether the annotation was stored. False also if the session does not exist.
 */
export async function insertAnnotation(
  tx: Transaction,
  row: Pick<AnnotationRow, "id" | "sessionId" | "event" | "payload" | "createdAt">,
  limits: AnnotationLimits,
): Promise<boolean> {
  const payload = JSON.stringify(row.payload);
  const rows = await queryRows(
    tx,
    insertCounted({
      ...row,
      payload,
      createdAt: row.createdAt.toISOString(),
      bytes: Buffer.byteLength(payload),
      countMax: limits.count,
      bytesMax: limits.bytes,
    }),
  );
  return rows.length === 1;
}

/**
 * Lists annotations of a session, newest first.
 *
 * @param page.status only annotations with one of these. All if omitted.
 * @param page.cursor id of the last row on the previous page. An unknown id gives an empty page.
 */
export function listAnnotationRows(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number; status?: readonly AnnotationStatus[] },
): Promise<AnnotationRow[]> {
  const start = alias(annotations, "start");
  const cursor = db
    .select({ createdAt: start.createdAt, id: start.id })
    .from(start)
    .where(and(eq(start.sessionId, sessionId), eq(start.id, page.cursor ?? "")));
  return db
    .select()
    .from(annotations)
    .where(
      and(
        eq(annotations.sessionId, sessionId),
        page.status && inArray(annotations.status, [...page.status]),
        page.cursor === undefined
          ? undefined
          : sql`(${annotations.createdAt}, ${annotations.id}) < ${cursor}`,
      ),
    )
    .orderBy(desc(annotations.createdAt), desc(annotations.id))
    .limit(page.limit);
}

/** Whether the session has an annotation with this id. */
export async function hasAnnotation(db: Executor, sessionId: string, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: annotations.id })
    .from(annotations)
    .where(and(eq(annotations.sessionId, sessionId), eq(annotations.id, id)));
  return rows.length === 1;
}

/** Finds annotations of a session by their ids, in any order. */
export const findAnnotations = (
  db: Executor,
  sessionId: string,
  ids: readonly string[],
): Promise<AnnotationRow[]> =>
  db
    .select()
    .from(annotations)
    .where(and(eq(annotations.sessionId, sessionId), inArray(annotations.id, [...ids])));

/** Finds the annotations that a request's message sent, and that have not changed since. */
export const findSentAnnotations = (
  db: Executor,
  sessionId: string,
  requestId: string,
): Promise<AnnotationRow[]> =>
  db
    .select()
    .from(annotations)
    .where(
      and(
        eq(annotations.sessionId, sessionId),
        eq(annotations.sentRequestId, requestId),
        eq(annotations.status, "sent"),
      ),
    );

/** Writes the state of an annotation. The caller has locked the session. */
export async function updateAnnotation(
  tx: Transaction,
  id: string,
  state: Partial<AnnotationState>,
): Promise<void> {
  await tx.update(annotations).set(storable(state)).where(eq(annotations.id, id));
}

/** Removes an annotation, and takes it off the session's counters. The caller has locked the session. */
export async function deleteAnnotation(
  tx: Transaction,
  { id, sessionId, payload }: AnnotationRow,
): Promise<void> {
  await tx.delete(annotations).where(eq(annotations.id, id));
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  await tx
    .update(sessions)
    .set({
      annotationCount: sql`greatest(0, ${sessions.annotationCount} - 1)`,
      annotationBytes: sql`greatest(0, ${sessions.annotationBytes} - ${bytes})`,
    })
    .where(eq(sessions.id, sessionId));
}
