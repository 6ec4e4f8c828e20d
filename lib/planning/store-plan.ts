import type { Transaction } from "#db/client.ts";
import type { PlanItem } from "#db/schema/index.ts";
import type { PlanMode } from "#db/schema/unions.ts";
import type { Plan } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { closeItems, openItem } from "#lib/session/store/inbox-store.ts";
import { lockSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { shorten } from "#lib/text/shorten.ts";
import {
  awaitsAgreement,
  describeItems,
  editItems,
  isSamePlan,
  type PlanEdit,
  replaceItems,
  toPlan,
} from "./plan.ts";
import type { PlanningDeps } from "./planning-deps.ts";
import { findPlan, type PlanRow, writePlan } from "./planning-store.ts";

/** The turn and the tool call that make a change. All ids are null for a change that a person makes. */
export type PlanningCall = { requestId: string | null; runId: string | null; callId: string | null };

/**
 * The agent's new plan. `baseRevision` is the revision that the agent saw. The default is the last revision that the
 * agent wrote.
 */
type AgentPlan = PlanningCall & {
  rootSessionId: string;
  items: readonly (Omit<PlanItem, "id"> & { id?: string | undefined })[];
  baseRevision?: number | undefined;
};

type ReplaceResult =
  | { ok: true; plan: Plan; isEditedSince: boolean }
  | { ok: false; reason: "stale"; plan: Plan }
  | { ok: false; reason: "refused"; problem: string };

const EMPTY = { items: [], lastItem: 0, revision: 0, agentRevision: 0, personRevision: 0 };

/**
 * Replaces the current plan with the agent's new plan. Refuses if a person has changed the plan after the revision that
 * the agent saw; the agent would otherwise overwrite a change that it has not seen. Also refuses a `baseRevision` that
 * does not exist, and two items with the same id. A repeated call returns the current plan and stores nothing.
 */
export async function replacePlan({ log }: PlanningDeps, request: AgentPlan): Promise<ReplaceResult> {
  const updated = await log.transact(request.rootSessionId, (tx, emit) => replace(tx, emit, request));
  await faultPoint("plan-stored");
  return updated;
}

async function replace(tx: Transaction, emit: Emit, request: AgentPlan): Promise<ReplaceResult> {
  const { rootSessionId, items, baseRevision, runId, callId } = request;
  const session = await lockSession(tx, rootSessionId);
  if (!session) return { ok: false, reason: "refused", problem: "the session was deleted" };
  const row = await findPlan(tx, rootSessionId);
  const current = row ?? EMPTY;
  if (row && runId !== null && row.runId === runId && row.callId === callId)
    return { ok: true, plan: toPlan(row), isEditedSince: row.revision > row.agentRevision };
  if (baseRevision !== undefined && baseRevision > current.revision)
    return {
      ok: false,
      reason: "refused",
      problem: `baseRevision: the newest revision is ${current.revision}`,
    };
  if (current.personRevision > (baseRevision ?? current.agentRevision))
    return { ok: false, reason: "stale", plan: toPlan(row) };
  const revised = replaceItems(current, items);
  if (!revised.ok) return { ok: false, reason: "refused", problem: revised.problem };
  const revision = current.revision + 1;
  const { items: stored, lastItem } = revised;
  const change = { items: stored, lastItem, revision, agentRevision: revision, runId, callId };
  const written = await writePlan(tx, rootSessionId, { ...change, author: "agent" });
  return { ok: true, plan: await recordPlan(tx, emit, session, request, written), isEditedSince: false };
}

type EditResult = { ok: true; plan: Plan } | { ok: false; reason: "unknown" | "conflict"; problem: string };

/**
 * Applies a person's edits to the current plan. If several people edit different items at the same time, all edits take
 * effect.
 */
export const editPlan = (
  { log }: PlanningDeps,
  sessionId: string,
  edits: readonly PlanEdit[],
): Promise<EditResult> =>
  log.transact(sessionId, async (tx, emit): Promise<EditResult> => {
    const session = await lockSession(tx, sessionId);
    if (!session) return { ok: false, reason: "unknown", problem: "no such session" };
    const row = await findPlan(tx, sessionId);
    const current = row ?? EMPTY;
    const edited = editItems(current, edits);
    if (!edited.ok) return { ok: false, reason: "conflict", problem: edited.problem };
    const { items, lastItem } = edited;
    if (isSamePlan(items, current.items)) return { ok: true, plan: toPlan(row) };
    const revision = current.revision + 1;
    const change = { items, lastItem, revision, personRevision: revision, author: "person" as const };
    return {
      ok: true,
      plan: await recordPlan(tx, emit, session, NO_TURN, await writePlan(tx, sessionId, change)),
    };
  });

/**
 * Switches the mode *plan first* on or off. (`agreePlan` sets the mode `agreed`.)
 *
 * @returns undefined if the session was deleted.
 */
export const setPlanMode = (
  { log }: PlanningDeps,
  sessionId: string,
  mode: Exclude<PlanMode, "agreed">,
): Promise<Plan | undefined> =>
  log.transact(sessionId, async (tx, emit) => {
    const session = await lockSession(tx, sessionId);
    if (!session) return undefined;
    const row = await findPlan(tx, sessionId);
    return (row?.mode ?? "off") === mode ? toPlan(row) : changeMode(tx, emit, session, mode);
  });

/** Sets the plan's mode in the caller's transaction. The caller has locked the session. */
export const changeMode = async (
  tx: Transaction,
  emit: Emit,
  session: SessionRow,
  mode: PlanMode,
): Promise<Plan> => recordPlan(tx, emit, session, NO_TURN, await writePlan(tx, session.id, { mode }));

const NO_TURN = { requestId: null, runId: null };

/**
 * Emits `plan.updated` for a stored plan, and opens, changes or closes its item of the inbox. Returns the plan in the
 * shape of the event. The caller has locked the session.
 */
export async function recordPlan(
  tx: Transaction,
  emit: Emit,
  { id: sessionId, source }: SessionRow,
  { requestId, runId }: Pick<PlanningCall, "requestId" | "runId">,
  row: PlanRow,
): Promise<Plan> {
  const plan = toPlan(row);
  if (awaitsAgreement(plan)) {
    const body = shorten(describeItems(plan.items), ITEM_BODY_MAX);
    const title = "The plan waits for agreement";
    await openItem(tx, { sessionId, runId, kind: "plan", subjectId: sessionId, title, body });
  } else {
    const end =
      plan.mode === "agreed"
        ? ({ state: "approved", settledBy: "person" } as const)
        : ({ state: "withdrawn", settledBy: null } as const);
    await closeItems(tx, [sessionId], end);
  }
  emit({ kind: "plan.updated", requestId, runId, source, plan });
  return plan;
}

/** How many characters of the plan its item of the inbox contains. */
const ITEM_BODY_MAX = 10_000;
