import type { Database } from "#db/client.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { readPlanMode } from "./planning-store.ts";

/** Decides whether a tool call may run. Returns why the call is refused, or undefined if it may run. */
export type PlanGate = (
  tool: Pick<Tool, "name" | "changes">,
  rootSessionId: string,
) => Promise<string | undefined>;

/**
 * Creates the check for the mode *plan first*. Until a person has agreed to the plan, the check refuses calls of tools
 * that change something. It reads the plan's mode for each call of such a tool, and does not query the database for
 * other calls.
 */
export const createPlanGate =
  (db: Database): PlanGate =>
  async ({ name, changes }, rootSessionId) => {
    if (!changes || (await readPlanMode(db, rootSessionId)) !== "plan_first") return undefined;
    return `${name} was not run: a person wants to agree to a plan before anything is changed. Look with tools that change nothing (dom_query, screenshot, read_file), write the plan with update_plan, and finish the turn; the person then says go. A sub-agent reports what it would change.`;
  };
