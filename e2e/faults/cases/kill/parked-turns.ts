import { setTimeout as sleep } from "node:timers/promises";
import type { FaultCase } from "../../fault-case.ts";
import type { World } from "../../world/open-world.ts";

const DIE_WITHIN_MS = 60_000;
const SESSIONS = 6;
const KILLS = 10;

/** Creates a session, and posts a message as a person. The agent responds to the message with questions. */
async function createAsking(world: World) {
  const created = await world.create("plain");
  if (created) await world.sayAsPerson(created, "ask");
  return created;
}

/** `kill -9` while the service parks a turn (stops executing it until a person answers), or wakes the turn. */
const killAt = (name: string, title: string, arrivals: number[]): FaultCase => ({
  name,
  group: "kill",
  title,
  async play(world) {
    const { random, problems } = world;
    const delay = random.next() < 0.5 ? "" : `@${random.between(1, 30)}`;
    await world.start(`${name}:${random.pick(arrivals)}:kill9${delay}`);
    const stopAnswering = world.answerQuestions();
    const created = await createAsking(world);
    if (!(await world.waitForDeath(DIE_WITHIN_MS))) problems.push(`${name} was not reached`);
    await world.restart();
    if (created) await world.followUp(created.sessionId, "plain");
    await world.waitUntilIdle();
    await stopAnswering();
  },
});

/** Kills the service at random moments while turns wait for answers and clients answer, steer and interrupt them. */
const randomKills: FaultCase = {
  name: "parked-kills",
  group: "kill",
  title: `${KILLS} kills at random moments while turns wait and are answered`,
  runsAlone: true,
  async play(world) {
    const { random } = world;
    await world.start();
    const created = [];
    for (let nth = 0; nth < SESSIONS; nth++) created.push(await createAsking(world));
    const stopAnswering = world.answerQuestions();
    for (let nth = 0; nth < KILLS; nth++) {
      for (const each of created) {
        if (!each || random.next() < 0.5) continue;
        const mode = random.pick(["queue", "queue", "steer", "interrupt"] as const);
        world.sayAsPersonLater(each, random.pick(["ask", "ask", "plain"]), mode, random.between(0, 1_500));
      }
      await sleep(random.between(100, 1_500));
      await world.kill();
      await world.restart();
    }
    await world.waitUntilIdle();
    await stopAnswering();
  },
  findViolations: ({ rows }) =>
    rows.events.filter(({ kind }) => kind === "turn.waiting").length >= SESSIONS
      ? []
      : ["fewer turns waited than sessions were created"],
};

/** Kills while turns wait for a person. Source: `faults.md`, Kill points. */
export const parkedTurns: FaultCase[] = [
  killAt("K31", "about to be parked", [1, 2, 3]),
  killAt("K32", "woken, the job not sent", [1, 2, 3]),
  killAt("K57", "parked, the callback not sent", [1, 2, 3]),
  randomKills,
];
