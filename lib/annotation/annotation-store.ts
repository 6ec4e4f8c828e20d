import { and, desc, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Transaction } from "#db/client.ts";
import { annotations } from "#db/schema/index.ts";

export type AnnotationRow = typeof annotations.$inferSelect;

/** Stores an annotation. */
export async function insertAnnotation(tx: Transaction, row: AnnotationRow): Promise<void> {
  await tx.insert(annotations).values(row);
}

/**
 * Annotations of a session, newest first.
 *
 * @param page.cursor id of the row after which the page begins; an unknown one has nothing after it.
 */
export function listAnnotationRows(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
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
        page.cursor === undefined
          ? undefined
          : sql`(${annotations.createdAt}, ${annotations.id}) < ${cursor}`,
      ),
    )
    .orderBy(desc(annotations.createdAt), desc(annotations.id))
    .limit(page.limit);
}

/** Whether a session has this annotation. */
export async function hasAnnotation(db: Database, sessionId: string, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: annotations.id })
    .from(annotations)
    .where(and(eq(annotations.sessionId, sessionId), eq(annotations.id, id)));
  return rows.length === 1;
}
