import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { createLogger } from "./log.ts";
import { createOutageLog } from "./outage-log.ts";

const refused = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const failedQuery = () => new DrizzleQueryError("select 1", [], refused());
const diskFull = () =>
  new DrizzleQueryError("insert", [], Object.assign(new Error("no space"), { code: "53100" }));

function setUp({ mock }: TestContext) {
  mock.timers.enable({ apis: ["setInterval"] });
  let now = 0;
  let isAvailable = false;
  const lines: Record<string, unknown>[] = [];
  const outages = createOutageLog(() => now);
  outages.follow(async () => isAvailable);
  const logger = createLogger("info", { write: (line) => void lines.push(JSON.parse(line)) }, outages);
  return {
    logger,
    messages: () => lines.splice(0).map(({ level: _, time: __, err: ___, ...rest }) => rest),
    setAvailable: () => (isAvailable = true),
    async pass(ms: number) {
      now += ms;
      mock.timers.tick(ms);
      await setImmediate();
    },
  };
}

const BEGUN = "the database is not available; further failures are counted until it is available again";

describe("an outage of the database", () => {
  test("is logged once, whatever fails because of it, and its end with what it has cost", async (context) => {
    const { logger, messages, pass, setAvailable } = setUp(context);
    for (let index = 0; index < 500; index++)
      logger.error({ err: refused(), path: "/api/sessions", component: "database" }, "a request was refused");
    for (let index = 0; index < 20; index++) logger.warn({ err: failedQuery() }, "a sweep failed");
    logger.child({ part: "sweeps" }).error({ err: failedQuery() }, "a child failed");
    assert.deepEqual(messages(), [
      {
        path: "/api/sessions",
        component: "database",
        reason: "out of reach",
        failed: "a request was refused",
        msg: BEGUN,
      },
    ]);
    await pass(20_000);
    assert.deepEqual(messages(), [], "the database does not answer yet");
    setAvailable();
    await pass(20_000);
    assert.deepEqual(messages(), [
      { seconds: 0, failures: 521, refusedRequests: 500, msg: "the database is available again" },
    ]);
    logger.error({ err: failedQuery() }, "the next outage");
    assert.equal(messages()[0]?.msg, BEGUN);
  });

  test("lasts while statements fail, although the database answers, and names each reason once", async (context) => {
    const { logger, messages, pass, setAvailable } = setUp(context);
    setAvailable();
    for (let second = 0; second < 30; second++) {
      logger.error({ err: diskFull() }, "a request was refused");
      if (second % 2 === 0) logger.error({ err: failedQuery() }, "a request was refused");
      await pass(1_000);
    }
    assert.deepEqual(
      messages().map(({ reason }) => reason),
      ["disk full", "out of reach"],
    );
  });

  test("hides no other failure: refused connections of others, failed statements, lines without an error", (context) => {
    const { logger, messages } = setUp(context);
    const wrong = new DrizzleQueryError("select x", [], Object.assign(new Error("no x"), { code: "42703" }));
    for (let index = 0; index < 2; index++) {
      logger.warn({ err: refused() }, "a tool server did not answer");
      logger.error({ err: wrong }, "a request failed");
      logger.error({}, "no error");
      logger.info({ err: failedQuery() }, "only a note");
    }
    assert.equal(messages().length, 8);
  });
});
