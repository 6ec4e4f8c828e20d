import type { SessionState } from "./session-state.ts";
import type { Plan, Requirement } from "./view-types.ts";

/** Replaces the plan, unless the state contains a newer plan. */
export const mergePlan = (state: SessionState, plan: Plan): SessionState =>
  (plan.updatedAt ?? "") < (state.plan.updatedAt ?? "") ? state : { ...state, plan };

/**
 * Adds or updates requirements. Skips a requirement if the state contains a newer version of it. Sorts all requirements
 * by the number in their id.
 */
export function mergeRequirements(existing: Requirement[], changed: readonly Requirement[]): Requirement[] {
  const byId = new Map(existing.map((each) => [each.id, each]));
  for (const each of changed)
    if ((byId.get(each.id)?.updatedAt ?? "") <= each.updatedAt) byId.set(each.id, each);
  return [...byId.values()].toSorted((one, other) => numberOf(one) - numberOf(other));
}

const numberOf = ({ id }: Requirement): number => Number(id.slice(1));
