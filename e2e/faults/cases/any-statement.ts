import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";

/**
 * The service is killed at its nth database statement. The seed picks n from this range. The service reaches the lowest
 * n while it starts, and the highest n after a session's last callback. The statements with which the service polls the
 * database count too.
 */
const STATEMENTS = { least: 12, most: 150 };
const KINDS = ["plain", "tools", "structured"] as const;
const DIE_WITHIN_MS = 60_000;

async function playAnyStatement(world: World): Promise<void> {
  const { random } = world;
  const nth = random.between(STATEMENTS.least, STATEMENTS.most);
  const afterMs = random.between(0, 3);
  await world.start(`statement:${nth}:kill9${afterMs > 0 ? `@${afterMs}` : ""}`);
  const kind = random.pick(KINDS);
  const created = await world.create(kind, random.next() < 0.5 ? {} : { hook: "500-x3" });
  if (created) await world.followUp(created.sessionId, kind);
  if (!(await world.waitForDeath(DIE_WITHIN_MS))) {
    world.problems.push(`there were no ${nth} statements`);
    return world.waitUntilIdle();
  }
  await world.restart();
  const [first] = world.acknowledged;
  if (!created && first) await world.followUp(first.sessionId, kind);
  await world.waitUntilIdle();
}

/** `kill -9` at a random database statement. This covers the gaps between the named kill points. */
export const anyStatement: FaultCase = {
  name: "statement",
  group: "kill",
  title: "before, in or after any statement of the database",
  play: playAnyStatement,
};
