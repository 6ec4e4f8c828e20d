import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "#db/open-database.ts";
import { outbox, runs } from "#db/schema/index.ts";
import { startService } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";

const STOPPED_MS = 30_000;

/**
 * Several follow-ups arrive at the same time. Each must run once, and they must run one by one in their queue order.
 */
const followUpsAtOnce = (count: number): FaultCase => ({
  name: `follow-ups-${count}`,
  group: "concurrency",
  title: `${count} follow-ups at once`,
  seedsMax: 2,
  async play(world) {
    await world.start();
    const created = await world.create("plain");
    if (!created) throw new Error("the session was not created");
    await Promise.all(Array.from({ length: count }, () => world.followUp(created.sessionId, "plain")));
    await world.waitUntilIdle();
  },
  findViolations: ({ rows }) =>
    rows.requests.length === count + 1 ? [] : [`there are ${rows.requests.length} requests`],
});

const equalKeys: FaultCase = {
  name: "key-50",
  group: "concurrency",
  title: "one idempotency key, 50 times at once",
  seedsMax: 2,
  async play(world) {
    await world.start();
    const nonce = world.random.name();
    const body = {
      messages: [{ role: "user", parts: [{ type: "text", text: `<<plain n=${nonce}>> Please do it.` }] }],
      idempotencyKey: `key-${nonce}`,
    };
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await world.service().call("POST", "/api/session", body);
        return {
          status: answer.status,
          body: (await answer.json()) as { sessionId: string; requestId: string; runId: string },
        };
      }),
    );
    const [first] = answers;
    if (!first) return;
    const { sessionId, requestId, runId } = first.body;
    world.acknowledged.push({
      sessionId,
      requestId,
      runId,
      mode: "queue",
      nonce,
      idempotencyKey: `key-${nonce}`,
      atMs: Date.now(),
    });
    if (answers.filter(({ status }) => status === 201).length !== 1)
      world.problems.push("not exactly one was a 201");
    if (answers.some(({ body }) => body.sessionId !== sessionId))
      world.problems.push("the answers name different sessions");
    const followUp = await world.followUp(sessionId, "plain");
    if (followUp) await world.waitUntilIdle();
  },
};

/**
 * The service is killed while turns are open. Before it starts again, every job is marked as not sent, and each run
 * gets a second job. The second jobs are created in reverse order of the runs.
 */
const repeatedJobs: FaultCase = {
  name: "jobs-repeated",
  group: "concurrency",
  title: "duplicate and reordered engine events",
  seedsMax: 3,
  async play(world) {
    await world.start(`K12:${world.random.between(1, 4)}:kill9`);
    const created = await world.create("tools");
    if (created) for (let nth = 0; nth < 3; nth++) await world.followUp(created.sessionId, "plain");
    await world.waitForDeath(60_000);
    await repeatJobs(world);
    await world.restart();
    await world.waitUntilIdle();
  },
};

async function repeatJobs({ dataDir, databaseUrl }: World): Promise<void> {
  const database = await openDatabase(
    databaseUrl === undefined
      ? { driver: "embedded", dataDir }
      : { driver: "pg", url: databaseUrl, onError: () => {} },
  );
  try {
    const { db } = database;
    await db.update(outbox).set({ sentAt: null, createdAt: new Date(Date.now() - 3_600_000) });
    const all = await db
      .select({ id: runs.id, sessionId: runs.sessionId, requestId: runs.requestId })
      .from(runs);
    for (const [index, run] of all.reverse().entries()) {
      await db.insert(outbox).values({
        id: `${run.id}:again`,
        name: "turn/run.requested",
        data: { runId: run.id, sessionId: run.sessionId, generation: 1 },
        createdAt: new Date(Date.now() - 7_200_000 + index * 1_000),
      });
    }
  } finally {
    await database.close();
  }
}

/** The service process is suspended during a turn for longer than the turn's lease lasts, and then continues. */
const stoppedProcess: FaultCase = {
  name: "sigstop",
  group: "concurrency",
  title: "SIGSTOP for 30 s in mid-turn",
  seedsMax: 1,
  async play(world) {
    await world.start();
    const { pid } = world.service();
    const created = await world.create("slow-shell");
    if (!created || pid === undefined) throw new Error("the session was not created");
    await world.followUp(created.sessionId, "tools");
    await sleep(world.random.between(100, 2_500));
    world.disturb();
    process.kill(pid, "SIGSTOP");
    await sleep(STOPPED_MS);
    process.kill(pid, "SIGCONT");
    world.disturb();
    await world.waitUntilIdle();
  },
};

/**
 * Two service processes share a database. The process that plays the turn is suspended for longer than its lease lasts.
 * Meanwhile the other process must take over the turn.
 */
const staleLease: FaultCase = {
  name: "stale-lease",
  group: "concurrency",
  title: "SIGSTOP for 30 s of one of two processes",
  onlyOn: "server",
  seedsMax: 3,
  async play(world) {
    await world.start();
    const { pid } = world.service();
    const second = await startService(world.settings(), { dataDir: world.dataDir });
    try {
      const created = await world.create("slow-shell");
      if (!created || pid === undefined) throw new Error("the session was not created");
      await world.followUp(created.sessionId, "tools");
      await sleep(world.random.between(100, 2_500));
      world.disturb();
      process.kill(pid, "SIGSTOP");
      await sleep(STOPPED_MS);
      const { status } = await second.read<{ status: string }>(created.statusUrl);
      if (status !== "completed") world.problems.push(`the other process has not taken over: ${status}`);
      process.kill(pid, "SIGCONT");
      world.disturb();
      await world.waitUntilIdle();
    } finally {
      await second.stop();
    }
  },
};

export const concurrency: FaultCase[] = [
  followUpsAtOnce(2),
  followUpsAtOnce(20),
  equalKeys,
  repeatedJobs,
  stoppedProcess,
  staleLease,
];
