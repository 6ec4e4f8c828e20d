import type { Tool } from "#lib/tools/tool.ts";
import type { PlanningDeps } from "../planning-deps.ts";
import { addRequirementsTool, listRequirementsTool, updateRequirementTool } from "./requirements.ts";
import { updatePlanTool } from "./update-plan.ts";

/** Creates the tools for the plan and the requirements. */
export const planningTools = (deps: PlanningDeps): Tool[] => [
  updatePlanTool(deps),
  addRequirementsTool(deps),
  updateRequirementTool(deps),
  listRequirementsTool(deps),
];
