import type { Executor } from "#db/client.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import { listVariantSummaries } from "./variant-store.ts";

/**
 * Reads the variants that belong to the outcome of a session's turns. In an editing session, the variants are the outcome,
 * even if there are none. In a structured session, they are added to the deliverable if there are any. Undefined in all
 * other cases, and for sub-agents, whose variants belong to the root session. Source: `wire.md`, Variants.
 */
export async function readOutcome(
  db: Executor,
  session: Pick<SessionRow, "id" | "parentSessionId" | "outputSchema" | "toolset">,
  baseUrl: string,
): Promise<VariantSummary[] | undefined> {
  if (session.parentSessionId !== null) return undefined;
  // Importing a session creates variants too, even without `apply_variant`.
  const creatingTools = ["apply_variant", "import_legacy_session"];
  const mayHave =
    session.outputSchema === null || session.toolset.some((name) => creatingTools.includes(name));
  const variants = mayHave ? await listVariantSummaries(db, session.id, baseUrl) : [];
  return session.outputSchema === null || variants.length > 0 ? variants : undefined;
}

/** Reads the newest revision of each variant with its check, in the form in which a QA report stores them. */
export async function readTestedVariants(
  db: Executor,
  sessionId: string,
): Promise<{ variant: string; revision: number; check: VariantSummary["check"] }[]> {
  // The origin is only needed for publications, which are left out here.
  const variants = await listVariantSummaries(db, sessionId, "");
  return variants.map(({ key, revision, check }) => ({ variant: key, revision, check }));
}
