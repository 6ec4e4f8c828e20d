import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { type GetStepTools, type Inngest, NonRetriableError } from "inngest";
import { openTestDatabase } from "#db/testing.ts";
import {
  clearEngine,
  countWaiting,
  createGate,
  createManualClock,
  createTestProcess,
  isQuiet,
  readRuns,
  type TestProcess,
  until,
} from "./testing.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let processes: TestProcess[] = [];

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
beforeEach(() => clearEngine(database.db));
afterEach(async () => {
  const alive = processes.filter((process) => !process.isCrashed());
  await Promise.all(alive.map(({ engine }) => engine.stop({ graceMs: 0 })));
  processes = [];
});

function createProcess(options: Parameters<typeof createTestProcess>[1] = {}) {
  const process = createTestProcess(database.db, options);
  processes.push(process);
  return process;
}

const allOver = () => until(() => isQuiet(database.db), "all runs have ended");
const parked = () => until(async () => (await countWaiting(database.db)) === 1, "the run is parked");

/** Creates a function with three steps. If `gate` is set, the second step ends when `gate` resolves. */
const threeSteps = (client: Inngest.Any, ran: string[], gate?: Promise<void>) =>
  client.createFunction({ id: "three", triggers: { event: "go" } }, async ({ step }) => {
    await step.run("first", () => ran.push("first"));
    await step.run("second", async () => {
      ran.push("second");
      await gate;
    });
    await step.run("third", () => ran.push("third"));
    return "done";
  });

describe("a start after a crash", () => {
  it("continues at the interrupted step: recorded steps do not run again", async () => {
    const ran: string[] = [];
    const first = createProcess();
    await first.start([threeSteps(first.client, ran, createGate().promise)]);
    await first.client.send({ name: "go" });
    await until(() => ran.includes("second"), "the second step runs");
    first.crash();
    await first.drained();

    const again: string[] = [];
    const second = createProcess();
    await second.start([threeSteps(second.client, again)]);
    await allOver();
    assert.deepEqual(ran, ["first", "second"]);
    assert.deepEqual(again, ["second", "third"]);
    assert.equal((await readRuns(database.db))[0]?.output, "done");
  });

  it("uses the results of parallel steps and repeats only the unfinished one", async () => {
    const define = (client: Inngest.Any, ran: string[], gate?: Promise<void>) =>
      client.createFunction({ id: "pair", triggers: { event: "go" } }, ({ step }) =>
        Promise.all([
          step.run("quick", () => ran.push("quick")),
          step.run("slow", async () => {
            ran.push("slow");
            await gate;
          }),
        ]),
      );
    const ran: string[] = [];
    const first = createProcess();
    await first.start([define(first.client, ran, createGate().promise)]);
    await first.client.send({ name: "go" });
    const recorded = "select count(*)::int as n from engine_steps where state = 'done'";
    await until(
      async () => (await database.client.query<{ n: number }>(recorded)).rows[0]?.n === 1,
      "the quick step is recorded",
    );
    first.crash();
    await first.drained();

    const again: string[] = [];
    const second = createProcess();
    await second.start([define(second.client, again)]);
    await allOver();
    assert.deepEqual(ran, ["quick", "slow"]);
    assert.deepEqual(again, ["slow"]);
  });

  it("ends sleeps that are due, and continues the others", async () => {
    const define = (client: Inngest.Any) =>
      client.createFunction({ id: "sleeper", triggers: { event: "go" } }, async ({ step }) => {
        await step.sleep("first", "10s");
        await step.sleep("second", "10s");
        return "awake";
      });
    const first = createProcess();
    await first.start([define(first.client)]);
    await first.client.send({ name: "go" });
    await parked();
    first.crash();
    await first.drained();

    const clock = createManualClock(first.clock.now() + 12_000);
    const second = createProcess({ clock });
    await second.start([define(second.client)]);
    clock.advance(0);
    await until(async () => {
      const { rows } = await database.client.query<{ n: number }>(
        "select count(*)::int as n from engine_steps",
      );
      return rows[0]?.n === 2;
    }, "the second sleep has begun");
    await parked();
    clock.advance(10_000);
    await allOver();
    assert.equal((await readRuns(database.db))[0]?.output, "awake");
  });

  it("continues waits for events, and for the next attempt of a failed step", async () => {
    let attempts = 0;
    const define = (client: Inngest.Any) =>
      client.createFunction({ id: "waiter", triggers: { event: "go" } }, async ({ step }) => {
        const answer = await step.waitForEvent("answer", { event: "answer", timeout: "1h" });
        await step.run("flaky", () => {
          if (++attempts < 2) throw new Error("not yet");
        });
        return answer?.data;
      });
    const first = createProcess();
    await first.start([define(first.client)]);
    await first.client.send({ name: "go" });
    await parked();
    first.crash();
    await first.drained();

    const second = createProcess({ clock: first.clock });
    await second.start([define(second.client)]);
    await second.client.send({ name: "answer", data: { n: 1 } });
    await until(() => attempts === 1, "the first attempt was made");
    await parked();
    second.crash();
    await second.drained();

    const third = createProcess({ clock: first.clock });
    await third.start([define(third.client)]);
    assert.equal(attempts, 1);
    third.clock.advance(1_000);
    await allOver();
    assert.deepEqual((await readRuns(database.db))[0]?.output, { n: 1 });
  });
});

describe("a temporary failure of the database", () => {
  it("delays a run, but loses nothing", async () => {
    const process = createProcess();
    let calls = 0;
    const fn = process.client.createFunction({ id: "tough", triggers: { event: "go" } }, async ({ step }) => {
      process.breakDatabase(++calls === 1);
      await step.sleep("nap", "10s");
      return "done";
    });
    await process.start([fn]);
    await process.client.send({ name: "go" });
    await until(() => calls === 1, "the first call was made");
    assert.equal((await readRuns(database.db))[0]?.state, "running");
    process.breakDatabase(false);
    await until(async () => {
      process.clock.advance(1_000);
      return isQuiet(database.db);
    }, "the run has ended");
    assert.equal((await readRuns(database.db))[0]?.output, "done");
  });
});

describe("an orderly stop", () => {
  it("waits for the end of the current step, records it, and leaves the rest to the next start", async () => {
    const ran: string[] = [];
    const gate = createGate();
    const first = createProcess();
    await first.start([threeSteps(first.client, ran, gate.promise)]);
    await first.client.send({ name: "go" });
    await until(() => ran.includes("second"), "the second step runs");
    const stopped = first.engine.stop({ graceMs: 5_000 });
    assert.equal(first.engine.isHealthy(), false);
    gate.resolve();
    await stopped;
    assert.deepEqual(ran, ["first", "second"]);

    const again: string[] = [];
    const second = createProcess({ isSoleExecutor: false });
    await second.start([threeSteps(second.client, again)]);
    await allOver();
    assert.deepEqual(again, ["third"]);
  });

  it("waits for a step that hangs only as long as the grace period", async () => {
    const ran: string[] = [];
    const first = createProcess();
    await first.start([threeSteps(first.client, ran, createGate().promise)]);
    await first.client.send({ name: "go" });
    await until(() => ran.includes("second"), "the second step runs");
    await first.engine.stop({ graceMs: 10 });
    assert.equal((await readRuns(database.db))[0]?.state, "running");
  });
});

describe("two executors on one database", () => {
  it("an executor that has lost its run cannot write: its checkpoint is refused with 409", async () => {
    const ran: string[] = [];
    const gate = createGate();
    const refused: string[] = [];
    const stale = createProcess({
      onExchange: (path, status) => {
        if (status === 409) refused.push(path);
      },
    });
    await stale.start([threeSteps(stale.client, ran, gate.promise)]);
    await stale.client.send({ name: "go" });
    await until(() => ran.includes("second"), "the second step runs");

    const again: string[] = [];
    const held = createGate();
    const owner = createProcess();
    await owner.start([threeSteps(owner.client, again, held.promise)]);
    await until(() => again.includes("second"), "the new owner repeats the second step");
    gate.resolve();
    await until(() => refused.length > 0, "the stale checkpoint is refused");
    assert.match(refused[0] ?? "", /^\/v1\/checkpoint\/.+\/async$/);
    assert.equal((await readRuns(database.db))[0]?.state, "running");
    held.resolve();
    await allOver();
    assert.deepEqual(ran, ["first", "second"]);
    assert.deepEqual(again, ["second", "third"]);
  });

  for (const [ending, end] of [
    ["completes", () => "by the stale one"],
    [
      "fails",
      () => {
        throw new NonRetriableError("by the stale one");
      },
    ],
    ["sleeps", async ({ step }) => step.sleep("nap", "1s")],
    [
      "sleeps beside another step",
      async ({ step }) => Promise.all([step.sleep("nap", "1s"), step.sleep("b", "1s")]),
    ],
    ["waits", async ({ step }) => step.waitForEvent("wait", { event: "answer", timeout: "1s" })],
    [
      "fails in a step",
      async ({ step }) =>
        step.run("bad", () => {
          throw new Error("by the stale one");
        }),
    ],
  ] as [string, (context: { step: GetStepTools<Inngest.Any> }) => unknown][])
    it(`an executor that has lost its run writes nothing when its call ${ending}`, async () => {
      const gate = createGate();
      const sight = { isCalled: false, failures: 0 };
      const define = (client: Inngest.Any, play: (context: { step: GetStepTools<Inngest.Any> }) => unknown) =>
        client.createFunction(
          { id: "taken", triggers: { event: "go" }, onFailure: () => void sight.failures++ },
          play,
        );
      const stale = createProcess();
      const late = define(stale.client, async (context) => {
        sight.isCalled = true;
        await gate.promise;
        return end(context);
      });
      await stale.start([late]);
      await stale.client.send({ name: "go" });
      await until(() => sight.isCalled, "the call is under way");

      const owner = createProcess();
      await owner.start([define(owner.client, async ({ step }) => step.sleep("own", "1h"))]);
      await parked();
      const look = async () => [
        (await database.client.query("select * from engine_runs")).rows,
        (await database.client.query("select * from engine_steps")).rows,
        (await database.client.query("select * from engine_events")).rows,
      ];
      const before = await look();
      gate.resolve();
      await stale.engine.stop({ graceMs: 5_000 });
      assert.deepEqual(await look(), before);
      assert.equal(sight.failures, 0);
      owner.clock.advance(3_600_000);
      await allOver();
      assert.equal((await readRuns(database.db))[0]?.state, "completed");
    });

  it("an executor keeps its runs while its lease lasts; the next sweep claims the runs of an expired lease", async () => {
    const ran: string[] = [];
    const first = createProcess({ isSoleExecutor: false });
    await first.start([threeSteps(first.client, ran, createGate().promise)]);
    await first.client.send({ name: "go" });
    await until(() => ran.includes("second"), "the second step runs");
    first.crash();
    await first.drained();

    const again: string[] = [];
    const second = createProcess({ isSoleExecutor: false, sweepMs: 1_000 });
    await second.start([threeSteps(second.client, again)]);
    assert.deepEqual(again, []);
    await database.client.query(
      `update engine_executors set lease_until = now() - interval '1 second'
       where lease_until = (select min(lease_until) from engine_executors)`,
    );
    second.clock.advance(1_000);
    await allOver();
    assert.deepEqual(again, ["second", "third"]);
  });

  it("live executors keep their runs when the database's clock is set forward: all renew before one claims", async () => {
    const ran: string[] = [];
    const gate = createGate();
    const first = createProcess({ isSoleExecutor: false });
    await first.start([threeSteps(first.client, ran, gate.promise)]);
    await first.client.send({ name: "go" });
    await until(() => ran.includes("second"), "the second step runs");
    const second = createProcess({ isSoleExecutor: false, sweepMs: 1_000 });
    await second.start([threeSteps(second.client, [])]);
    await database.client.query("update engine_executors set lease_until = now() - interval '2 days'");
    const countLeases = "select count(*)::int as n from engine_executors where lease_until > now()";
    const hasRenewed = async (n: number) =>
      (await database.client.query<{ n: number }>(countLeases)).rows[0]?.n === n;
    second.clock.advance(1_000);
    await until(() => hasRenewed(1), "the second has renewed its lease");
    first.clock.advance(5_000);
    await until(() => hasRenewed(2), "the first has renewed its lease");
    second.clock.advance(20_000);
    gate.resolve();
    await allOver();
    assert.deepEqual(ran, ["first", "second", "third"]);
    const epochs = await database.client.query<{ epoch: number }>("select epoch from engine_runs");
    assert.deepEqual(epochs.rows, [{ epoch: 1 }]);
  });

  it("a dead executor's lease lasts no longer than usual when the database's clock is set back", async () => {
    const first = createProcess({ isSoleExecutor: false });
    await first.start([threeSteps(first.client, [], createGate().promise)]);
    await first.client.send({ name: "go" });
    await until(async () => (await readRuns(database.db)).length === 1, "the run has begun");
    first.crash();
    await first.drained();
    await database.client.query("update engine_executors set lease_until = now() + interval '2 days'");
    const again: string[] = [];
    const second = createProcess({ isSoleExecutor: false, sweepMs: 1_000, leaseMs: 200 });
    await second.start([threeSteps(second.client, again)]);
    await until(() => {
      second.clock.advance(1_000);
      return isQuiet(database.db);
    }, "the run was taken over and has ended");
    assert.equal(again.at(-1), "third");
  });

  it("a parked run continues in the executor that receives its event", async () => {
    const define = (client: Inngest.Any, name: string) =>
      client.createFunction({ id: "waiter", triggers: { event: "go" } }, async ({ step }) => {
        await step.waitForEvent("answer", { event: "answer", timeout: "1h" });
        return step.run("where", () => name);
      });
    const first = createProcess({ isSoleExecutor: false });
    const second = createProcess({ isSoleExecutor: false });
    await first.start([define(first.client, "first")]);
    await second.start([define(second.client, "second")]);
    await first.client.send({ name: "go" });
    await parked();
    await second.client.send({ name: "answer" });
    await allOver();
    first.clock.advance(3_600_000);
    assert.equal((await readRuns(database.db))[0]?.output, "second");
  });

  it("a cron starts one run each time, however many processes schedule it", async () => {
    let count = 0;
    const define = (client: Inngest.Any) =>
      client.createFunction({ id: "tick", triggers: { cron: "* * * * *" } }, () => ++count);
    const clock = createManualClock();
    for (const process of [
      createProcess({ isSoleExecutor: false, clock }),
      createProcess({ isSoleExecutor: false, clock }),
    ])
      await process.start([define(process.client)]);
    clock.advance(60_000);
    await until(() => count > 0, "the tick was played");
    await allOver();
    await Promise.all(processes.map(({ engine }) => engine.stop({ graceMs: 1_000 })));
    assert.equal(count, 1);
  });
});

describe("number of statements, and pruning", () => {
  it("a checkpointed step costs one statement, even the three hundredth", async () => {
    const process = createProcess();
    const counts: number[] = [];
    const fn = process.client.createFunction({ id: "long", triggers: { event: "go" } }, async ({ step }) => {
      for (let turn = 0; turn < 300; turn++)
        await step.run(`turn-${turn}`, () => counts.push(process.statementCount()));
    });
    await process.start([fn]);
    await process.client.send({ name: "go" });
    // Waits only for this run, because a process of an earlier test may have stored another run late.
    await until(
      async () =>
        (await readRuns(database.db)).some(
          (run) => run.functionId === "test-long" && run.state === "completed",
        ),
      "the long run has ended",
    );
    assert.equal(counts.length, 300);
    for (const [turn, count] of counts.entries()) assert.equal(count - (counts[0] ?? 0), turn);
  });

  it("a run of one step costs two statements if steps are buffered until its end", async () => {
    const process = createProcess();
    const checkpointing = { bufferedSteps: 2, maxRuntime: 0 };
    const fn = process.client.createFunction(
      { id: "short", checkpointing, triggers: { event: "go" } },
      async ({ step }) => step.run("only", () => "done"),
    );
    await process.start([fn]);
    const before = process.statementCount();
    await process.client.send({ name: "go" });
    await allOver();
    assert.equal(process.statementCount() - before, 2);
    assert.equal((await readRuns(database.db))[0]?.output, "done");
  });

  it("buffered steps are repeated together after a crash, and recorded before a wait", async () => {
    const define = (client: Inngest.Any, ran: string[], gate?: Promise<void>) =>
      client.createFunction(
        { id: "pairs", checkpointing: { bufferedSteps: 2, maxRuntime: 0 }, triggers: { event: "go" } },
        async ({ step }) => {
          for (const name of ["one", "two", "three"]) await step.run(name, () => ran.push(name));
          await step.sleep("nap", "10s");
          await step.run("four", () => ran.push("four"));
          await step.run("five", async () => {
            ran.push("five");
            await gate;
          });
        },
      );
    const ran: string[] = [];
    const first = createProcess();
    await first.start([define(first.client, ran, createGate().promise)]);
    await first.client.send({ name: "go" });
    await parked();
    first.clock.advance(10_000);
    await until(() => ran.includes("five"), "the fifth step runs");
    first.crash();
    await first.drained();

    const again: string[] = [];
    const second = createProcess();
    await second.start([define(second.client, again)]);
    await allOver();
    assert.deepEqual(ran, ["one", "two", "three", "four", "five"]);
    assert.deepEqual(again, ["four", "five"]);
  });

  it("concurrent events share a statement, and so do the ends of their runs", async () => {
    const process = createProcess();
    const fn = process.client.createFunction(
      { id: "many", triggers: { event: "go" } },
      ({ event }) => event.data.n,
    );
    await process.start([fn]);
    const before = process.statementCount();
    await Promise.all(Array.from({ length: 40 }, (_, n) => process.client.send({ name: "go", data: { n } })));
    await until(
      async () => (await readRuns(database.db)).filter(({ state }) => state === "completed").length === 40,
      "all forty are over",
    );
    const outputs = (await readRuns(database.db)).map(({ output }) => Number(output));
    assert.deepEqual(
      outputs.sort((a, b) => a - b),
      Array.from({ length: 40 }, (_, n) => n),
    );
    const count = process.statementCount() - before;
    assert.ok(count <= 40, `${count} statements for forty runs`);
  });

  it("the sweep removes ended runs and old events, and keeps open runs", async () => {
    const process = createProcess({ keepMs: 0 });
    const over = process.client.createFunction({ id: "over", triggers: { event: "go" } }, () => "over");
    const open = process.client.createFunction(
      { id: "open", triggers: { event: "wait" } },
      async ({ step }) => {
        await step.sleep("long", "7d");
      },
    );
    await process.start([over, open]);
    await process.client.send({ name: "go" });
    await process.client.send({ name: "wait" });
    await until(
      async () =>
        (await readRuns(database.db))
          .map(({ state }) => state)
          .sort()
          .join() === "completed,waiting",
      "one run is over and one parked",
    );
    process.clock.advance(60_000);
    await until(async () => {
      process.clock.advance(5_000);
      return (await readRuns(database.db)).length === 1;
    }, "the ended run is forgotten");
    assert.equal((await readRuns(database.db))[0]?.functionId, "test-open");
  });
});

const DAYS_2 = 2 * 24 * 3_600_000;
const NOON = Date.UTC(2026, 0, 5, 12);

/**
 * Creates a function that sleeps until a date, one minute from now on the machine's clock, as the service's functions
 * do.
 */
const sleepAMinute = (client: Inngest.Any, wallNow: () => number) =>
  client.createFunction({ id: "sleeper", triggers: { event: "go" } }, async ({ step }) => {
    await step.sleepUntil("pause", new Date(wallNow() + 60_000));
    return "awake";
  });

/** Creates a function that fails while `failures.left` is above 0. It is retried after a backoff of one second. */
const failOnce = (client: Inngest.Any, failures: { left: number }) =>
  client.createFunction({ id: "failing", triggers: { event: "go" }, retries: 1 }, async () => {
    if (failures.left-- > 0) throw new Error("not yet");
    return "awake";
  });

describe("a clock that jumps", () => {
  const output = async () => (await readRuns(database.db))[0]?.output;

  for (const [how, byMs] of [
    ["back", -DAYS_2],
    ["forward", DAYS_2],
  ] as const) {
    it(`${how} by two days while a run sleeps changes nothing`, async () => {
      const { client, clock, start } = createProcess();
      await start([sleepAMinute(client, clock.wallNow)]);
      await client.send({ name: "go" });
      await parked();
      clock.setWall(byMs);
      clock.advance(59_000);
      assert.equal(await countWaiting(database.db), 1);
      clock.advance(2_000);
      await allOver();
      assert.equal(await output(), "awake");
    });

    it(`${how} by two days before a run begins to sleep changes nothing`, async () => {
      const { client, clock, start } = createProcess();
      await start([sleepAMinute(client, clock.wallNow)]);
      clock.setWall(byMs);
      await client.send({ name: "go" });
      await parked();
      clock.advance(59_000);
      assert.equal(await countWaiting(database.db), 1);
      clock.advance(2_000);
      await allOver();
    });
  }

  it("back by two days between two starts restarts a sleep, which never exceeds its length", async () => {
    const first = createProcess({ clock: createManualClock(NOON) });
    await first.start([sleepAMinute(first.client, first.clock.wallNow)]);
    await first.client.send({ name: "go" });
    await parked();
    first.crash();
    await first.drained();
    const second = createProcess({ clock: createManualClock(NOON - DAYS_2) });
    await second.start([sleepAMinute(second.client, second.clock.wallNow)]);
    second.clock.advance(59_000);
    assert.equal(await countWaiting(database.db), 1);
    second.clock.advance(2_000);
    await allOver();
    assert.equal(await output(), "awake");
  });

  it("forward by two days between two starts ends a sleep", async () => {
    const first = createProcess({ clock: createManualClock(NOON) });
    await first.start([sleepAMinute(first.client, first.clock.wallNow)]);
    await first.client.send({ name: "go" });
    await parked();
    first.crash();
    await first.drained();
    const second = createProcess({ clock: createManualClock(NOON + DAYS_2) });
    await second.start([sleepAMinute(second.client, second.clock.wallNow)]);
    second.clock.advance(1);
    await allOver();
    assert.equal(await output(), "awake");
  });

  it("back by two days between two starts lets a failed attempt be repeated after its backoff", async () => {
    const failures = { left: 1 };
    const first = createProcess({ clock: createManualClock(NOON) });
    await first.start([failOnce(first.client, failures)]);
    await first.client.send({ name: "go" });
    await parked();
    first.crash();
    await first.drained();
    const second = createProcess({ clock: createManualClock(NOON - DAYS_2) });
    await second.start([failOnce(second.client, failures)]);
    second.clock.advance(2_000);
    await allOver();
    assert.equal(await output(), "awake");
  });
});

describe("crons after the clock was set back", () => {
  it("run again in the minutes that they ran in before", async () => {
    let count = 0;
    const define = (client: Inngest.Any) =>
      client.createFunction({ id: "tick", triggers: { cron: "* * * * *" } }, () => ++count);
    const first = createProcess();
    await first.start([define(first.client)]);
    first.clock.advance(60_000);
    await until(() => count === 1, "the cron has run");
    await allOver();
    first.crash();
    await first.drained();
    // Moves the rows into the future, as if the database's clock had been set back after they were written.
    await database.client.query("update engine_runs set ended_at = ended_at + interval '2 days'");
    await database.client.query("update engine_events set created_at = created_at + interval '2 days'");
    const second = createProcess();
    await second.start([define(second.client)]);
    second.clock.advance(60_000);
    await until(() => count === 2, "the cron has run again");
  });
});
