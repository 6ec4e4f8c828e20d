import type { World } from "../../world/open-world.ts";

const DIE_WITHIN_MS = 60_000;
/** Longest delay of a kill after its point, so that the service sometimes answers before it is killed. */
const DELAY_MAX_MS = 30;

/** The value of `FAULT` that kills the service at the nth arrival at a point, or up to 30 ms later. */
export const armKill = ({ random }: World, point: string, arrival = 1): string =>
  `${point}:${arrival}:kill9${random.next() < 0.5 ? "" : `@${random.between(1, DELAY_MAX_MS)}`}`;

/** Waits for the kill. @throws Error if the point was not reached. */
export async function expectKill(world: World, point: string): Promise<void> {
  if (!(await world.waitForDeath(DIE_WITHIN_MS))) throw new Error(`${point} was not reached`);
}
