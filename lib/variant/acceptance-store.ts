import { and, asc, eq, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { checkAcceptances } from "#db/schema/index.ts";
import { storable } from "#db/storable.ts";
import type { Acceptance } from "./check/acceptances.ts";
import type { UnexaminedPage } from "./check/conclude-check.ts";

/** Lists the acceptances of a variant's changes, in the order in which they were given. */
export async function listAcceptances(db: Executor, sessionId: string, key: string): Promise<Acceptance[]> {
  const { acceptedAt, revision, changeId } = checkAcceptances;
  const rows = await db
    .select()
    .from(checkAcceptances)
    .where(and(eq(checkAcceptances.sessionId, sessionId), eq(checkAcceptances.key, key)))
    .orderBy(asc(acceptedAt), asc(revision), asc(changeId));
  // The cast is safe, because the places were validated as part of a report before they were stored.
  return rows.map((row) => ({ ...row, places: row.places as UnexaminedPage[] }));
}

/** Stores acceptances. A later acceptance of the same change in the same revision replaces the earlier one. */
export async function insertAcceptances(
  tx: Transaction,
  variant: { sessionId: string; key: string; actor: string },
  acceptances: readonly Acceptance[],
): Promise<void> {
  const { sessionId, key, revision, changeId } = checkAcceptances;
  await tx
    .insert(checkAcceptances)
    .values(acceptances.map((each) => ({ ...variant, ...each, places: storable(each.places) })))
    .onConflictDoUpdate({
      target: [sessionId, key, revision, changeId],
      set: {
        changeHash: sql`excluded.change_hash`,
        places: sql`excluded.places`,
        acceptedBy: sql`excluded.accepted_by`,
        actor: sql`excluded.actor`,
        acceptedAt: sql`excluded.accepted_at`,
      },
    });
}
