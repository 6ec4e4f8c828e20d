import type { Assertion, Plan, PlanEdit, Requirement, RequirementEdit } from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

/** What people can do with the plan and the requirements. Source: `wire.md`, Plan and requirements. */
export type PlanningActions = {
  /**
   * Adds and edits items. Fails with 409 if an item no longer exists, or if its text now differs from the `was` of the
   * edit.
   */
  editPlan: (edits: PlanEdit[]) => Promise<ActionOutcome<Plan>>;
  /**
   * Switches the plan-first mode on or off. In this mode, the agent changes nothing before a person agrees to the plan.
   */
  setPlanMode: (mode: "off" | "plan_first") => Promise<ActionOutcome<Plan>>;
  /**
   * Agrees to a revision of the plan and sends the person's message. Fails with 409 if the plan has a newer revision.
   */
  agreePlan: (
    revision: number,
    text: string,
  ) => Promise<ActionOutcome<{ requestId: string; runId: string; queued: boolean }>>;
  addRequirement: (text: string, assertion?: Assertion) => Promise<ActionOutcome<Requirement[]>>;
  editRequirement: (id: string, edit: RequirementEdit) => Promise<ActionOutcome<Requirement>>;
};

/**
 * @param planning path below which the plan and the requirements are served.
 * @param actions path of the session's actions.
 */
export function createPlanningActions(
  { planning, actions }: { planning: string; actions: string },
  fetcher: typeof fetch,
): PlanningActions {
  const call = <Answer>(method: string, path: string, body: unknown) =>
    callAction<Answer>(fetcher, method, `${planning}${path}`, body);
  return {
    editPlan: async (edits) => pick(await call<{ plan: Plan }>("POST", "/plan/edits", { edits }), "plan"),
    setPlanMode: async (mode) => pick(await call<{ plan: Plan }>("POST", "/plan/mode", { mode }), "plan"),
    agreePlan: (revision, text) =>
      callAction(fetcher, "POST", `${actions}/plan/go`, { revision, ...(text !== "" && { text }) }),
    async addRequirement(text, assertion) {
      const requirements = [{ text, ...(assertion && { assertion }) }];
      type Added = { requirements: Requirement[] };
      return pick(await call<Added>("POST", "/requirements", { requirements }), "requirements");
    },
    editRequirement: async (id, edit) =>
      pick(await call<{ requirement: Requirement }>("PATCH", `/requirements/${id}`, edit), "requirement"),
  };
}
