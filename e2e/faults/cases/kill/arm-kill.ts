import type { World } from "../../world/open-world.ts";

const DIE_WITHIN_MS = 60_000;
/** The milliseconds that a kill may be put off: the answer may be sent before it, or not. */
const PUT_OFF_MAX_MS = 30;

/** The fault that kills the service at an arrival at a point, or a little later. */
export const armKill = ({ random }: World, point: string, arrival = 1): string =>
  `${point}:${arrival}:kill9${random.next() < 0.5 ? "" : `@${random.between(1, PUT_OFF_MAX_MS)}`}`;

/** Waits for the kill. @throws Error if the point was not reached. */
export async function expectKill(world: World, point: string): Promise<void> {
  if (!(await world.died(DIE_WITHIN_MS))) throw new Error(`${point} was not reached`);
}
