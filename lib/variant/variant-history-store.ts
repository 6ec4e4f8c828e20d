import { and, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { variantRevisions, variants } from "#db/schema/index.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import { describeDifference } from "./describe-difference.ts";
import type { VariantDocument } from "./document.ts";
import { listRejectedChanges, type RejectedChange } from "./rejected-changes.ts";
import type { UsedIds } from "./revise.ts";
import { isNewestRevision, listVariantSummaries } from "./variant-store.ts";

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

/**
 * Reads the variants of a session for the instructions of a turn, in the order in which they were created. Takes three
 * statements at most, and reads the documents of edited variants only.
 */
export async function listVariantStates(
  db: Executor,
  sessionId: string,
  baseUrl: string,
): Promise<VariantState[]> {
  const [summaries, newest] = await Promise.all([
    listVariantSummaries(db, sessionId, baseUrl),
    listNewest(db, sessionId),
  ]);
  const edited = newest.filter(({ document }) => document !== null).map(({ key }) => key);
  const seen = await listSeen(db, sessionId, edited);
  return summaries.map((summary) => {
    const { isShown = false, document } = newest.find(({ key }) => key === summary.key) ?? {};
    const before = seen.find(({ key }) => key === summary.key);
    // The casts are safe, because documents were validated before they were stored.
    const edits =
      document && before
        ? {
            since: before.number,
            lines: describeDifference(before.document as VariantDocument, document as VariantDocument),
          }
        : null;
    return { ...summary, isShown, edits };
  });
}

/** Lists the variants of a session, with the newest document of those that a person was the last to edit. */
const listNewest = (db: Executor, sessionId: string) =>
  db
    .select({
      key: variants.key,
      isShown: variants.isShown,
      document: sql<unknown>`case when ${variantRevisions.author} = 'person' then ${variantRevisions.document} end`,
    })
    .from(variants)
    .innerJoin(variantRevisions, isNewestRevision)
    .where(eq(variants.sessionId, sessionId));

/** Lists the newest revision of the agent of each of these variants. */
const listSeen = async (db: Executor, sessionId: string, keys: string[]) =>
  keys.length === 0
    ? []
    : db
        .selectDistinctOn([variantRevisions.key], {
          key: variantRevisions.key,
          number: variantRevisions.number,
          document: variantRevisions.document,
        })
        .from(variantRevisions)
        .where(
          and(
            eq(variantRevisions.sessionId, sessionId),
            inArray(variantRevisions.key, keys),
            eq(variantRevisions.author, "agent"),
          ),
        )
        .orderBy(variantRevisions.key, desc(variantRevisions.number));
