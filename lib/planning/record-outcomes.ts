import { isDeepStrictEqual } from "node:util";
import type { Executor, Transaction } from "#db/client.ts";
import type { Assertion, AssertionOutcome } from "#db/schema/index.ts";
import type { Emit } from "#lib/events/event-log.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { listAssertedRows, updateRequirementRow } from "./planning-store.ts";
import type { PlanningCall } from "./store-plan.ts";
import { emitRequirements } from "./store-requirements.ts";

/** The result of a check for one requirement, and the assertion that the check tested. */
type CheckedAssertion = { id: string; assertion: Assertion } & Pick<AssertionOutcome, "status" | "message">;

/** Lists the requirements of a root session that a check tests: those that have an assertion and are not waived. */
export const listAsserted = async (
  db: Executor,
  rootSessionId: string,
): Promise<{ id: string; text: string; assertion: Assertion }[]> =>
  (await listAssertedRows(db, rootSessionId)).flatMap(({ number, text, assertion }) =>
    assertion ? [{ id: `r${number}`, text, assertion }] : [],
  );

/**
 * Stores the results of a check in the requirements that the check tested. Skips requirements that were waived or got
 * another assertion during the check. Runs in the transaction that stores the check. The caller has locked the session.
 */
export async function recordOutcomes(
  tx: Transaction,
  emit: Emit,
  session: Pick<SessionRow, "id" | "source">,
  about: Pick<PlanningCall, "requestId" | "runId">,
  {
    at,
    variant,
    revision,
    checked,
  }: Pick<AssertionOutcome, "at" | "variant" | "revision"> & { checked: readonly CheckedAssertion[] },
): Promise<void> {
  if (checked.length === 0) return;
  const rows = [];
  for (const row of await listAssertedRows(tx, session.id)) {
    const found = checked.find(({ id }) => id === `r${row.number}`);
    if (!found || !isDeepStrictEqual(found.assertion, row.assertion)) continue;
    const { status, message } = found;
    rows.push(await updateRequirementRow(tx, row, { outcome: { status, at, variant, revision, message } }));
  }
  emitRequirements(emit, session, about, rows);
}
