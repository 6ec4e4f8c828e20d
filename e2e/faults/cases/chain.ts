import type { FaultCase } from "../fault-case.ts";

/** Kill points, one in each phase of a session with structured output. */
const POINTS = ["K02", "K07", "K10", "K14", "K20", "K22"];
const DIE_WITHIN_MS = 30_000;
const STEER_WITHIN_MS = 400;

/**
 * The service is killed at six points, one after the other, on one data folder. Before each kill, a client creates a
 * session, steers its first turn and posts a follow-up. Turns that a kill interrupted continue after the next start.
 * `subset.spec.ts` plays this case as part of the tests.
 */
export const chain: FaultCase = {
  name: "chain",
  group: "kill",
  title: `${POINTS.join(", ")} in a row on one data folder`,
  async play(world) {
    for (const [index, point] of POINTS.entries()) {
      const fault = `${point}:1:kill9`;
      await (index === 0 ? world.start(fault) : world.restart(fault));
      const created = await world.create("structured", { hook: index % 2 === 0 ? "ok" : "500-x1" });
      if (created) {
        world.followUpLater(
          created.sessionId,
          "structured",
          "steer",
          world.random.between(0, STEER_WITHIN_MS),
        );
        await world.followUp(created.sessionId, "plain");
      }
      if (!(await world.waitForDeath(DIE_WITHIN_MS))) world.problems.push(`${point} was not reached`);
    }
    await world.restart();
    await world.waitUntilIdle();
  },
};
