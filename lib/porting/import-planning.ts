import { isDeepStrictEqual } from "node:util";
import type { Transaction } from "#db/client.ts";
import type { PlanAuthor } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { replaceItems } from "#lib/planning/plan.ts";
import {
  findPlan,
  insertRequirements,
  listRequirementRows,
  writePlan,
} from "#lib/planning/planning-store.ts";
import { REQUIREMENT_LIMITS, toAssertion } from "#lib/planning/requirement.ts";
import { type PlanningCall, recordPlan } from "#lib/planning/store-plan.ts";
import { emitRequirements } from "#lib/planning/store-requirements.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import type { LeftOut } from "./format.ts";
import type { ImportPlan } from "./read-document.ts";

type RequirementRows = Parameters<typeof insertRequirements>[1];

/** The changes that an import makes to the plan and the requirements of a session. */
type PlanningImport = {
  /** Writes the plan items and requirements, and emits their events. The caller has locked the session. */
  store: (tx: Transaction, emit: Emit, call: PlanningCall) => Promise<void>;
  planItemCount: number;
  requirementCount: number;
  leftOut: LeftOut[];
};

const NOTHING: Pick<ImportPlan, "planItems" | "requirements"> = { planItems: [], requirements: [] };

/**
 * Lists the plan and the requirements as left out, for an import by the agent. Their texts would become part of the
 * model's instructions in later turns, but the document may come from an untrusted page.
 */
function leaveOut({ planItems, requirements }: Pick<ImportPlan, "planItems" | "requirements">): LeftOut[] {
  const reason = "Only an import by a person or a program sets it.";
  return [
    ...(planItems.length > 0 ? [{ field: "plan", reason }] : []),
    ...(requirements.length > 0 ? [{ field: "requirements", reason }] : []),
  ];
}

/**
 * Decides which plan items and requirements of a document are imported into a session. Stores nothing; the `store` of
 * the result does. The plan is imported only if the session has no plan items. Imported requirements get the status
 * `open`, and the importer becomes their author. A requirement is skipped if the session already has one with the same
 * text and assertion. An import by the agent imports no plan and no requirements.
 *
 * @returns the changes, or an error sentence if the session would have too many requirements.
 */
export async function preparePlanning(
  tx: Transaction,
  session: SessionRow,
  author: PlanAuthor,
  document: Pick<ImportPlan, "planItems" | "requirements">,
): Promise<PlanningImport | string> {
  const { planItems, requirements } = author === "agent" ? NOTHING : document;
  const row = await findPlan(tx, session.id);
  const existing = await listRequirementRows(tx, session.id);
  const leftOut: LeftOut[] = author === "agent" ? leaveOut(document) : [];
  const hasPlan = row !== undefined && row.items.length > 0;
  const carriesPlan = !hasPlan && planItems.length > 0;
  if (hasPlan && planItems.length > 0)
    leftOut.push({ field: "plan", reason: "The session has a plan, which an import does not change." });
  const rows: RequirementRows = [];
  for (const { field, text, assertion: input } of requirements) {
    const assertion = input && toAssertion(input);
    const isSame = (other: { text: string; assertion?: unknown }) =>
      other.text === text && isDeepStrictEqual(other.assertion ?? null, storable(assertion));
    if (existing.some(isSame)) leftOut.push({ field, reason: "The session has the requirement already." });
    else rows.push({ sessionId: session.id, number: 0, text, assertion, author, runId: null, callId: null });
  }
  const { perSession } = REQUIREMENT_LIMITS;
  if (existing.length + rows.length > perSession)
    return `requirements: the session has ${existing.length} and the document adds ${rows.length}; a session may have ${perSession}`;
  const first = (existing.at(-1)?.number ?? 0) + 1;
  return {
    planItemCount: carriesPlan ? planItems.length : 0,
    requirementCount: rows.length,
    leftOut,
    async store(tx, emit, call) {
      if (carriesPlan) {
        const emptyPlan = { items: [], lastItem: row?.lastItem ?? 0 };
        const revised = replaceItems(emptyPlan, planItems);
        if (!revised.ok) throw new Error(revised.problem);
        const { items, lastItem } = revised;
        const revision = (row?.revision ?? 0) + 1;
        const own = author === "agent" ? { agentRevision: revision } : { personRevision: revision };
        const written = await writePlan(tx, session.id, { items, lastItem, revision, author, ...own });
        await recordPlan(tx, emit, session, call, written);
      }
      const numbered = rows.map((each, index) => ({ ...each, number: first + index }));
      emitRequirements(emit, session, call, await insertRequirements(tx, numbered));
    },
  };
}
