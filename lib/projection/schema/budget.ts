/** A limit on the work for one schema. When the budget is spent, the rest of the schema becomes untyped JSON. */
export type Budget = {
  /** Spends steps of the budget. @throws OutOfBudget */
  spend: (steps: number) => void;
  covers: (steps: number) => boolean;
};

export class OutOfBudget extends Error {}

export function createBudget(steps: number): Budget {
  let left = steps;
  return {
    spend(count) {
      left -= count;
      if (left < 0) throw new OutOfBudget();
    },
    covers: (count) => count <= left,
  };
}
