import type { PlanMode } from "#db/schema/unions.ts";
import { describeItems } from "#lib/planning/plan.ts";
import type { PlanningState } from "#lib/planning/planning-store.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { shorten } from "#lib/text/shorten.ts";

const MODES: Record<PlanMode, string | undefined> = {
  off: undefined,
  plan_first:
    "- Plan first: a person wants to agree to the plan before anything is changed. Until they say go, tools that change pages, files, previews or publications are refused. Look, write the plan with update_plan, and finish the turn.",
  agreed: "- A person has agreed to the plan: follow it.",
};

const SUB_AGENT_WAITS =
  "- Plan first: a person wants to agree to a plan before anything is changed. Until then, tools that change pages, files, previews or publications are refused: look, and report what you would change.";

/** Whether a line states that a person wants to agree to a plan, or has agreed to it. */
export const isMode = (line: string): boolean =>
  line === SUB_AGENT_WAITS || Object.values(MODES).includes(line);

/** Precedes the unmet requirements. */
export const UNMET_HEADING = "Requirements that are not met (list_requirements has all):";

const PLAN_CHARS_MAX = 4_000;
const TEXT_CHARS_MAX = 200;

/**
 * Describes the mode, the plan and the unmet requirements of a session, if it has the tools for them. Empty if there is
 * nothing to say.
 */
export function describePlan({ plan, unmet }: PlanningState, hasTool: (name: string) => boolean): string[] {
  const hasPlan = hasTool("update_plan");
  const hasRequirements = hasTool("add_requirements");
  if (!hasPlan && !hasRequirements) return [];
  const lines: string[] = [];
  const mode = MODES[plan?.mode ?? "off"];
  if (plan?.mode === "plan_first" && !hasPlan) lines.push(SUB_AGENT_WAITS);
  else if (mode !== undefined) lines.push(mode);
  if (plan && plan.items.length > 0)
    lines.push("", `The plan, revision ${plan.revision}:`, cut(describeItems(plan.items), PLAN_CHARS_MAX));
  if (hasRequirements && unmet.length > 0) {
    lines.push("", UNMET_HEADING);
    for (const { number, status, text } of unmet)
      lines.push(`- r${number} [${status}] ${cut(oneLine(text), TEXT_CHARS_MAX)}`);
  }
  return lines;
}

const cut = (text: string, max: number): string => shorten(text, max);
