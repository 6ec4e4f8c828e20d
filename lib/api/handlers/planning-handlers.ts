import { agreePlan as agree } from "#lib/planning/agree-plan.ts";
import { toPlan } from "#lib/planning/plan.ts";
import { findPlan, listRequirementRows } from "#lib/planning/planning-store.ts";
import { requirementIdSchema, toRequirement } from "#lib/planning/requirement.ts";
import { editPlan as edit, setPlanMode as setMode } from "#lib/planning/store-plan.ts";
import { addRequirements as add, updateRequirement as update } from "#lib/planning/store-requirements.ts";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { answerAccepted } from "./message-handlers.ts";
import type { ApiServices } from "./services.ts";

/**
 * `GET …/plan`: returns the plan of the session; for a sub-agent, the plan of its root session. Source: `wire.md`, Plan
 * and requirements.
 */
async function readPlan({ db }: ApiServices, { params }: CallOf<"readPlan">): Promise<Answer> {
  return answerPlan(toPlan(await findPlan(db, await findRootOf(db, params.sessionId))));
}

/** `POST …/plan/edits`: edits items of the plan. */
async function editPlan({ planning }: ApiServices, { params, body }: CallOf<"editPlan">): Promise<Answer> {
  const edited = await edit(planning, params.sessionId, body.edits);
  if (edited.ok) return answerPlan(edited.plan);
  return edited.reason === "unknown" ? unknownSession() : fail("conflict", edited.problem);
}

/** `POST …/plan/mode`: sets the mode of the plan. */
async function setPlanMode(
  { planning }: ApiServices,
  { params, body }: CallOf<"setPlanMode">,
): Promise<Answer> {
  const plan = await setMode(planning, params.sessionId, body.mode);
  return plan ? answerPlan(plan) : unknownSession();
}

const answerPlan = (plan: ReturnType<typeof toPlan>): Answer => ({
  ok: true,
  status: 200,
  body: { success: true, plan },
});

/**
 * `POST /s/:sessionId/actions/plan/go`: records that a person agrees to the plan, and posts the agreement as a message
 * of the person, both in one transaction.
 */
async function agreePlan(
  services: ApiServices,
  { params, body, hashBody }: CallOf<"agreePlan">,
): Promise<Answer> {
  const { sessionId } = params;
  const { revision, text = "" } = body;
  const agreement = {
    sessionId,
    revision,
    text: text.trim(),
    userId: null,
    bodyHash: hashBody(),
    deploymentExcludes: services.settings.excludesTools,
  };
  return answerAccepted(services, sessionId, await agree(services, agreement));
}

/**
 * `GET …/requirements`: lists the requirements of the session; for a sub-agent, the requirements of its root session.
 */
async function listRequirements(
  { db }: ApiServices,
  { params }: CallOf<"listRequirements">,
): Promise<Answer> {
  const rows = await listRequirementRows(db, await findRootOf(db, params.sessionId));
  return { ok: true, status: 200, body: { success: true, data: rows.map(toRequirement), nextCursor: null } };
}

/** `POST …/requirements`: adds requirements. */
async function addRequirements(
  { planning }: ApiServices,
  { params, body }: CallOf<"addRequirements">,
): Promise<Answer> {
  const { requirements } = body;
  const added = await add(planning, { ...PERSON, rootSessionId: params.sessionId, requirements });
  if (!added.ok) return added.reason === "unknown" ? unknownSession() : refuse(added);
  return { ok: true, status: 201, body: { success: true, requirements: added.requirements } };
}

/** `PATCH …/requirements/:requirementId`: changes a requirement. */
async function updateRequirement(
  { planning }: ApiServices,
  { params, body }: CallOf<"updateRequirement">,
): Promise<Answer> {
  const { sessionId: rootSessionId, requirementId: id } = params;
  if (!requirementIdSchema.safeParse(id).success) return fail("not_found", "no such requirement");
  const updated = await update(planning, { ...PERSON, rootSessionId, id, change: body });
  if (!updated.ok) return refuse(updated);
  return { ok: true, status: 200, body: { success: true, requirement: updated.requirement } };
}

/**
 * Every change through these operations counts as a change by a person, also if a program with an API key requests it.
 */
const PERSON = { author: "person", requestId: null, runId: null, callId: null } as const;

const CODES = { unknown: "not_found", conflict: "conflict", refused: "invalid_request" } as const;

const refuse = ({ reason, problem }: { reason: keyof typeof CODES; problem: string }): Answer =>
  fail(CODES[reason], reason === "unknown" ? "no such requirement" : problem);

export const planningHandlers = {
  readPlan,
  editPlan,
  setPlanMode,
  agreePlan,
  listRequirements,
  addRequirements,
  updateRequirement,
} satisfies Partial<Handlers>;
