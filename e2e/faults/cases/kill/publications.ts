import type { FaultCase } from "../../fault-case.ts";
import type { PublicationChange } from "../../world/evidence.ts";
import type { World } from "../../world/open-world.ts";
import { armKill, expectKill } from "./arm-kill.ts";

/** Creates a session whose agent publishes a variant. @returns the session's id and the key of the variant. */
async function createPublishing(world: World): Promise<{ sessionId: string; variant: string }> {
  const created = await world.create("publish");
  const variant = world.acknowledged.find(({ runId }) => runId === created?.runId)?.nonce;
  if (!created || variant === undefined) throw new Error("the session was not created");
  return { sessionId: created.sessionId, variant };
}

/**
 * Requests a change over HTTP, and kills the service during it. After the restart, repeats the request if it got no
 * answer.
 */
async function killDuringChange(
  world: World,
  point: string,
  variant: string,
  wanted: PublicationChange["wanted"],
): Promise<void> {
  const { publisher } = world;
  await world.stop();
  await world.start(armKill(world, point));
  await publisher.change(variant, wanted);
  await expectKill(world, point);
  await world.restart();
  await publisher.read();
  await publisher.retryUnanswered();
  await publisher.read();
}

/** `kill -9` while the agent publishes, and again while a client publishes over the API. */
const killPublishing = (name: string, title: string): FaultCase => ({
  name,
  group: "kill",
  title,
  async play(world) {
    const { publisher } = world;
    await world.start(armKill(world, name));
    const { sessionId, variant } = await createPublishing(world);
    await world.followUp(sessionId, "plain");
    await expectKill(world, name);
    await world.restart();
    await world.waitUntilIdle();
    await publisher.read();
    await publisher.change(variant, "unpublish");
    await killDuringChange(world, name, variant, "publish");
    await publisher.change(variant, { rollback: 1 });
    await world.waitUntilIdle();
  },
  findViolations: ({ rows }) =>
    rows.releases
      .map(({ author }) => author)
      .sort()
      .join() === "agent,person"
      ? []
      : [`there are ${rows.releases.length} releases instead of the agent's and the program's`],
});

/** `kill -9` when a publication was rolled back or unpublished, and the service is about to answer. */
const killMoving: FaultCase = {
  name: "K39",
  group: "kill",
  title: "a publication rolled back or unpublished, not answered",
  async play(world) {
    const { publisher, random } = world;
    await world.start();
    const { variant } = await createPublishing(world);
    await world.waitUntilIdle();
    await publisher.read();
    await publisher.change(variant, "unpublish");
    await publisher.change(variant, "publish");
    const moves: PublicationChange["wanted"][] = [{ rollback: 1 }, "unpublish"];
    for (const wanted of random.next() < 0.5 ? moves : moves.toReversed())
      await killDuringChange(world, "K39", variant, wanted);
  },
};

/** Deletes two sessions, each with one publication. The service is killed during the second deletion. */
const killRemoval: FaultCase = {
  name: "K33",
  group: "kill",
  title: "removal of a session with a publication half done",
  async play(world) {
    const { publisher } = world;
    await world.start();
    const [first, second] = [await createPublishing(world), await createPublishing(world)];
    await world.waitUntilIdle();
    await publisher.read();
    await publisher.remove(first.sessionId);
    await world.stop();
    await world.start(armKill(world, "K33"));
    await publisher.read();
    await publisher.remove(second.sessionId);
    await expectKill(world, "K33");
    await world.restart();
    await publisher.read();
    await publisher.change(first.variant, "unpublish");
    await publisher.change(second.variant, { rollback: 1 });
  },
};

/** Kills while publications change. Source: `faults.md`, Kill points. */
export const publications: FaultCase[] = [
  killRemoval,
  killPublishing("K37", "about to publish a release"),
  killPublishing("K38", "a release stored, not shown"),
  killMoving,
];
