import { isDeepStrictEqual } from "node:util";
import type { RequirementEvidence } from "#db/schema/index.ts";
import type { PlanAuthor } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";
import type { Requirement } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { lockSession, type SessionRow } from "#lib/session/store/session-store.ts";
import type { PlanningDeps } from "./planning-deps.ts";
import {
  insertRequirements,
  listRequirementRows,
  listTreeEvidence,
  type RequirementRow,
  updateRequirementRow,
} from "./planning-store.ts";
import {
  type AssertionInput,
  numberOf,
  REQUIREMENT_LIMITS,
  toAssertion,
  toRequirement,
} from "./requirement.ts";
import type { PlanningCall } from "./store-plan.ts";

/** Requirements to add to a root session. */
type Addition = PlanningCall & {
  rootSessionId: string;
  author: PlanAuthor;
  requirements: readonly { text: string; assertion?: AssertionInput | undefined }[];
};

type Refused = { ok: false; reason: "unknown" | "refused" | "conflict"; problem: string };
type Added = { ok: true; requirements: Requirement[] } | Refused;

/**
 * Adds requirements. A repeated call returns the requirements that its first attempt added. If a field is invalid, the
 * problem begins with the name of the field.
 */
export async function addRequirements(deps: PlanningDeps, addition: Addition): Promise<Added> {
  const { rootSessionId, author, requirements, runId, callId } = addition;
  for (const [index, { assertion }] of requirements.entries()) {
    const problem = assertion && deps.findSelectorProblem(assertion.selector);
    if (problem) return refuse(`requirements[${index}].assertion.selector: ${problem}`);
  }
  const added = await deps.log.transact(rootSessionId, async (tx, emit): Promise<Added> => {
    const session = await lockSession(tx, rootSessionId);
    if (!session) return { ok: false, reason: "unknown", problem: "no such session" };
    const existing = await listRequirementRows(tx, rootSessionId);
    const earlier = existing.filter((row) => runId !== null && row.runId === runId && row.callId === callId);
    if (earlier.length > 0) return { ok: true, requirements: earlier.map(toRequirement) };
    if (existing.length + requirements.length > REQUIREMENT_LIMITS.perSession)
      return {
        ok: false,
        reason: "conflict",
        problem: `requirements: the session has ${existing.length} and this adds ${requirements.length}; a session may have ${REQUIREMENT_LIMITS.perSession}`,
      };
    const first = (existing.at(-1)?.number ?? 0) + 1;
    const rows = await insertRequirements(
      tx,
      requirements.map(({ text, assertion }, index) => ({
        sessionId: rootSessionId,
        number: first + index,
        text,
        assertion: assertion ? toAssertion(assertion) : null,
        author,
        runId,
        callId,
      })),
    );
    return { ok: true, requirements: emitRequirements(emit, session, addition, rows) };
  });
  await faultPoint("requirements-stored");
  return added;
}

/** The new values of the fields that change. `assertion: null` removes the assertion. */
type RequirementChange = {
  text?: string | undefined;
  status?: "open" | "met" | "failed" | "waived" | undefined;
  note?: string | null | undefined;
  evidenceIds?: string[] | undefined;
  assertion?: AssertionInput | null | undefined;
};

type Update = PlanningCall & {
  rootSessionId: string;
  id: string;
  author: PlanAuthor;
  change: RequirementChange;
};

type Updated = { ok: true; requirement: Requirement } | Refused;

/**
 * Changes a requirement. The agent cannot waive a requirement, and cannot change a waived requirement. The agent cannot
 * change the text or the assertion of a requirement that a person added, needs evidence to set the status `met`, and
 * needs a note to set the status `failed`. A change of the text or the assertion that does not set a status reopens a
 * requirement that was met or failed.
 */
export async function updateRequirement(deps: PlanningDeps, update: Update): Promise<Updated> {
  const { rootSessionId, id, author, change, runId, callId } = update;
  const selector = change.assertion?.selector;
  const problem = selector === undefined ? undefined : deps.findSelectorProblem(selector);
  if (problem !== undefined) return refuse(`assertion.selector: ${problem}`);
  const updated = await deps.log.transact(rootSessionId, async (tx, emit): Promise<Updated> => {
    const session = await lockSession(tx, rootSessionId);
    if (!session) return { ok: false, reason: "unknown", problem: "no such session" };
    const row = (await listRequirementRows(tx, rootSessionId)).find(({ number }) => number === numberOf(id));
    if (!row) return { ok: false, reason: "unknown", problem: `id: there is no requirement ${id}` };
    const isRepeated = runId !== null && row.updateRunId === runId && row.updateCallId === callId;
    if (isRepeated) return { ok: true, requirement: toRequirement(row) };
    const found = await listTreeEvidence(tx, rootSessionId, change.evidenceIds ?? []);
    const refusal =
      (author === "agent" ? refuseAgent(row, change) : undefined) ?? refuseEvidence(found, change);
    if (refusal !== undefined) return refuse(refusal);
    const columns = toColumns(row, change, found);
    // The agent's call is recorded even if the requirement stays the same. Otherwise a repetition of the call could
    // undo a change that a person made later.
    if (author === "person" && isUnchanged(row, columns))
      return { ok: true, requirement: toRequirement(row) };
    const call = author === "agent" ? { updateRunId: runId, updateCallId: callId } : {};
    const written = await updateRequirementRow(tx, row, { ...columns, ...call });
    const [requirement] = emitRequirements(emit, session, update, [written]);
    return { ok: true, requirement: requirement ?? toRequirement(written) };
  });
  await faultPoint("requirements-stored");
  return updated;
}

const refuse = (problem: string): Refused => ({ ok: false, reason: "refused", problem });

/** Explains to the agent how to create evidence. This text is appended to error sentences. */
const HOW_TO_CREATE_EVIDENCE =
  "Make evidence first (screenshot, capture_preview, check_variant or set_previews name their evidence ids; list_evidence lists them), and give its ids as evidenceIds";

function refuseAgent(row: RequirementRow, change: RequirementChange): string | undefined {
  const id = `r${row.number}`;
  if (row.status === "waived") return `id: ${id} is waived; only people open it again`;
  if (change.status === "waived")
    return "status: only people waive requirements; set failed with a note that says why it cannot be met";
  if (change.status === "failed" && !(change.note ?? row.note)) return "note: say why the requirement failed";
  if (isAltered(row, change) && row.author === "person")
    return `id: a person added ${id}; only people change its text or assertion`;
  const count = (change.evidenceIds ?? row.evidence).length;
  if ((change.status ?? nextStatus(row, change)) === "met" && count === 0)
    return `evidenceIds: ${id} is not met without evidence. ${HOW_TO_CREATE_EVIDENCE}`;
  return undefined;
}

function refuseEvidence(
  found: readonly RequirementEvidence[],
  { evidenceIds = [] }: RequirementChange,
): string | undefined {
  const foundIds = new Set(found.map(({ id }) => id));
  const index = evidenceIds.findIndex((id) => !foundIds.has(id));
  return index < 0
    ? undefined
    : `evidenceIds[${index}]: ${JSON.stringify(evidenceIds[index])} is no evidence of this session. ${HOW_TO_CREATE_EVIDENCE}`;
}

const hasNewAssertion = (row: RequirementRow, { assertion }: RequirementChange): boolean =>
  assertion !== undefined &&
  !isDeepStrictEqual(row.assertion, assertion ? storable(toAssertion(assertion)) : null);

/**
 * Returns the status after a change that does not set `status` itself. A new text or assertion reopens the requirement.
 * A waived requirement stays waived.
 */
function nextStatus(row: RequirementRow, change: RequirementChange): RequirementRow["status"] {
  return isAltered(row, change) && row.status !== "waived" ? "open" : row.status;
}

/** Whether the change alters the text or the assertion of the requirement. */
const isAltered = (row: RequirementRow, change: RequirementChange): boolean =>
  (change.text !== undefined && change.text !== row.text) || hasNewAssertion(row, change);

function toColumns(row: RequirementRow, change: RequirementChange, found: RequirementEvidence[]) {
  const { text, note, evidenceIds, assertion } = change;
  return {
    status: change.status ?? nextStatus(row, change),
    ...(text !== undefined && { text }),
    ...(note !== undefined && { note: note === "" ? null : note }),
    ...(evidenceIds !== undefined && { evidence: found }),
    ...(hasNewAssertion(row, change) && {
      assertion: assertion ? toAssertion(assertion) : null,
      outcome: null,
    }),
  };
}

const isUnchanged = (row: RequirementRow, columns: ReturnType<typeof toColumns>): boolean =>
  Object.entries(columns).every(([name, value]) =>
    isDeepStrictEqual(row[name as keyof typeof columns], value),
  );

const EVENT_MAX = 20;

/** Emits `requirement.updated` for the changed requirements, with at most `EVENT_MAX` of them in one event. */
export function emitRequirements(
  emit: Emit,
  { source }: Pick<SessionRow, "source">,
  { requestId, runId }: Pick<PlanningCall, "requestId" | "runId">,
  rows: readonly RequirementRow[],
): Requirement[] {
  const requirements = rows.map(toRequirement);
  for (let from = 0; from < requirements.length; from += EVENT_MAX)
    emit({
      kind: "requirement.updated",
      requestId,
      runId,
      source,
      requirements: requirements.slice(from, from + EVENT_MAX),
    });
  return requirements;
}
