import type { Executor } from "#db/client.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { listVariantSummaries } from "./variant-store.ts";

/**
 * Reads the variants of a session, as the outcome of each of its turns contains them. Returns undefined for a
 * sub-agent, because its variants belong to the root session. A session with an output schema gets undefined instead of
 * an empty list. Source: `wire.md`, Variants.
 */
export async function readOutcome(
  db: Executor,
  session: Pick<SessionRow, "id" | "parentSessionId" | "outputSchema" | "toolset">,
  baseUrl: string,
): Promise<VariantSummary[] | undefined> {
  if (session.parentSessionId !== null) return undefined;
  // An import creates variants too, so a session without `apply_variant` can have variants.
  const creatingTools = ["apply_variant", "import_legacy_session"];
  const mayHave =
    session.outputSchema === null || session.toolset.some((name) => creatingTools.includes(name));
  const variants = mayHave ? await listVariantSummaries(db, session.id, baseUrl) : [];
  return session.outputSchema === null || variants.length > 0 ? variants : undefined;
}

/** Reads the newest revision of each variant with its check, in the shape in which a QA report stores it. */
export async function readTestedVariants(
  db: Executor,
  sessionId: string,
): Promise<{ variant: string; revision: number; check: VariantSummary["check"] }[]> {
  // Only the URLs of publications need a base URL, and the result has no publications.
  const variants = await listVariantSummaries(db, sessionId, "");
  return variants.map(({ key, revision, check }) => ({ variant: key, revision, check }));
}
