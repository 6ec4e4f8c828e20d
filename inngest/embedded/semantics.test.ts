import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { NonRetriableError, RetryAfterError } from "inngest";
import { openTestDatabase } from "#db/testing.ts";
import {
  clearEngine,
  countWaiting,
  createGate,
  createTestProcess,
  isQuiet,
  quietLogger,
  readRuns,
  type TestProcess,
  until,
} from "./testing.ts";

/**
 * These tests check that the engine behaves like an Inngest server in cases that are not obvious. Sources: the public
 * code and documentation of the server.
 */

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let process: TestProcess;

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
beforeEach(async () => {
  await clearEngine(database.db);
  process = createTestProcess(database.db);
});
afterEach(() => process.engine.stop({ graceMs: 1_000 }));

const allOver = () => until(() => isQuiet(database.db), "all runs have ended");
const parked = (count = 1) =>
  until(async () => (await countWaiting(database.db)) === count, "the runs are parked");
const outputs = async () => (await readRuns(database.db)).map(({ output }) => output);

/** Advances the clock until all runs have ended. */
async function waitOut(): Promise<void> {
  await until(async () => {
    if ((await countWaiting(database.db)) > 0) process.clock.advance(60_000);
    return isQuiet(database.db);
  }, "all runs have ended");
}

describe("attempts", () => {
  it("are five in all if the function does not set `retries`", async () => {
    const { client, start } = process;
    const attempts: number[] = [];
    const fn = client.createFunction(
      { id: "usual", triggers: { event: "go" } },
      async ({ step, attempt }) => {
        await step.run("fails", () => {
          attempts.push(attempt);
          throw new Error("broken");
        });
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await waitOut();
    assert.deepEqual(attempts, [0, 1, 2, 3, 4]);
    assert.equal((await readRuns(database.db))[0]?.state, "failed");
  });

  it("are counted for each step separately", async () => {
    const { client, start } = process;
    const failures = new Map<string, number>();
    const fail = (name: string, times: number) => {
      const failed = failures.get(name) ?? 0;
      failures.set(name, failed + 1);
      if (failed < times) throw new Error(`${name} is not yet well`);
      return name;
    };
    const fn = client.createFunction(
      { id: "each", retries: 2, triggers: { event: "go" } },
      async ({ step }) => [
        await step.run("first", () => fail("first", 2)),
        await step.run("second", () => fail("second", 2)),
        await Promise.all([
          step.run("left", () => fail("left", 2)),
          step.run("right", () => fail("right", 1)),
        ]),
      ],
    );
    await start([fn]);
    await client.send({ name: "go" });
    await waitOut();
    assert.deepEqual(await outputs(), [["first", "second", ["left", "right"]]]);
    assert.deepEqual(Object.fromEntries(failures), { first: 3, second: 3, left: 3, right: 2 });
  });

  it("that are used up end the step, and the run if the function does not catch the error; the run is not repeated", async () => {
    const { client, start } = process;
    let calls = 0;
    const fn = client.createFunction(
      { id: "uncaught", retries: 1, triggers: { event: "go" } },
      async ({ step }) => {
        await step.run("fails", () => {
          calls++;
          throw new Error("broken");
        });
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await waitOut();
    assert.equal(calls, 2);
    const [run] = await readRuns(database.db);
    assert.deepEqual([run?.state, run?.error?.message], ["failed", "broken"]);
  });

  it("of parallel steps are independent: one step may fail while another continues", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "settled", retries: 1, triggers: { event: "go" } },
      async ({ step }) => {
        const settled = await Promise.allSettled([
          step.run("bad", () => {
            throw new Error("left broke");
          }),
          step.run("good", () => "well"),
        ]);
        const last = await step.run("after", () => "after");
        return [
          ...settled.map((each) => (each.status === "fulfilled" ? each.value : each.reason.message)),
          last,
        ];
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await waitOut();
    assert.deepEqual(await outputs(), [["left broke", "well", "after"]]);
  });

  it("of a function end in its failure if a parallel step fails finally", async () => {
    const { client, start } = process;
    const fn = client.createFunction({ id: "all", retries: 0, triggers: { event: "go" } }, ({ step }) =>
      Promise.all([
        step.run("bad", () => {
          throw new Error("left broke");
        }),
        step.run("good", () => "well"),
      ]),
    );
    await start([fn]);
    await client.send({ name: "go" });
    await waitOut();
    const [run] = await readRuns(database.db);
    assert.deepEqual([run?.state, run?.error?.message], ["failed", "left broke"]);
  });

  it("do not follow a NonRetriableError, in a step or outside, unless the function catches it", async () => {
    const { client, start } = process;
    const calls: string[] = [];
    const never = (name: string): never => {
      calls.push(name);
      throw new NonRetriableError(name);
    };
    const outside = client.createFunction({ id: "outside", triggers: { event: "go" } }, () =>
      never("outside"),
    );
    const caught = client.createFunction({ id: "caught", triggers: { event: "go" } }, async ({ step }) => {
      const message = await step.run("inside", () => never("inside")).catch((error: Error) => error.message);
      return [message, await step.run("after", () => "after")];
    });
    await start([outside, caught]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual(calls.sort(), ["inside", "outside"]);
    const runs = new Map((await readRuns(database.db)).map((run) => [run.functionId, run]));
    assert.equal(runs.get("test-outside")?.error?.message, "outside");
    assert.deepEqual(runs.get("test-caught")?.output, ["inside", "after"]);
  });

  for (const [form, retryAfter, delayMs] of [
    ["a number of milliseconds", () => 30_000, 30_000],
    ["a text", () => "2m", 120_000],
    ["a date", () => new Date(process.clock.now() + 45_000), 45_000],
    ["no time at all, which is a second", () => 0, 1_000],
    ["a date long past, which is a second", () => new Date(0), 1_000],
    ["more than a day, which is a day", () => "3d", 86_400_000],
  ] as const)
    for (const where of ["in a step", "outside"] as const)
      it(`happen when a RetryAfterError ${where} asks for it: ${form}`, async () => {
        const { client, start, clock } = process;
        let calls = 0;
        const ask = () => {
          if (++calls === 1) throw new RetryAfterError("later", retryAfter());
        };
        const fn = client.createFunction({ id: "asks", triggers: { event: "go" } }, async ({ step }) => {
          if (where === "outside") ask();
          else await step.run("asks", ask);
        });
        await start([fn]);
        await client.send({ name: "go" });
        await parked();
        clock.advance(delayMs - 1);
        await parked();
        assert.equal(calls, 1);
        clock.advance(1);
        await allOver();
        assert.equal(calls, 2);
      });
});

describe("times", () => {
  it("a sleep of length zero, or until a time in the past, ends at once", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction({ id: "awake", triggers: { event: "go" } }, async ({ step }) => {
      await step.sleep("none", 0);
      await step.sleepUntil("past", new Date(clock.now() - 86_400_000));
      return "awake";
    });
    await start([fn]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual(await outputs(), ["awake"]);
  });

  it("a sleep keeps its end, however often the function is called meanwhile", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction({ id: "steady", triggers: { event: "go" } }, async ({ step }) => {
      await Promise.all([step.sleep("long", "60s"), step.sleep("short", "20s")]);
      return "awake";
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(20_000);
    await parked();
    clock.advance(40_000);
    await allOver();
  });

  it("the timeout of waitForEvent may be a date", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction({ id: "dated", triggers: { event: "go" } }, async ({ step }) => {
      const timeout = new Date(clock.now() + 90_000);
      return (await step.waitForEvent("answer", { event: "answer", timeout })) === null
        ? "in vain"
        : "answered";
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(90_000);
    await allOver();
    assert.deepEqual(await outputs(), ["in vain"]);
  });
});

describe("events", () => {
  it("that arrived before the wait began do not end it", async () => {
    const { client, start } = process;
    const gate = createGate();
    let isBusy = false;
    const fn = client.createFunction({ id: "late", triggers: { event: "go" } }, async ({ step }) => {
      await step.run("before", async () => {
        isBusy = true;
        await gate.promise;
      });
      return (await step.waitForEvent("answer", { event: "answer", timeout: "1h" }))?.data.n;
    });
    await start([fn]);
    await client.send({ name: "go" });
    await until(() => isBusy, "the step runs");
    await client.send({ name: "answer", data: { n: 1 } });
    gate.resolve();
    await parked();
    await client.send({ name: "answer", data: { n: 2 } });
    await allOver();
    assert.deepEqual(await outputs(), [2]);
  });

  it("end one wait: a second wait for the same event needs another event", async () => {
    const { client, start } = process;
    const fn = client.createFunction({ id: "twice", triggers: { event: "go" } }, async ({ step }) => {
      const first = await step.waitForEvent("first", { event: "answer", timeout: "1h" });
      const second = await step.waitForEvent("second", { event: "answer", timeout: "1h" });
      return [first?.data.n, second?.data.n];
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    await client.send({ id: "answer-1", name: "answer", data: { n: 1 } });
    await parked();
    await client.send({ id: "answer-1", name: "answer", data: { n: 1 } });
    await parked();
    await client.send({ id: "answer-2", name: "answer", data: { n: 2 } });
    await allOver();
    assert.deepEqual(await outputs(), [[1, 2]]);
  });

  it("cancel by an if expression, and only within the timeout of cancelOn", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction(
      {
        id: "cancellable",
        triggers: { event: "go" },
        cancelOn: [{ event: "stop", if: "async.data.level > event.data.level", timeout: "1h" }],
      },
      async ({ step }) => {
        await step.sleep("long", "1d");
        return "slept";
      },
    );
    await start([fn]);
    await client.send({ name: "go", data: { level: 1 } });
    await client.send({ name: "go", data: { level: 5 } });
    await parked(2);
    await client.send({ name: "stop", data: { level: 3 } });
    await parked(1);
    // The database has dated the rows by its own clock, so the test sets their dates by the manual clock.
    await database.client.query(`update engine_runs set created_at = to_timestamp(${clock.now() / 1_000})`);
    clock.advance(2 * 3_600_000);
    await client.send({ name: "stop", data: { level: 9 } });
    clock.advance(86_400_000);
    await allOver();
    const states = (await readRuns(database.db)).map(({ state }) => state);
    assert.deepEqual(states.sort(), ["cancelled", "completed"]);
  });

  it("for which a cancelled run waited have no effect", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "gone", cancelOn: [{ event: "stop" }], triggers: { event: "go" } },
      async ({ step }) => step.waitForEvent("answer", { event: "answer", timeout: "1h" }),
    );
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    await client.send([{ name: "stop" }, { name: "answer" }]);
    await client.send({ name: "answer" });
    assert.deepEqual(
      (await readRuns(database.db)).map(({ state, output }) => [state, output]),
      [["cancelled", null]],
    );
  });

  it("of a repeated step.sendEvent arrive once, even without explicit ids", async () => {
    const { client, start, clock } = process;
    let failures = 0;
    const sender = client.createFunction({ id: "sender", triggers: { event: "go" } }, async ({ step }) => {
      await step.sendEvent("tell", [{ name: "told" }, { name: "told" }]);
      await step.run("then", () => {
        if (++failures < 3) throw new Error("not yet");
      });
    });
    let heard = 0;
    const receiver = client.createFunction({ id: "receiver", triggers: { event: "told" } }, () => ++heard);
    await start([sender, receiver]);
    await client.send({ name: "go" });
    await until(async () => {
      clock.advance(60_000);
      return isQuiet(database.db);
    }, "all runs have ended");
    assert.equal(heard, 2);
  });
});

describe("onFailure", () => {
  it("gets the event of the failure, with the run, the error and the event that started the run", async () => {
    const { client, start } = process;
    const seen: { name: string; data: Record<string, unknown> }[] = [];
    const fn = client.createFunction(
      {
        id: "failing",
        retries: 0,
        triggers: { event: "go" },
        onFailure: ({ event }) => {
          seen.push({ name: event.name, data: event.data });
        },
      },
      async ({ step }) => {
        await step.run("fails", () => {
          throw new TypeError("broken");
        });
      },
    );
    await start([fn]);
    await client.send({ id: "evt-1", name: "go", data: { n: 1 } });
    await allOver();
    assert.equal(seen.length, 1);
    const { name, data } = seen[0] ?? { name: "", data: {} };
    assert.equal(name, "inngest/function.failed");
    assert.equal(data.function_id, "test-failing");
    assert.equal(typeof data.run_id, "string");
    const { id, data: begunWith } = data.event as { id: string; data: unknown };
    assert.deepEqual([id, begunWith], ["evt-1", { n: 1 }]);
    assert.equal((data.error as Error).message, "broken");
  });

  it("is not called for a cancelled run, or for a run that succeeds after a failed attempt", async () => {
    const { client, start } = process;
    let failures = 0;
    let calls = 0;
    const onFailure = () => void failures++;
    const mended = client.createFunction({ id: "mended", triggers: { event: "go" }, onFailure }, () => {
      if (++calls === 1) throw new Error("not yet");
    });
    const stopped = client.createFunction(
      { id: "stopped", triggers: { event: "go" }, cancelOn: [{ event: "stop" }], onFailure },
      async ({ step }) => step.waitForEvent("never", { event: "never", timeout: "30d" }),
    );
    await start([mended, stopped]);
    await client.send({ name: "go" });
    await parked(2);
    await client.send({ name: "stop" });
    await waitOut();
    assert.equal(failures, 0);
  });

  it("is repeated when it fails, and its failure starts no further handler", async () => {
    const { client, start } = process;
    let calls = 0;
    const fn = client.createFunction(
      {
        id: "failing",
        retries: 0,
        triggers: { event: "go" },
        onFailure: () => {
          calls++;
          throw new Error("this, too");
        },
      },
      () => {
        throw new Error("broken");
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await waitOut();
    assert.equal(calls, 2, "the SDK gives it one retry");
    assert.equal((await readRuns(database.db)).length, 2);
  });

  it("that is missing is replaced by a warning in the log", async () => {
    await process.engine.stop({ graceMs: 1_000 });
    const warnings: [Record<string, unknown>, string][] = [];
    const warn = (fields: object, message: string) =>
      void warnings.push([fields as Record<string, unknown>, message]);
    process = createTestProcess(database.db, { logger: { ...quietLogger, warn } });
    const { client, start } = process;
    const fail = () => {
      throw new NonRetriableError("broken");
    };
    const noted: string[] = [];
    const onFailure = () => void noted.push("handled");
    await start([
      client.createFunction({ id: "handled", triggers: { event: "go" }, onFailure }, fail),
      client.createFunction({ id: "unhandled", triggers: { event: "go" } }, fail),
    ]);
    await client.send({ name: "go" });
    await waitOut();
    assert.deepEqual(noted, ["handled"]);
    assert.deepEqual(
      warnings.map(([{ functionId, err }, message]) => [functionId, (err as Error).message, message]),
      [["test-unhandled", "broken", "function run failed"]],
    );
  });
});

describe("concurrency", () => {
  it("is limited over all functions; a parked run uses no slot", async () => {
    await process.engine.stop({ graceMs: 0 });
    process = createTestProcess(database.db, { concurrency: 3 });
    const { client, start, clock } = process;
    let busy = 0;
    let most = 0;
    const fn = client.createFunction({ id: "crowd", triggers: { event: "go" } }, async ({ step }) => {
      await step.sleep("nap", "10s");
      await step.run("work", async () => {
        most = Math.max(most, ++busy);
        await until(() => most >= 3, "three are busy at a time");
        busy--;
      });
    });
    await start([fn]);
    await client.send(Array.from({ length: 12 }, () => ({ name: "go" })));
    await parked(12);
    clock.advance(10_000);
    await allOver();
    assert.equal(most, 3);
  });
});
