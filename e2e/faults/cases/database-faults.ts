import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";

const secondOpener: FaultCase = {
  name: "second-opener",
  group: "database",
  title: "a second service on one data folder is refused",
  onlyOn: "embedded",
  seedsMax: 1,
  async play(world) {
    await world.start();
    const created = await world.create("tools");
    const variables = { OPENAI_BASE_URL: world.recorder.modelUrl };
    const second = await startService(variables, { dataDir: world.dataDir }).then(
      async (service) => {
        await service.kill();
        return "it started";
      },
      (error: Error) => error.message,
    );
    if (!second.includes(`is in use by process ${world.service().pid}`))
      world.problems.push(`the second process: ${second}`);
    if (created) await world.followUp(created.sessionId, "plain");
    await world.waitUntilIdle();
  },
};

/**
 * Creates sessions and follow-ups, as clients would, until `work` has ended. Then repeats the requests that got no
 * answer, and waits until the service is idle.
 */
async function underLoad(world: World, work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      const created = await world.create(world.random.pick(["plain", "tools", "structured"]));
      if (created) await world.followUp(created.sessionId, "plain");
      await world.retryUnanswered();
      await sleep(400);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
  }
  await load;
  for (let tries = 0; world.unanswered.length > 0 && tries < 20; tries++) {
    await sleep(500);
    await world.retryUnanswered();
  }
  if (world.unanswered.length > 0)
    world.problems.push(`${world.unanswered.length} calls were never answered`);
  await world.waitUntilIdle();
}

const RESTARTS = 3;

const restarts: FaultCase = {
  name: "postgres-restarts",
  group: "database",
  title: "Postgres crashes every 5 to 10 s under load",
  onlyOn: "server",
  seedsMax: 3,
  runsAlone: true,
  async play(world) {
    const { restartDatabase, random } = world;
    if (!restartDatabase) throw new Error("--database postgres is needed: a server that may be restarted");
    await world.start();
    await underLoad(world, async () => {
      for (let nth = 0; nth < RESTARTS; nth++) {
        await sleep(random.between(5_000, 10_000));
        world.disturb();
        await restartDatabase();
        world.disturb();
      }
    });
  },
};

const KILLS = 10;

const killsUnderLoad: FaultCase = {
  name: "kills-10",
  group: "database",
  title: `${KILLS} kills at random moments under load`,
  runsAlone: true,
  async play(world) {
    await world.start();
    await underLoad(world, async () => {
      for (let nth = 0; nth < KILLS; nth++) {
        await sleep(world.random.between(200, 4_000));
        await world.kill();
        await world.restart();
      }
    });
  },
};

/**
 * The signals that each case sends to the embedded Postgres. `pids` contains the id of the server's process first, and
 * then the ids of its child processes.
 */
const SIGNALS: Record<string, (pids: number[]) => Promise<void>> = {
  async server([server = 0]) {
    process.kill(server, "SIGKILL");
  },
  async child([, child = 0]) {
    process.kill(child, "SIGKILL");
  },
  async both(pids) {
    for (const pid of pids.slice(0, 2)) process.kill(pid, "SIGKILL");
  },
  async stopped(pids) {
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    await sleep(30_000);
    for (const pid of pids) process.kill(pid, "SIGCONT");
  },
};

const embeddedSignals = Object.entries(SIGNALS).map(
  ([name, send]): FaultCase => ({
    name: `embedded-${name}`,
    group: "database",
    title:
      name === "stopped"
        ? "the embedded Postgres is suspended for 30 s under load"
        : `SIGKILL to the embedded Postgres under load (${name})`,
    onlyOn: "embedded",
    seedsMax: 3,
    runsAlone: true,
    async play(world) {
      await world.start();
      await underLoad(world, async () => {
        await sleep(world.random.between(3_000, 6_000));
        world.disturb();
        await send(await listServerPids(world.dataDir));
        await sleep(5_000);
        world.disturb();
      });
    },
  }),
);

/**
 * Returns the process id of the Postgres server in a data folder, followed by the ids of its child processes. Child
 * processes that serve clients come before the others.
 */
async function listServerPids(dataDir: string): Promise<number[]> {
  const server = Number.parseInt(await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8"), 10);
  const children: { pid: number; isClient: boolean }[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // The process may have ended since /proc was listed.
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    const [, parent] = /\) \S (\d+)/.exec(stat) ?? [];
    if (Number(parent) !== server) continue;
    const title = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    children.push({ pid: Number(entry), isClient: title.includes("postgres: postgres ") });
  }
  children.sort((one, other) => Number(other.isClient) - Number(one.isClient));
  return [server, ...children.map(({ pid }) => pid)];
}

export const databaseFaults: FaultCase[] = [secondOpener, restarts, killsUnderLoad, ...embeddedSignals];
