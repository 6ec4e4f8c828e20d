import type { World } from "../../world/open-world.ts";

const DIE_WITHIN_MS = 60_000;
/** Longest delay of a kill after its point is reached. With a delay, the service may answer before it is killed. */
const DELAY_MAX_MS = 30;

/**
 * Returns a value of `FAULT` that kills the service when it reaches the point for the `arrival`th time, or up to 30 ms
 * later.
 */
export const armKill = ({ random }: World, point: string, arrival = 1): string =>
  `${point}:${arrival}:kill9${random.next() < 0.5 ? "" : `@${random.between(1, DELAY_MAX_MS)}`}`;

/** Waits until the service was killed. @throws Error if it did not reach the point. */
export async function expectKill(world: World, point: string): Promise<void> {
  if (!(await world.waitForDeath(DIE_WITHIN_MS))) throw new Error(`${point} was not reached`);
}
