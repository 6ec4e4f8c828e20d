import { z } from "zod";
import type { Plan } from "#lib/events/event.ts";
import { defineTool, errorResult, type Tool } from "#lib/tools/tool.ts";
import { describeItems, planItemsSchema } from "../plan.ts";
import type { PlanningDeps } from "../planning-deps.ts";
import { replacePlan } from "../store-plan.ts";

/**
 * `update_plan`: replaces the plan, which people can see and edit. Source: specification, Capabilities;
 * `architecture.md`, Plan and requirements.
 */
export const updatePlanTool = (deps: PlanningDeps): Tool =>
  defineTool({
    name: "update_plan",
    description:
      "Replaces the plan that people see with these items, in this order. Keep the ids of items that stay; mark what is left out on purpose as dropped. Refused if a person changed the plan since your last update: take their changes over, and give the revision you were shown as baseRevision.",
    input: z.strictObject({
      items: planItemsSchema,
      baseRevision: z.int().min(0).optional().describe("the plan's revision that you have seen"),
    }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ items, baseRevision }, { rootSessionId, requestId, runId, callId }) {
      const updated = await replacePlan(deps, {
        rootSessionId,
        items,
        baseRevision,
        requestId,
        runId,
        callId,
      });
      if (updated.ok) {
        const since = updated.isEditedSince ? "\nA person has changed it since." : "";
        return `${describePlan(updated.plan)}${since}${ADVICE[updated.plan.mode]}`;
      }
      if (updated.reason === "refused") return errorResult(`update_plan: ${updated.problem}.`);
      const { revision } = updated.plan;
      return errorResult(
        `update_plan: a person has changed the plan; nothing was replaced. Take their changes over and call again with baseRevision ${revision}.\n${describePlan(updated.plan)}`,
      );
    },
  });

const ADVICE: Record<Plan["mode"], string> = {
  off: "",
  plan_first:
    "\nA person wants to agree to the plan first: finish the turn with a short summary, and wait for their go.",
  agreed: "",
};

const describePlan = ({ revision, items }: Plan): string =>
  `The plan, revision ${revision}:\n${items.length === 0 ? "(empty)" : describeItems(items)}`;
