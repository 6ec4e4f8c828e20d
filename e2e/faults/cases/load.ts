import { readdirSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createDeadline } from "#lib/time/deadline.ts";
import { API_KEY } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import { INSPECTABLE, readHeldMb } from "../world/inspect-memory.ts";
import type { World } from "../world/open-world.ts";

const STREAMS = 1_000;
const STALLED = 10;
const SESSIONS = 200;
const AT_ONCE = 16;
/** The factor by which descriptors and memory may grow after the first round. The first round fills the caches. */
const GROWTH_MAX = 1.1;
const ROUNDS = 4;
const SETTLE_MS = 5_000;

type Follower = { text: () => string; ended: Promise<void>; close: () => void };

/** Follows a stream over its own connection. A stalled follower stops reading at the beginning of the body. */
function follow(world: World, path: string, isStalled: boolean): Promise<Follower> {
  return new Promise((resolve, reject) => {
    const request = get(
      new URL(path, world.service().baseUrl),
      { headers: { authorization: `Bearer ${API_KEY}` }, agent: new Agent({ keepAlive: false }) },
      (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        const ended = new Promise<void>((done) => response.once("close", () => done()));
        if (isStalled) response.pause();
        else response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => {});
        resolve({
          text: () => Buffer.concat(chunks).toString("utf8"),
          ended,
          close: () => request.destroy(),
        });
      },
    );
    request.on("error", reject);
  });
}

const countDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** Waits at most 5 s until the service has no more than this number of open descriptors. */
async function waitForRelease(pid: number, descriptors: number): Promise<void> {
  const end = Date.now() + SETTLE_MS;
  while (countDescriptors(pid) > descriptors && Date.now() < end) await sleep(100);
}

const eventStreams: FaultCase = {
  name: "streams-1000",
  group: "load",
  title: "1,000 event streams, 10 that stop reading",
  seedsMax: 1,
  runsAlone: true,
  async play(world) {
    await world.start(undefined, INSPECTABLE);
    await world.create("plain");
    await world.waitUntilIdle();
    const measurements: Resources[] = [];
    for (let round = 1; round <= ROUNDS; round++) measurements.push(await playAndMeasure(world));
    const [warm, last] = [measurements[0], measurements.at(-1)];
    if (!warm || !last) return;
    const isBack =
      last.descriptors <= warm.descriptors * GROWTH_MAX && last.heldMb <= warm.heldMb * GROWTH_MAX;
    if (!isBack)
      world.problems.push(`I9: resources grew over ${ROUNDS} rounds: ${measurements.map(write).join(", ")}`);
  },
};

type Resources = { descriptors: number; heldMb: number };

const write = ({ descriptors, heldMb }: Resources) =>
  `${descriptors} descriptors and ${heldMb.toFixed(1)} MB`;

/** Plays a round. @returns the number of descriptors and the memory that the service holds after the round. */
async function playAndMeasure(world: World): Promise<Resources> {
  const pid = world.service().pid ?? 0;
  const descriptors = countDescriptors(pid);
  await playRound(world);
  await waitForRelease(pid, descriptors);
  return { descriptors: countDescriptors(pid), heldMb: await readHeldMb(world.service()) };
}

/**
 * Plays a slow turn with 1,000 followers. Ten of them stop reading, which must not delay the others. All others must
 * receive every event.
 */
async function playRound(world: World): Promise<void> {
  const created = await world.create("model:slow");
  if (!created) throw new Error("the session was not created");
  const followers: Follower[] = [];
  for (let opened = 0; opened < STREAMS; opened += 50) {
    const batch = Array.from({ length: 50 }, (_, index) =>
      follow(world, created.streamUrl, opened + index < STALLED),
    );
    followers.push(...(await Promise.all(batch)));
  }
  await world.waitUntilIdle();
  const reading = followers.slice(STALLED);
  await createDeadline({ ms: 20_000 }).race(Promise.all(reading.map(({ ended }) => ended)), () => {});
  const stored = (text: string) =>
    text
      .split(/(?<=\n\n)/)
      .filter((block) => block.startsWith("id: "))
      .join("");
  const [expected = ""] = reading.map((follower) => stored(follower.text()));
  const different = reading.filter((follower) => stored(follower.text()) !== expected).length;
  if (!expected.includes("run.completed")) world.problems.push("a follower did not get the end of the run");
  if (different > 0)
    world.problems.push(`${different} of ${STREAMS} followers got something else than the first`);
  for (const follower of followers) follower.close();
}

const manySessions: FaultCase = {
  name: "sessions-200",
  group: "load",
  title: "200 sessions without browsers",
  seedsMax: 1,
  runsAlone: true,
  async play(world) {
    await world.start();
    let left = SESSIONS;
    const work = async () => {
      while (left-- > 0)
        await world.create(world.random.pick(["plain", "structured", "many"]), {
          body: { capabilities: { browser: false } },
        });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await world.waitUntilIdle();
    if (world.acknowledged.length !== SESSIONS)
      world.problems.push(`${world.acknowledged.length} sessions were created`);
  },
  findViolations: ({ rows }) =>
    rows.runs
      .filter((run) => run.state !== "succeeded")
      .map((run) => `${run.id} ended ${run.state}: ${run.error}`),
};

/** Cases with high load: many event streams and many sessions. */
export const loadFaults: FaultCase[] = [eventStreams, manySessions];
