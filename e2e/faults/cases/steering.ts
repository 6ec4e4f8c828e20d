import { setTimeout as sleep } from "node:timers/promises";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";

const AT_ONCE = 20;
const WITHIN_MS = 900;

/** Starts the service and creates a session whose turn takes some time. */
async function createBusy(world: World, kind: string, variables: Record<string, string> = {}) {
  await world.start(undefined, variables);
  const created = await world.create(kind);
  if (!created) throw new Error("the session was not created");
  return created.sessionId;
}

const manySteers: FaultCase = {
  name: "steers-20",
  group: "steering",
  title: "20 steers at random moments of a turn",
  seedsMax: 3,
  async play(world) {
    const sessionId = await createBusy(world, "tools");
    for (let nth = 0; nth < AT_ONCE; nth++)
      world.followUpLater(sessionId, "plain", "steer", world.random.between(0, WITHIN_MS));
    await world.waitUntilIdle();
  },
  findViolations: ({ rows }) =>
    rows.events.some(({ kind }) => kind === "turn.steered") ? [] : ["no turn has read a steer"],
};

const killedSteers: FaultCase = {
  name: "steers-killed",
  group: "steering",
  title: "kill -9 while 20 steers come",
  seedsMax: 5,
  async play(world) {
    const { random } = world;
    const sessionId = await createBusy(world, "tools");
    for (let nth = 0; nth < AT_ONCE; nth++)
      world.followUpLater(sessionId, random.pick(["plain", "tools"]), "steer", random.between(0, WITHIN_MS));
    await sleep(random.between(0, WITHIN_MS));
    await world.kill();
    await world.restart();
    await world.waitUntilIdle();
  },
};

/** Interrupts a turn in a phase in which the executor could miss the stop request. */
const interruptAt = (name: string, kind: string, title: string, withinMs: number): FaultCase => ({
  name: `interrupt-${name}`,
  group: "steering",
  title: `interrupt ${title}`,
  seedsMax: 3,
  async play(world) {
    const sessionId = await createBusy(world, kind);
    await world.followUp(sessionId, "plain");
    world.followUpLater(sessionId, "tools", "interrupt", world.random.between(0, withinMs));
    await world.waitUntilIdle();
  },
  findViolations: ({ rows, acknowledged }) => {
    const interrupt = acknowledged.find(({ mode }) => mode === "interrupt");
    const own = rows.runs.filter((run) => run.requestId === interrupt?.requestId);
    return own.at(-1)?.state === "succeeded" ? [] : [`the turn of the interrupt ended ${own.at(-1)?.state}`];
  },
});

const mixed: FaultCase = {
  name: "modes-mixed",
  group: "steering",
  title: "queue, steer and interrupt at once",
  seedsMax: 3,
  async play(world) {
    const { random } = world;
    const sessionId = await createBusy(world, "structured");
    for (let nth = 0; nth < AT_ONCE; nth++)
      world.followUpLater(
        sessionId,
        random.pick(["plain", "tools"]),
        random.pick(["queue", "steer", "steer", "interrupt"]),
        random.between(0, 3 * WITHIN_MS),
      );
    await world.waitUntilIdle();
  },
};

/** Clients steer and interrupt running turns. Source: `wire.md`, Follow-ups. */
export const steering: FaultCase[] = [
  manySteers,
  killedSteers,
  mixed,
  interruptAt("model", "model:slow", "in a model's stream", 5_000),
  interruptAt("tool", "slow-shell", "in a tool", 3_000),
  interruptAt("retry", "model:500-always", "between two runs of a chain", 2_000),
  interruptAt("structured", "structured", "in a structured turn", 1_500),
];
