import { and, asc, eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { evidence } from "#db/schema/index.ts";

/** A row of evidence as it is written and read. */
export type EvidenceRow = typeof evidence.$inferSelect;

/** Writes a row; its time is the database's. */
export async function insertEvidence(db: Database, row: typeof evidence.$inferInsert): Promise<void> {
  await db.insert(evidence).values(row);
}

/** A session's evidence in the order it was made. */
export function listEvidence(db: Database, sessionId: string): Promise<EvidenceRow[]> {
  return db
    .select()
    .from(evidence)
    .where(eq(evidence.sessionId, sessionId))
    .orderBy(asc(evidence.createdAt), asc(evidence.id));
}

/** One row, or undefined where the session has no such evidence. */
export async function findEvidence(
  db: Database,
  sessionId: string,
  id: string,
): Promise<EvidenceRow | undefined> {
  const [row] = await db
    .select()
    .from(evidence)
    .where(and(eq(evidence.sessionId, sessionId), eq(evidence.id, id)));
  return row;
}
