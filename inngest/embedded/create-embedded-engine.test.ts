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
  readRuns,
  type TestProcess,
  until,
} from "./testing.ts";

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

describe("steps", () => {
  it("an event starts the function and its result is recorded", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "plain", triggers: { event: "go" } },
      ({ event }) => event.data.word,
    );
    await start([fn]);
    await client.send({ name: "go", data: { word: "hello" } });
    await allOver();
    assert.deepEqual(await readRuns(database.db), [
      { functionId: "test-plain", state: "completed", output: "hello", error: null },
    ]);
  });

  it("steps in sequence run once each, in one call of the function", async () => {
    const { client, start } = process;
    const ran: string[] = [];
    let calls = 0;
    const fn = client.createFunction({ id: "sequence", triggers: { event: "go" } }, async ({ step }) => {
      calls++;
      const first = await step.run("first", () => ran.push("first"));
      const second = await step.run("second", () => ran.push("second"));
      return [first, second];
    });
    await start([fn]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual(ran, ["first", "second"]);
    assert.equal(calls, 1);
    assert.deepEqual((await readRuns(database.db))[0]?.output, [1, 2]);
  });

  it("parallel steps run concurrently and once each", async () => {
    const { client, start } = process;
    const ran: string[] = [];
    const gate = createGate();
    const fn = client.createFunction({ id: "parallel", triggers: { event: "go" } }, async ({ step }) => {
      const before = await step.run("before", () => "before");
      const both = await Promise.all([
        step.run("left", async () => {
          ran.push("left");
          await gate.promise;
          return "left";
        }),
        step.run("right", () => {
          ran.push("right");
          gate.resolve();
          return "right";
        }),
      ]);
      return [before, ...both, await step.run("after", () => "after")];
    });
    await start([fn]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual(ran, ["left", "right"]);
    assert.deepEqual((await readRuns(database.db))[0]?.output, ["before", "left", "right", "after"]);
  });

  it("a result may be null, undefined, or hold any text", async () => {
    const { client, start } = process;
    const fn = client.createFunction({ id: "values", triggers: { event: "go" } }, async ({ step }) => [
      await step.run("null", () => null),
      await step.run("nothing", () => {}),
      await step.run("text", () => "nul \u0000, half a pair \ud800, 'quote' \\ ü"),
    ]);
    await start([fn]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual((await readRuns(database.db))[0]?.output, [
      null,
      null,
      "nul \u0000, half a pair \ud800, 'quote' \\ ü",
    ]);
  });

  it("a sleep ends when it is due, not before", async () => {
    const { client, start, clock } = process;
    let isAwake = false;
    const fn = client.createFunction({ id: "sleeper", triggers: { event: "go" } }, async ({ step }) => {
      await step.sleep("nap", "90s");
      isAwake = true;
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(89_000);
    await parked();
    assert.equal(isAwake, false);
    clock.advance(1_000);
    await allOver();
    assert.equal(isAwake, true);
  });

  it("sleepUntil ends at the date it names", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction({ id: "until", triggers: { event: "go" } }, async ({ step }) => {
      await step.sleepUntil("then", new Date(clock.now() + 3_600_000));
      return "awake";
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(3_600_000);
    await allOver();
  });

  it("a step parallel to a sleep does not wait for it", async () => {
    const { client, start, clock } = process;
    const ran: string[] = [];
    const fn = client.createFunction({ id: "beside", triggers: { event: "go" } }, async ({ step }) => {
      await Promise.all([
        step.sleep("nap", "10s").then(() => step.run("after-nap", () => ran.push("after-nap"))),
        step.run("work", () => ran.push("work")).then(() => step.run("more", () => ran.push("more"))),
      ]);
    });
    await start([fn]);
    await client.send({ name: "go" });
    await until(() => ran.length === 2, "work and more have run");
    await parked();
    clock.advance(10_000);
    await allOver();
    assert.deepEqual(ran, ["work", "more", "after-nap"]);
  });

  it("an invoked function's result is the step's result, and its failure the step's failure", async () => {
    const { client, start } = process;
    const child = client.createFunction(
      { id: "child", retries: 0, triggers: { event: "never" } },
      ({ event }) => {
        if (event.data.fail) throw new NonRetriableError("child failed");
        return { doubled: Number(event.data.value) * 2 };
      },
    );
    const parent = client.createFunction({ id: "parent", triggers: { event: "go" } }, async ({ step }) => {
      const good = await step.invoke("good", { function: child, data: { value: 21 } });
      const bad = await step
        .invoke("bad", { function: child, data: { fail: true } })
        .catch((error: Error) => error.message);
      return [good, bad];
    });
    await start([child, parent]);
    await client.send({ name: "go" });
    await allOver();
    const run = (await readRuns(database.db)).find(({ functionId }) => functionId === "test-parent");
    assert.deepEqual(run?.output, [{ doubled: 42 }, "child failed"]);
  });
});

describe("events", () => {
  it("waitForEvent ends with a matching event, and with no other", async () => {
    const { client, start } = process;
    const fn = client.createFunction({ id: "waiter", triggers: { event: "go" } }, async ({ step }) => {
      const answer = await step.waitForEvent("answer", { event: "answer", timeout: "1h", match: "data.id" });
      return answer?.data;
    });
    await start([fn]);
    await client.send({ name: "go", data: { id: "a" } });
    await parked();
    await client.send({ name: "answer", data: { id: "b", text: "not mine" } });
    await client.send({ name: "other", data: { id: "a" } });
    await parked();
    await client.send({ name: "answer", data: { id: "a", text: "mine" } });
    await allOver();
    assert.deepEqual((await readRuns(database.db))[0]?.output, { id: "a", text: "mine" });
  });

  it("waitForEvent with an if expression sees both events", async () => {
    const { client, start } = process;
    const fn = client.createFunction({ id: "waiter", triggers: { event: "go" } }, async ({ step }) => {
      const rule = "async.data.score >= event.data.least && async.data.kind in ['x', 'y']";
      const answer = await step.waitForEvent("answer", { event: "answer", timeout: "1h", if: rule });
      return answer?.data.score;
    });
    await start([fn]);
    await client.send({ name: "go", data: { least: 5 } });
    await parked();
    await client.send([
      { name: "answer", data: { score: 4, kind: "x" } },
      { name: "answer", data: { score: 9, kind: "z" } },
      { name: "answer", data: { score: 7, kind: "y" } },
    ]);
    await allOver();
    assert.equal((await readRuns(database.db))[0]?.output, 7);
  });

  it("waitForEvent ends with null at its time limit", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction({ id: "waiter", triggers: { event: "go" } }, async ({ step }) => {
      const answer = await step.waitForEvent("answer", { event: "answer", timeout: "1m" });
      return answer === null ? "in vain" : "answered";
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(60_000);
    await allOver();
    assert.equal((await readRuns(database.db))[0]?.output, "in vain");
  });

  it("an event that arrives while the waiting run is busy is not lost", async () => {
    const { client, start } = process;
    const gate = createGate();
    let isBusy = false;
    const fn = client.createFunction({ id: "busy", triggers: { event: "go" } }, async ({ step }) => {
      const [answer] = await Promise.all([
        step.waitForEvent("answer", { event: "answer", timeout: "1h" }),
        step.run("work", async () => {
          isBusy = true;
          await gate.promise;
        }),
      ]);
      return answer?.data;
    });
    await start([fn]);
    await client.send({ name: "go" });
    await until(() => isBusy, "the step runs");
    await client.send({ name: "answer", data: { n: 1 } });
    gate.resolve();
    await allOver();
    assert.deepEqual((await readRuns(database.db))[0]?.output, { n: 1 });
  });

  it("the same event id twice starts one run, also within one request", async () => {
    const { client, start } = process;
    const fn = client.createFunction({ id: "once", triggers: { event: "go" } }, () => "ran");
    await start([fn]);
    const first = await client.send([
      { id: "run_1:1", name: "go" },
      { id: "run_1:1", name: "go" },
    ]);
    await client.send({ id: "run_1:1", name: "go" });
    await client.send({ id: "run_1:2", name: "go" });
    await allOver();
    assert.deepEqual(first.ids, ["run_1:1", "run_1:1"]);
    assert.equal((await readRuns(database.db)).length, 2);
  });

  it("step.sendEvent starts another function once", async () => {
    const { client, start } = process;
    const sender = client.createFunction({ id: "sender", triggers: { event: "go" } }, async ({ step }) => {
      await step.sendEvent("tell", [{ id: "told", name: "told", data: { n: 3 } }]);
      await step.sendEvent("tell-again", { id: "told", name: "told", data: { n: 4 } });
    });
    const heard: unknown[] = [];
    const receiver = client.createFunction({ id: "receiver", triggers: { event: "told" } }, ({ event }) => {
      heard.push(event.data);
    });
    await start([sender, receiver]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual(heard, [{ n: 3 }]);
  });

  it("a trigger's if expression decides whether the function runs", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "choosy", triggers: { event: "go", if: "event.data.kind == 'big' && !event.data.off" } },
      ({ event }) => event.data.n,
    );
    await start([fn]);
    await client.send(
      [1, 2, 3].map((n) => ({ name: "go", data: { n, kind: n > 1 ? "big" : "small", off: n === 2 } })),
    );
    await allOver();
    assert.deepEqual(
      (await readRuns(database.db)).map(({ output }) => output),
      [3],
    );
  });

  it("idempotency starts one run for each value of the expression", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "keyed", idempotency: "event.data.key", triggers: { event: "go" } },
      ({ event }) => event.data.key,
    );
    await start([fn]);
    for (const key of ["a", "a", "b"]) await client.send({ name: "go", data: { key } });
    await allOver();
    assert.equal((await readRuns(database.db)).length, 2);
  });

  it("cancelOn ends a parked run, and only the one that matches", async () => {
    const { client, start, clock } = process;
    const fn = client.createFunction(
      { id: "cancellable", cancelOn: [{ event: "stop", match: "data.id" }], triggers: { event: "go" } },
      async ({ step }) => {
        await step.sleep("long", "1d");
        return "slept";
      },
    );
    await start([fn]);
    await client.send({ name: "go", data: { id: "a" } });
    await client.send({ name: "go", data: { id: "b" } });
    await parked(2);
    await client.send({ name: "stop", data: { id: "a" } });
    clock.advance(86_400_000);
    await allOver();
    assert.deepEqual((await readRuns(database.db)).map(({ state }) => state).sort(), [
      "cancelled",
      "completed",
    ]);
  });

  it("cancelOn ends a run during a step: later steps do not run", async () => {
    const { client, start } = process;
    const gate = createGate();
    const ran: string[] = [];
    const fn = client.createFunction(
      { id: "cancellable", cancelOn: [{ event: "stop" }], triggers: { event: "go" } },
      async ({ step }) => {
        await step.run("first", async () => {
          ran.push("first");
          await gate.promise;
        });
        await step.run("second", () => ran.push("second"));
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await until(() => ran.length === 1, "the first step runs");
    await client.send({ name: "stop" });
    gate.resolve();
    await process.engine.stop({ graceMs: 1_000 });
    assert.deepEqual(ran, ["first"]);
    assert.equal((await readRuns(database.db))[0]?.state, "cancelled");
  });

  it("a cron starts its function at each time it names", async () => {
    const { client, start, clock } = process;
    let count = 0;
    const fn = client.createFunction({ id: "tick", triggers: { cron: "*/5 * * * *" } }, () => ++count);
    await start([fn]);
    clock.advance(4 * 60_000);
    assert.equal(count, 0);
    clock.advance(60_000);
    await until(() => count === 1, "the function has run once");
    clock.advance(5 * 60_000);
    await until(() => count === 2, "the function has run twice");
    await allOver();
  });
});

describe("failures", () => {
  it("a failed step is repeated with backoff, and the run continues; earlier steps are not repeated", async () => {
    const { client, start, clock } = process;
    const ran: string[] = [];
    const fn = client.createFunction(
      { id: "flaky", retries: 3, triggers: { event: "go" } },
      async ({ step }) => {
        await step.run("before", () => ran.push("before"));
        await step.run("flaky", () => {
          ran.push("flaky");
          if (ran.length < 4) throw new Error("not yet");
        });
        await step.run("after", () => ran.push("after"));
        return "done";
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    assert.deepEqual(ran, ["before", "flaky"]);
    clock.advance(1_000);
    await until(() => ran.length === 3, "the second attempt was made");
    await parked();
    clock.advance(1_000);
    await parked();
    assert.equal(ran.length, 3);
    clock.advance(1_000);
    await allOver();
    assert.deepEqual(ran, ["before", "flaky", "flaky", "flaky", "after"]);
    assert.equal((await readRuns(database.db))[0]?.state, "completed");
  });

  it("a parallel step that fails is repeated alone", async () => {
    const { client, start, clock } = process;
    const ran: string[] = [];
    const fn = client.createFunction({ id: "flaky", triggers: { event: "go" } }, ({ step }) =>
      Promise.all([
        step.run("good", () => ran.push("good")),
        step.run("flaky", () => {
          ran.push("flaky");
          if (ran.length < 3) throw new Error("not yet");
          return "mended";
        }),
      ]),
    );
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(1_000);
    await allOver();
    assert.deepEqual(ran, ["good", "flaky", "flaky"]);
    assert.deepEqual((await readRuns(database.db))[0]?.output, [1, "mended"]);
  });

  it("the last failure of a step is thrown into the function, which may catch it", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "caught", retries: 0, triggers: { event: "go" } },
      async ({ step }) => {
        const outcome = await step
          .run("fails", () => {
            throw new Error("broken");
          })
          .catch((error: Error) => `caught: ${error.message}`);
        return [outcome, await step.run("after", () => "after")];
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await allOver();
    assert.deepEqual((await readRuns(database.db))[0]?.output, ["caught: broken", "after"]);
  });

  it("a NonRetriableError ends the run at once", async () => {
    const { client, start } = process;
    let attempts = 0;
    const fn = client.createFunction({ id: "final", triggers: { event: "go" } }, async ({ step }) => {
      await step.run("fails", () => {
        attempts++;
        throw new NonRetriableError("never again");
      });
    });
    await start([fn]);
    await client.send({ name: "go" });
    await allOver();
    assert.equal(attempts, 1);
    const [run] = await readRuns(database.db);
    assert.equal(run?.state, "failed");
    assert.equal(run?.error?.message, "never again");
  });

  it("a RetryAfterError names the time of the next attempt", async () => {
    const { client, start, clock } = process;
    let attempts = 0;
    const fn = client.createFunction({ id: "patient", triggers: { event: "go" } }, async ({ step }) => {
      await step.run("asks-for-time", () => {
        attempts++;
        if (attempts === 1) throw new RetryAfterError("later", 30_000);
      });
    });
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(29_000);
    await parked();
    assert.equal(attempts, 1);
    clock.advance(1_000);
    await allOver();
    assert.equal(attempts, 2);
  });

  it("a function that throws outside its steps is repeated, and fails after its last attempt", async () => {
    const { client, start, clock } = process;
    const attempts: number[] = [];
    const fn = client.createFunction(
      { id: "thrower", retries: 1, triggers: { event: "go" } },
      ({ attempt }) => {
        attempts.push(attempt);
        throw new Error("outside");
      },
    );
    await start([fn]);
    await client.send({ name: "go" });
    await parked();
    clock.advance(1_000);
    await allOver();
    assert.deepEqual(attempts, [0, 1]);
    assert.equal((await readRuns(database.db))[0]?.error?.message, "outside");
  });

  it("onFailure runs with the event and the error of the run that failed", async () => {
    const { client, start } = process;
    const seen: unknown[] = [];
    const fn = client.createFunction(
      {
        id: "failing",
        retries: 0,
        triggers: { event: "go" },
        onFailure: async ({ error, event, step }) => {
          await step.run("note", () =>
            seen.push([error.message, event.data.event.data, event.data.function_id]),
          );
        },
      },
      () => {
        throw new Error("broken");
      },
    );
    await start([fn]);
    await client.send({ name: "go", data: { n: 1 } });
    await allOver();
    assert.deepEqual(seen, [["broken", { n: 1 }, "test-failing"]]);
  });

  it("a function with an option that the engine does not support is refused at start", async () => {
    const { client, start } = process;
    const fn = client.createFunction(
      { id: "throttled", throttle: { limit: 1, period: "1m" }, triggers: { event: "go" } },
      () => {},
    );
    await assert.rejects(start([fn]), /cannot play these functions/);
  });

  it("a function's concurrency limits its concurrent calls", async () => {
    const { client, start } = process;
    let busy = 0;
    let most = 0;
    const fn = client.createFunction(
      { id: "narrow", concurrency: 2, triggers: { event: "go" } },
      async ({ step }) => {
        await step.run("work", async () => {
          most = Math.max(most, ++busy);
          await new Promise((resolve) => setImmediate(resolve));
          busy--;
        });
      },
    );
    await start([fn]);
    await client.send(Array.from({ length: 8 }, () => ({ name: "go" })));
    await allOver();
    assert.equal(most, 2);
  });
});
