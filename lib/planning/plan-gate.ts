import type { Database } from "#db/client.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { readPlanMode } from "./planning-store.ts";

/** Returns why a call is refused, or undefined if it may run. */
export type PlanGate = (
  tool: Pick<Tool, "name" | "changes">,
  rootSessionId: string,
) => Promise<string | undefined>;

/**
 * Creates the gate of *plan first*: until a person has agreed to the plan, it refuses calls of tools that change something.
 * It reads the mode of the plan for each call of such a tool, and for no other calls.
 */
export const createPlanGate =
  (db: Database): PlanGate =>
  async ({ name, changes }, rootSessionId) => {
    if (changes !== true || (await readPlanMode(db, rootSessionId)) !== "plan_first") return undefined;
    return `${name} was not run: a person wants to agree to a plan before anything is changed. Look with tools that change nothing (dom_query, screenshot, read_file), write the plan with update_plan, and finish the turn; the person then says go. A sub-agent reports what it would change.`;
  };
