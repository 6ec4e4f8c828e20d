import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";

const secondOpener: FaultCase = {
  ...{ name: "second-opener", group: "database", title: "a second service on one data folder is refused" },
  ...{ onlyOn: "embedded", seedsMax: 1 },
  async play(world) {
    await world.start();
    const created = await world.create("tools");
    const variables = { OPENAI_BASE_URL: world.oracle.modelUrl };
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
    await world.quiet();
  },
};

const RESTARTS = 3;

const restarts: FaultCase = {
  ...{ name: "postgres-restarts", group: "database", title: "Postgres crashes every 5 to 10 s under load" },
  ...{ onlyOn: "server", seedsMax: 3, needsAll: true },
  async play(world) {
    const { restartDatabase, random } = world;
    if (!restartDatabase) throw new Error("--database postgres is needed: a server that may be restarted");
    await world.start();
    let isOver = false;
    const load = (async () => {
      while (!isOver) {
        const created = await world.create(random.pick(["plain", "tools", "structured"]));
        if (created) await world.followUp(created.sessionId, "plain");
        await world.askAgain();
        await sleep(400);
      }
    })();
    for (let nth = 0; nth < RESTARTS; nth++) {
      await sleep(random.between(5_000, 10_000));
      world.disturb();
      await restartDatabase();
      world.disturb();
    }
    isOver = true;
    await load;
    for (let tries = 0; world.unanswered.length > 0 && tries < 20; tries++) {
      await sleep(500);
      await world.askAgain();
    }
    if (world.unanswered.length > 0)
      world.problems.push(`${world.unanswered.length} calls were never answered`);
    await world.quiet();
  },
};

export const databaseFaults: FaultCase[] = [secondOpener, restarts];
