import { and, asc, eq, lte, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { publications, releases, sessions, variantRevisions, variants } from "#db/schema/index.ts";
import type { CheckStatus, VariantAuthor } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import { releaseColumns } from "#lib/publication/publication-store.ts";
import { toPublication } from "#lib/publication/release.ts";
import type { CheckReport } from "./check/check-report.ts";
import { VARIANT_LIMITS, type VariantDocument } from "./document.ts";
import { findLastNumber } from "./revise.ts";

/** A stored revision. `check` is the report of its last check. Null if the revision has not been checked. */
export type Revision = {
  variant: string;
  number: number;
  author: VariantAuthor;
  document: VariantDocument;
  check: CheckReport | null;
  isShown: boolean;
  createdAt: Date;
};

const revisionColumns = {
  variant: variantRevisions.key,
  number: variantRevisions.number,
  author: variantRevisions.author,
  document: variantRevisions.document,
  check: variantRevisions.checkReport,
  isShown: variants.isShown,
  createdAt: variantRevisions.createdAt,
};

const joinRevisions = (db: Executor) =>
  db
    .select(revisionColumns)
    .from(variantRevisions)
    .innerJoin(
      variants,
      and(eq(variants.sessionId, variantRevisions.sessionId), eq(variants.key, variantRevisions.key)),
    );

type RevisionRow = Awaited<ReturnType<typeof joinRevisions>>[number];

/** The casts are safe, because documents and reports were validated before they were stored. */
const toRevision = (row: RevisionRow): Revision => ({
  ...row,
  document: row.document as VariantDocument,
  check: row.check as CheckReport | null,
});

/** The largest value of the database type `integer`. */
const INTEGER_MAX = 2_147_483_647;

/**
 * Finds the revision with this number, or the newest revision if no number is given. Returns undefined if there is no
 * such revision.
 */
export async function findRevision(
  db: Executor,
  sessionId: string,
  key: string,
  number?: number,
): Promise<Revision | undefined> {
  if (number !== undefined && number > INTEGER_MAX) return undefined;
  const [row] = await joinRevisions(db)
    .where(
      and(
        eq(variantRevisions.sessionId, sessionId),
        eq(variantRevisions.key, key),
        number === undefined
          ? eq(variantRevisions.number, variants.revision)
          : eq(variantRevisions.number, number),
      ),
    )
    .limit(1);
  return row && toRevision(row);
}

/** Finds the revision that a call stored. Returns undefined if there is no such revision. */
export async function findRevisionOfCall(
  db: Executor,
  { runId, callId }: { runId: string; callId: string },
): Promise<Revision | undefined> {
  const [row] = await joinRevisions(db).where(
    and(eq(variantRevisions.runId, runId), eq(variantRevisions.callId, callId)),
  );
  return row && toRevision(row);
}

/**
 * Finds the newest revision of the variant that the live browsers of a root session and its sub-agents show. Returns
 * undefined if they show no variant.
 */
export async function findShownRevision(db: Executor, rootSessionId: string): Promise<Revision | undefined> {
  const [row] = await joinRevisions(db).where(
    and(
      eq(variants.sessionId, rootSessionId),
      eq(variants.isShown, true),
      eq(variantRevisions.number, variants.revision),
    ),
  );
  return row && toRevision(row);
}

const summaryColumns = {
  key: variants.key,
  revision: variants.revision,
  checkStatus: variantRevisions.checkStatus,
  checkedAt: variantRevisions.checkedAt,
  release: releaseColumns,
};

/** The condition that joins a variant with its newest revision. */
export const isNewestRevision = and(
  eq(variantRevisions.sessionId, variants.sessionId),
  eq(variantRevisions.key, variants.key),
  eq(variantRevisions.number, variants.revision),
);

type CheckColumns = { checkStatus: CheckStatus | null; checkedAt: Date | null };

const toCheck = ({ checkStatus, checkedAt }: CheckColumns): VariantSummary["check"] =>
  checkStatus && checkedAt ? { status: checkStatus, at: checkedAt.toISOString() } : null;

/**
 * Lists the variants of a session, in the order in which they were created. Each variant has the check of its newest
 * revision, and its publication.
 *
 * @param baseUrl the public origin of the service, for the URLs of published scripts
 */
export async function listVariantSummaries(
  db: Executor,
  sessionId: string,
  baseUrl: string,
): Promise<VariantSummary[]> {
  const rows = await db
    .select(summaryColumns)
    .from(variants)
    .innerJoin(variantRevisions, isNewestRevision)
    .leftJoin(
      publications,
      and(eq(publications.sessionId, variants.sessionId), eq(publications.variant, variants.key)),
    )
    .leftJoin(
      releases,
      and(eq(releases.publicationId, publications.id), eq(releases.number, publications.release)),
    )
    .where(eq(variants.sessionId, sessionId))
    .orderBy(asc(variants.createdAt), asc(variants.key));
  return rows.map((row) => ({
    key: row.key,
    revision: row.revision,
    check: toCheck(row),
    publication: row.release && toPublication(baseUrl, row.release),
  }));
}

/** A variant as the session page lists it. `changeCount` is the number of changes in the newest revision. */
type VariantFacts = VariantSummary & {
  changeCount: number;
  isShown: boolean;
};

/**
 * Counts the changes of a document inside the database, because loading a large document only to count would be slow.
 */
const changeCount = sql<number>`(
  select coalesce(sum(json_array_length(page -> 'changes')), 0)::int
  from json_array_elements(${variantRevisions.document} -> 'pages') as page
)`;

/** Lists the variants of a session for the session page, in the order in which they were created. */
export async function listVariantFacts(
  db: Executor,
  sessionId: string,
  baseUrl: string,
): Promise<VariantFacts[]> {
  const summaries = await listVariantSummaries(db, sessionId, baseUrl);
  const rows = await db
    .select({ key: variants.key, isShown: variants.isShown, changeCount })
    .from(variants)
    .innerJoin(variantRevisions, isNewestRevision)
    .where(eq(variants.sessionId, sessionId));
  const facts = new Map(rows.map(({ key, ...fact }) => [key, fact]));
  return summaries.map((summary) => ({
    ...summary,
    ...(facts.get(summary.key) ?? { isShown: false, changeCount: 0 }),
  }));
}

/**
 * Locks the session and the variant until the transaction ends.
 *
 * @returns the number of the newest revision, or 0 if the variant does not exist.
 */
export async function lockVariant(tx: Transaction, sessionId: string, key: string): Promise<number> {
  // A variant that does not exist yet has no row to lock. The lock on the session's row keeps two calls from creating
  // the same variant at once.
  await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for("update");
  const [row] = await tx
    .select({ revision: variants.revision })
    .from(variants)
    .where(and(eq(variants.sessionId, sessionId), eq(variants.key, key)))
    .for("update");
  return row?.revision ?? 0;
}

/** Lists the keys of a session's variants. */
export async function listVariantKeys(db: Executor, sessionId: string): Promise<string[]> {
  const rows = await db.select({ key: variants.key }).from(variants).where(eq(variants.sessionId, sessionId));
  return rows.map(({ key }) => key);
}

type NewRevision = {
  sessionId: string;
  key: string;
  number: number;
  author: VariantAuthor;
  runId: string | null;
  callId: string | null;
  document: VariantDocument;
};

/**
 * Stores a revision as the newest one, and removes the revisions beyond the limit. The caller has locked the variant.
 */
export async function insertRevision(tx: Transaction, revision: NewRevision): Promise<void> {
  const { sessionId, key, number } = revision;
  const lastChange = findLastNumber(revision.document);
  await tx
    .insert(variants)
    .values({ sessionId, key, revision: number, lastChange })
    .onConflictDoUpdate({
      target: [variants.sessionId, variants.key],
      set: {
        revision: number,
        lastChange: sql`greatest(${variants.lastChange}, ${lastChange})`,
        updatedAt: sql`now()`,
      },
    });
  await tx.insert(variantRevisions).values({ ...revision, document: storable(revision.document) });
  await tx
    .delete(variantRevisions)
    .where(
      and(
        eq(variantRevisions.sessionId, sessionId),
        eq(variantRevisions.key, key),
        lte(variantRevisions.number, number - VARIANT_LIMITS.revisionsKept),
      ),
    );
}

/**
 * Sets the variant that the live browsers show. They show no variant if `key` is null.
 *
 * @returns false if there is no such variant; nothing is changed then.
 */
export async function setShownVariant(
  tx: Transaction,
  sessionId: string,
  key: string | null,
): Promise<boolean> {
  const ofSession = eq(variants.sessionId, sessionId);
  const isVariant = key === null ? undefined : and(ofSession, eq(variants.key, key));
  if (isVariant && (await tx.select({ key: variants.key }).from(variants).where(isVariant)).length === 0)
    return false;
  await tx
    .update(variants)
    .set({ isShown: false })
    .where(and(ofSession, eq(variants.isShown, true)));
  if (isVariant) await tx.update(variants).set({ isShown: true }).where(isVariant);
  return true;
}

/** Stores the report of a check with its revision. Does nothing if the revision no longer exists. */
export async function storeCheck(tx: Transaction, sessionId: string, report: CheckReport): Promise<void> {
  await tx
    .update(variantRevisions)
    .set({ checkStatus: report.status, checkReport: storable(report), checkedAt: new Date(report.at) })
    .where(
      and(
        eq(variantRevisions.sessionId, sessionId),
        eq(variantRevisions.key, report.variant),
        eq(variantRevisions.number, report.revision),
      ),
    );
}
