import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "../../world/open-world.ts";

const DIE_WITHIN_MS = 60_000;
/** Longest time from the arrival at the point to the kill. In this time, the service may send an answer. */
const DELAY_MAX_MS = 30;

/**
 * Returns a value for the environment variable `FAULT`. With this value, the service is killed 0 to 30 ms after its
 * `arrival`th arrival at the point.
 */
export const armKill = ({ random }: World, point: string, arrival = 1): string =>
  `${point}:${arrival}:kill9${random.next() < 0.5 ? "" : `@${random.between(1, DELAY_MAX_MS)}`}`;

/** Waits until the service was killed at the point. @throws Error if the service did not reach the point. */
export async function expectKill(world: World, point: string, withinMs = DIE_WITHIN_MS): Promise<void> {
  if (!(await world.waitForDeath(withinMs))) throw new Error(`${point} was not reached`);
}

/** Waits until the armed delay at the point has begun. @throws Error if the service did not reach the point. */
export async function expectDelay(world: World, point: string, withinMs = DIE_WITHIN_MS): Promise<void> {
  const end = Date.now() + withinMs;
  while (!world.service().output().includes(`fault: ${point} is delayed`)) {
    if (Date.now() > end) throw new Error(`${point} was not reached`);
    await sleep(10);
  }
}
