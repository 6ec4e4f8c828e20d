import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { Inngest, InngestFunction } from "inngest";
import { openTestDatabase } from "#db/testing.ts";
import {
  clearEngine,
  createManualClock,
  createTestProcess,
  isQuiet,
  type ManualClock,
  readRuns,
  type TestProcess,
} from "./testing.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let second: TestProcess | undefined;

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
beforeEach(() => clearEngine(database.db));
afterEach(async () => {
  await second?.engine.stop({ graceMs: 0 });
  second = undefined;
});

type Scenario = {
  title: string;
  define: (client: Inngest.Any) => InngestFunction.Any[];
  output: unknown;
};

const scenarios: Scenario[] = [
  {
    title: "sleeps between steps",
    define: (client) => [
      client.createFunction({ id: "main", triggers: { event: "go" } }, async ({ step }) => {
        await step.run("first", () => "first");
        await step.sleep("short", "10s");
        await step.run("second", () => "second");
        await step.sleep("long", "20s");
        return "done";
      }),
    ],
    output: "done",
  },
  {
    title: "a step that fails twice",
    define: (client) => {
      let failures = 0;
      return [
        client.createFunction({ id: "main", triggers: { event: "go" }, retries: 9 }, async ({ step }) => {
          await step.run("flaky", () => {
            if (++failures <= 2) throw new Error("not yet");
          });
          return "done";
        }),
      ];
    },
    output: "done",
  },
  {
    title: "a wait that runs out beside a step",
    define: (client) => [
      client.createFunction({ id: "main", triggers: { event: "go" } }, async ({ step }) => {
        const [event] = await Promise.all([
          step.waitForEvent("news", { event: "news", timeout: "30s" }),
          step.run("beside", () => "beside"),
        ]);
        return event;
      }),
    ],
    output: null,
  },
  {
    title: "a function that it invokes, and that sleeps",
    define: (client) => {
      const child = client.createFunction({ id: "child", triggers: { event: "never" } }, async ({ step }) => {
        await step.sleep("nap", "5s");
        await step.run("inside", () => "inside");
        return "from the child";
      });
      const main = client.createFunction({ id: "main", triggers: { event: "go" } }, ({ step }) =>
        step.invoke("ask", { function: child, data: {} }),
      );
      return [main, child];
    },
    output: "from the child",
  },
];

/**
 * Advances the clock by one second whenever the process is idle, until all runs have ended or the process has crashed,
 * for at most a minute of real time.
 * @returns whether all runs have ended.
 */
async function playToTheEnd(process: TestProcess, clock: ManualClock): Promise<boolean> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    if (process.isCrashed()) return false;
    const statements = process.statementCount();
    if (await isQuiet(database.db)) return true;
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (process.statementCount() === statements) clock.advance(1_000);
  }
  return false;
}

describe("a process that dies after any of its statements", () => {
  for (const { title, define, output } of scenarios)
    it(`leaves only runs that the next process completes: ${title}`, async () => {
      const unharmed = createTestProcess(database.db);
      await unharmed.start(define(unharmed.client));
      const toStart = unharmed.statementCount();
      await unharmed.engine.stop({ graceMs: 0 });
      let deaths = 0;
      for (let statementsToLive = toStart + 1; ; statementsToLive++) {
        await clearEngine(database.db);
        const clock = createManualClock();
        const first = createTestProcess(database.db, { clock, statementsToLive });
        await first.start(define(first.client));
        // Not awaited, because the crash may lose the answer to this send.
        void first.client.send({ id: "go-1", name: "go" });
        const isThrough = await playToTheEnd(first, clock);
        first.crash();
        await first.drained();
        if (isThrough) break;
        deaths++;
        second = createTestProcess(database.db, { clock });
        await second.start(define(second.client));
        await second.client.send({ id: "go-1", name: "go" });
        const hasEnded = await playToTheEnd(second, clock);
        const runs = await readRuns(database.db);
        const main = runs.find(({ functionId }) => functionId.endsWith("main"));
        assert.ok(hasEnded, `killed after statement ${statementsToLive}: ${JSON.stringify(runs)}`);
        assert.deepEqual(main?.output, output, `killed after statement ${statementsToLive}`);
        await second.engine.stop({ graceMs: 0 });
        second = undefined;
      }
      assert.ok(deaths >= 5, `the process crashed at only ${deaths} statements`);
    });
});
