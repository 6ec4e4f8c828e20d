import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { variantRevisions, variants } from "#db/schema/index.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { VariantDocument } from "./document.ts";
import { listRejectedChanges, type RejectedChange } from "./rejected-changes.ts";
import { describeDifference, type UsedIds } from "./revise.ts";
import { findRevision, listVariantSummaries } from "./variant-store.ts";

/** The ids that a variant's changes have had, and the changes that people have rejected. */
type VariantHistory = { used: UsedIds; rejected: RejectedChange[] };

/**
 * Reads the history of a variant from the revisions that are kept, and the highest number of an id from all revisions.
 */
export async function readVariantHistory(
  db: Executor,
  sessionId: string,
  key: string,
): Promise<VariantHistory> {
  const ofVariant = and(eq(variantRevisions.sessionId, sessionId), eq(variantRevisions.key, key));
  const [variant] = await db
    .select({ lastChange: variants.lastChange })
    .from(variants)
    .where(and(eq(variants.sessionId, sessionId), eq(variants.key, key)));
  if (!variant) return { used: { lastNumber: 0, ids: new Set() }, rejected: [] };
  const ids = await db
    .selectDistinct({ id: sql<string>`change ->> 'id'` })
    .from(
      sql`${variantRevisions}, json_array_elements(${variantRevisions.document} -> 'pages') as page, json_array_elements(page -> 'changes') as change`,
    )
    .where(ofVariant);
  const { number, author, document } = getTableColumns(variantRevisions);
  const people = db
    .select({ number })
    .from(variantRevisions)
    .where(and(ofVariant, eq(author, "person")));
  const revisions = await db
    .select({ number, author, document })
    .from(variantRevisions)
    .where(and(ofVariant, sql`(${number} in ${people} or ${number} + 1 in ${people})`))
    .orderBy(number);
  return {
    used: { lastNumber: variant.lastChange, ids: new Set(ids.map(({ id }) => id)) },
    // The cast is safe, because documents were validated before they were stored.
    rejected: listRejectedChanges(
      revisions.map((row) => ({ ...row, document: row.document as VariantDocument })),
    ),
  };
}

/** A variant as the instructions of a turn describe it. */
export type VariantState = VariantSummary & {
  /** Whether the live browsers show it. */
  isShown: boolean;
  /** What people have changed since the agent's newest revision. Null if they have changed nothing. */
  edits: { since: number; lines: string[] } | null;
};

/** Reads the variants of a session for the instructions of a turn, in the order in which they were created. */
export async function listVariantStates(
  db: Executor,
  sessionId: string,
  baseUrl: string,
): Promise<VariantState[]> {
  const summaries = await listVariantSummaries(db, sessionId, baseUrl);
  return Promise.all(
    summaries.map(async (summary) => {
      const newest = await findRevision(db, sessionId, summary.key);
      const isEdited = newest?.author === "person";
      const edits = isEdited ? await describeEdits(db, sessionId, summary.key, newest.document) : null;
      return { ...summary, isShown: newest?.isShown === true, edits };
    }),
  );
}

async function describeEdits(
  db: Executor,
  sessionId: string,
  key: string,
  now: VariantDocument,
): Promise<VariantState["edits"]> {
  const [seen] = await db
    .select({ number: variantRevisions.number, document: variantRevisions.document })
    .from(variantRevisions)
    .where(
      and(
        eq(variantRevisions.sessionId, sessionId),
        eq(variantRevisions.key, key),
        eq(variantRevisions.author, "agent"),
      ),
    )
    .orderBy(desc(variantRevisions.number))
    .limit(1);
  // The cast is safe, because documents were validated before they were stored.
  return seen
    ? { since: seen.number, lines: describeDifference(seen.document as VariantDocument, now) }
    : null;
}
