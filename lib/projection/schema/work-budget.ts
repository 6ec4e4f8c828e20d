/** A limit on the work for one schema. When the budget is spent, the rest of the schema becomes untyped JSON. */
export type WorkBudget = {
  /** Spends steps of the budget. @throws WorkBudgetSpent */
  spend: (steps: number) => void;
  covers: (steps: number) => boolean;
};

export class WorkBudgetSpent extends Error {}

export function createWorkBudget(steps: number): WorkBudget {
  let left = steps;
  return {
    spend(count) {
      left -= count;
      if (left < 0) throw new WorkBudgetSpent();
    },
    covers: (count) => count <= left,
  };
}
