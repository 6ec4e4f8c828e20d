import type { Executor } from "#db/client.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import { listVariantSummaries } from "./variant-store.ts";

/**
 * The variants that are the outcome of a session's turns: of an editing session always, of a structured one in addition to
 * its deliverable if it has any. Undefined for other sessions and for sub-agents, whose variants are their root's.
 * Source: `wire.md`, Variants.
 */
export async function readOutcome(
  db: Executor,
  session: Pick<SessionRow, "id" | "parentSessionId" | "outputSchema" | "toolset">,
  baseUrl: string,
): Promise<VariantSummary[] | undefined> {
  if (session.parentSessionId !== null) return undefined;
  // An import gives an editing session variants without the tool, too.
  const makers = ["apply_variant", "import_legacy_session"];
  const mayHave = session.outputSchema === null || session.toolset.some((name) => makers.includes(name));
  const variants = mayHave ? await listVariantSummaries(db, session.id, baseUrl) : [];
  return session.outputSchema === null || variants.length > 0 ? variants : undefined;
}

/** The variants that a report of the session is about: their newest revisions and checks. */
export async function readTested(
  db: Executor,
  sessionId: string,
): Promise<{ variant: string; revision: number; check: VariantSummary["check"] }[]> {
  // Without publications, whose URLs need the origin.
  const variants = await listVariantSummaries(db, sessionId, "");
  return variants.map(({ key, revision, check }) => ({ variant: key, revision, check }));
}
