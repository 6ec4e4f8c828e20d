import { waitUntil } from "../../../fixtures/service.ts";
import type { FaultCase } from "../../fault-case.ts";
import type { World } from "../../world/open-world.ts";
import { type Rows, readRows } from "../../world/read-rows.ts";
import { remoteHostVariables, startRemoteHost } from "../../world/start-remote-host.ts";
import { countMostAtOneHost, findOvertakings, listWaits, type QueueChange } from "./find-overtakings.ts";
import { logQueue } from "./log-queue.ts";

const SESSIONS = 40;
const PLACES = 4;
/** Clients that create sessions at the same time. */
const CLIENTS = 10;
/** A host is killed when so many sessions have had a browser. */
const BEFORE_KILL = 12;
/** The sessions that are created after the kill. */
const LATE = 10;
/** Longest time for the sessions before the kill, and for those after it. */
const HALF_MAX_MS = 600_000;
/** How long after its end a call may be recorded. */
const RECORDED_MAX_MS = 1_000;

async function create(world: World, count: number): Promise<void> {
  let left = count;
  const body = { targetUrl: `${world.recorder.receiverUrl}/page/target` };
  const work = async () => {
    while (left-- > 0) await world.create("visit", { body });
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
}

async function play(world: World): Promise<void> {
  const { dataDir, databaseUrl = "", problems } = world;
  const hosts = await Promise.all(
    ["one", "two"].map((name) => startRemoteHost({ dataDir, name, places: PLACES })),
  );
  try {
    const urls = hosts.map(({ url }) => url);
    await world.start(undefined, { ...remoteHostVariables(urls), BROWSER_WAIT_MS: String(HALF_MAX_MS) });
    const queue = await logQueue(databaseUrl);
    await create(world, SESSIONS - LATE);
    await waitUntil(
      async () => countServed(await queue.read()) >= BEFORE_KILL,
      `${BEFORE_KILL} sessions have had a browser`,
      HALF_MAX_MS,
    );
    world.disturb();
    const kill = { hostId: hosts[0]?.id ?? "", atMs: Date.now() };
    hosts[0]?.kill();
    await create(world, LATE);
    await world.waitUntilIdle(HALF_MAX_MS);
    const changes = await queue.read();
    await queue.close();
    report(changes, kill.atMs);
    problems.push(...findOvertakings(changes));
    if (countMostAtOneHost(changes) > PLACES) problems.push("a host ran more browsers than it has places");
    problems.push(...findUntold(await readRows(world), changes, kill));
  } finally {
    const left = await Promise.all(hosts.map((host) => host.end()));
    problems.push(...left.flat());
  }
}

const countServed = (changes: QueueChange[]): number =>
  new Set(changes.filter(({ status }) => status === "ready").map(({ sessionId }) => sessionId)).size;

/** Prints how long sessions have waited for a place. */
function report(changes: QueueChange[], killedAtMs: number): void {
  const waits = listWaits(changes).map(({ queuedAtMs, endedAtMs }) => (endedAtMs - queuedAtMs) / 1_000);
  waits.sort((one, other) => one - other);
  const [began = killedAtMs, ended = killedAtMs] = [changes[0]?.atMs, changes.at(-1)?.atMs];
  const seconds = (value = 0) => `${value.toFixed(1)} s`;
  console.log(
    `    ${countServed(changes)} sessions had a browser within ${seconds((ended - began) / 1_000)}; ` +
      `a host was killed after ${seconds((killedAtMs - began) / 1_000)}; ` +
      `${waits.length} waits for a place, median ${seconds(waits[Math.floor(waits.length / 2)])}, ` +
      `longest ${seconds(waits.at(-1))}; at most ${countMostAtOneHost(changes)} browsers at one host`,
  );
}

/** Finds calls that failed without a lost browser, and calls that do not say that their browser was lost. */
function findUntold(
  { toolCalls }: Pick<Rows, "toolCalls">,
  changes: QueueChange[],
  kill: { hostId: string; atMs: number },
): string[] {
  const isLoss = ({ atMs, oldStatus, oldHost, host }: QueueChange) =>
    atMs > kill.atMs && oldStatus === "ready" && oldHost === kill.hostId && host !== kill.hostId;
  const lost = new Set(changes.filter(isLoss).map(({ sessionId }) => sessionId));
  if (lost.size === 0) return ["no session had its browser at the killed host"];
  return toolCalls.flatMap(({ sessionId, state, resultText, endedAt }) => {
    const text = `${sessionId}, ${state}: ${resultText}`;
    if (!lost.has(sessionId)) return state === "succeeded" ? [] : [`a call failed: ${text}`];
    const saysSo = /connection to the browser ended|browser was restarted/.test(text);
    const isBefore = Number(endedAt) < kill.atMs + RECORDED_MAX_MS;
    return isBefore || saysSo ? [] : [`a call does not say that its browser was lost: ${text}`];
  });
}

/**
 * 40 sessions share two remote hosts of four places each, of which one is killed in the middle. Needs a database server,
 * because the order of the queue is read from the database.
 */
export const sessionsOnHosts: FaultCase = {
  name: "sessions-on-hosts",
  group: "load",
  title: `${SESSIONS} sessions on two hosts of ${PLACES} places, one host killed`,
  seedsMax: 1,
  onlyOn: "server",
  runsAlone: true,
  runMaxMs: 3 * HALF_MAX_MS,
  play,
  findViolations: ({ rows }) => {
    const succeeded = rows.runs.filter(({ state }) => state === "succeeded").length;
    return succeeded === SESSIONS && rows.runs.length === SESSIONS
      ? []
      : [`${succeeded} of ${rows.runs.length} turns succeeded`];
  },
};
