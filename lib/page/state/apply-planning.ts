import type { SessionState } from "./session-state.ts";
import type { Plan, Requirement } from "./view-types.ts";

/** Takes over a plan from an answer, unless a newer one is known. */
export const mergePlan = (state: SessionState, plan: Plan): SessionState =>
  (plan.updatedAt ?? "") < (state.plan.updatedAt ?? "") ? state : { ...state, plan };

/** Adds or updates requirements, unless newer states of them are known. They stay in the order of their ids. */
export function mergeRequirements(known: Requirement[], changed: readonly Requirement[]): Requirement[] {
  const byId = new Map(known.map((each) => [each.id, each]));
  for (const each of changed)
    if ((byId.get(each.id)?.updatedAt ?? "") <= each.updatedAt) byId.set(each.id, each);
  return [...byId.values()].toSorted((one, other) => numberOf(one) - numberOf(other));
}

const numberOf = ({ id }: Requirement): number => Number(id.slice(1));
