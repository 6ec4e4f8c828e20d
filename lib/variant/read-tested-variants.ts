import type { Executor } from "#db/client.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import { listVariantSummaries } from "./variant-store.ts";

/** Reads the newest revision of each variant with its check, in the shape in which a QA report stores it. */
export async function readTestedVariants(
  db: Executor,
  sessionId: string,
): Promise<{ variant: string; revision: number; check: VariantSummary["check"] }[]> {
  // Only the URLs of publications need a base URL, and the result has no publications.
  const variants = await listVariantSummaries(db, sessionId, "");
  return variants.map(({ key, revision, check }) => ({ variant: key, revision, check }));
}
