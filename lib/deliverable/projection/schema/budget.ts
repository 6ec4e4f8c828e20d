/** A limit on the work for one schema. Beyond it, the rest travels as untyped JSON, so hostile schemas stay linear. */
export type Budget = {
  /** @throws OutOfBudget */
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
