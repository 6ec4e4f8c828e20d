import type { Executor } from "#db/client.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import { listVariantSummaries } from "./variant-store.ts";

/**
 * The variants that belong to the outcome of a session's turns. An editing session always has them as its outcome; a
 * structured session has them in addition to its deliverable, if there are any. Undefined for other sessions, and for
 * sub-agents, because their variants belong to their root. Source: `wire.md`, Variants.
 */
export async function readOutcome(
  db: Executor,
  session: Pick<SessionRow, "id" | "parentSessionId" | "outputSchema" | "toolset">,
  baseUrl: string,
): Promise<VariantSummary[] | undefined> {
  if (session.parentSessionId !== null) return undefined;
  // An import creates variants too, without `apply_variant`.
  const creatingTools = ["apply_variant", "import_legacy_session"];
  const mayHave =
    session.outputSchema === null || session.toolset.some((name) => creatingTools.includes(name));
  const variants = mayHave ? await listVariantSummaries(db, session.id, baseUrl) : [];
  return session.outputSchema === null || variants.length > 0 ? variants : undefined;
}

/** The newest revision of each variant with its check, as a QA report of the session records them. */
export async function readTestedVariants(
  db: Executor,
  sessionId: string,
): Promise<{ variant: string; revision: number; check: VariantSummary["check"] }[]> {
  // Only publications need the origin, and they are left out.
  const variants = await listVariantSummaries(db, sessionId, "");
  return variants.map(({ key, revision, check }) => ({ variant: key, revision, check }));
}
