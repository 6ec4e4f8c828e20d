import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { Inngest, type InngestFunction, NonRetriableError, RetryAfterError } from "inngest";
import { serve } from "inngest/edge";
import { embeddedClientOptions } from "./client-options.ts";
import {
  checkpointBodySchema,
  opsSchema,
  parseDueTime,
  parseRetryAfter,
  registerBodySchema,
  toSerializedError,
} from "./protocol.ts";

/**
 * These tests check the protocol of the SDK without the engine. The checkpoint protocol is internal to the SDK and may
 * change with its version, so the tests check every shape that the engine relies on.
 */

type Exchange = { path: string; headers: Headers; body: unknown };

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const hash = (stepId: string) => createHash("sha1").update(stepId).digest("hex");

/** Creates an SDK client and handler with one function. `sent`: every request that the SDK sends. */
function createSdk(define: (client: Inngest.Any) => InngestFunction.Any, checkpointStatus = 200) {
  const sent: Exchange[] = [];
  const recorded: typeof fetch = async (input, init) => {
    const path = new URL(String(input)).pathname;
    sent.push({ path, headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
    if (path.startsWith("/e/")) return Response.json({ ids: ["evt_1"], status: 200 });
    if (path === "/fn/register") return Response.json({ status: 200, modified: true });
    return Response.json({}, { status: checkpointStatus });
  };
  const client = new Inngest({ id: "app", ...embeddedClientOptions({ fetch: recorded }, quiet) });
  const handler: (request: Request) => Promise<Response> = serve({ client, functions: [define(client)] });
  const headers = { host: "inngest.embedded", "content-type": "application/json" };

  async function call(ctx: object = {}, steps: Record<string, unknown> = {}, stepId = "step") {
    const event = { id: "evt_0", name: "go", data: { n: 1 }, ts: 1_700_000_000_000 };
    const context = { run_id: "run", fn_id: "app-fn", qi_id: "run:1", attempt: 0, max_attempts: 4, ...ctx };
    const stack = { stack: Object.keys(steps), current: Math.max(0, Object.keys(steps).length - 1) };
    const body = JSON.stringify({ version: 2, event, events: [event], steps, ctx: { ...context, stack } });
    const url = `http://inngest.embedded/api/inngest?fnId=app-fn&stepId=${stepId}`;
    const response = await handler(new Request(url, { method: "POST", headers, body }));
    const parsed: unknown = await response.json();
    return { status: response.status, headers: response.headers, body: parsed };
  }
  const register = () =>
    handler(new Request("http://inngest.embedded/api/inngest", { method: "PUT", headers }));
  return { client, call, register, sent };
}

/** Returns the operations of an answer, each with its kind and step id. */
function readOps(body: unknown) {
  return opsSchema.parse(body).map(({ op, id }) => ({ op, id }));
}

describe("requests of the SDK", () => {
  it("register each function with its triggers, retries and cancellations, and its failure handler as a function", async () => {
    const sdk = createSdk((client) =>
      client.createFunction(
        {
          id: "fn",
          retries: 2,
          triggers: [{ event: "go", if: "event.data.n == 1" }, { cron: "*/5 * * * *" }],
          cancelOn: [{ event: "stop", match: "data.id", timeout: "1h" }],
          onFailure: () => {},
        },
        () => {},
      ),
    );
    assert.equal((await sdk.register()).status, 200);
    assert.equal(sdk.sent[0]?.path, "/fn/register");
    const { functions } = registerBodySchema.parse(sdk.sent[0]?.body);
    assert.deepEqual(functions, [
      {
        id: "app-fn",
        triggers: [{ event: "go", expression: "event.data.n == 1" }, { cron: "*/5 * * * *" }],
        steps: { step: { retries: { attempts: 2 } } },
        cancel: [{ event: "stop", if: "event.data.id == async.data.id", timeout: "1h" }],
      },
      {
        id: "app-fn-failure",
        triggers: [{ event: "inngest/function.failed", expression: "event.data.function_id == 'app-fn'" }],
        steps: { step: { retries: { attempts: 1 } } },
      },
    ]);
  });

  it("send events to /e/<key> as a list, with a seed that is the same in a repeated request", async () => {
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, () => {}),
    );
    const { ids } = await sdk.client.send({ id: "run:1", name: "go", data: { n: 1 } });
    assert.deepEqual(ids, ["evt_1"]);
    const [sent] = sdk.sent;
    assert.match(sent?.path ?? "", /^\/e\/.+/);
    assert.match(sent?.headers.get("x-inngest-event-id-seed") ?? "", /^\d+,.+/);
    const [event] = (sent?.body ?? []) as Record<string, unknown>[];
    assert.equal(typeof event?.ts, "number");
    assert.deepEqual(
      { id: event?.id, name: event?.name, data: event?.data },
      { id: "run:1", name: "go", data: { n: 1 } },
    );
  });
});

describe("the SDK's answer to a call", () => {
  it("is RunComplete, after it has run all steps and posted each to the checkpoint endpoint", async () => {
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, async ({ step }) => {
        const first = await step.run("first", () => ({ n: 1 }));
        await step.run("second", () => undefined);
        return first;
      }),
    );
    const answer = await sdk.call();
    assert.equal(answer.status, 206);
    assert.deepEqual(readOps(answer.body), [{ op: "RunComplete", id: hash("complete") }]);
    assert.deepEqual((answer.body as { data: unknown }[])[0]?.data, { n: 1 });
    assert.deepEqual(
      sdk.sent.map(({ path, body }) => {
        const { run_id, qi_id, steps } = checkpointBodySchema.parse(body);
        return {
          path,
          run_id,
          qi_id,
          steps: steps.map(({ op, id, data }) => ({ op, id, data: data ?? null })),
        };
      }),
      [
        { id: hash("first"), data: { n: 1 } },
        { id: hash("second"), data: null },
      ].map((step) => ({
        path: "/v1/checkpoint/run/async",
        run_id: "run",
        qi_id: "run:1",
        steps: [{ op: "StepRun", ...step }],
      })),
    );
  });

  it("is a StaleDispatchError after a checkpoint was refused with 409; no further step runs", async () => {
    const ran: string[] = [];
    const sdk = createSdk(
      (client) =>
        client.createFunction({ id: "fn", triggers: { event: "go" } }, async ({ step }) => {
          await step.run("first", () => ran.push("first"));
          await step.run("second", () => ran.push("second"));
        }),
      409,
    );
    const answer = await sdk.call();
    assert.equal(answer.status, 400);
    assert.equal((answer.body as { name: string }).name, "StaleDispatchError");
    assert.deepEqual(ran, ["first"]);
  });

  it("uses the recorded results in `steps`, and repeats none of these steps", async () => {
    const ran: string[] = [];
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, async ({ step }) => {
        const first = await step.run("first", () => ran.push("first"));
        const second = await step
          .run("second", () => ran.push("second"))
          .catch((error: Error) => error.message);
        await step.sleep("nap", "1h");
        return [first, second];
      }),
    );
    const error = { name: "Error", message: "recorded failure" };
    const answer = await sdk.call(
      {},
      {
        [hash("first")]: { type: "data", data: 41 },
        [hash("second")]: { type: "error", error },
        [hash("nap")]: { type: "data", data: null },
      },
    );
    assert.deepEqual((answer.body as { data: unknown }[])[0]?.data, [41, "recorded failure"]);
    assert.deepEqual(ran, []);
  });

  it("reports sleeps and waits with their times, an invocation with its payload, and parallel steps as planned", async () => {
    const sdk = createSdk((client) => {
      const child = client.createFunction({ id: "child", triggers: { event: "never" } }, () => {});
      return client.createFunction({ id: "fn", triggers: { event: "go" } }, ({ step }) =>
        Promise.all([
          step.sleep("nap", "90m"),
          step.sleepUntil("then", "2026-01-01T00:00:00.000Z"),
          step.waitForEvent("answer", { event: "answer", timeout: "1d", match: "data.id" }),
          step.invoke("child", { function: child, data: { n: 2 } }),
          step.run("left", () => {}),
          step.run("right", () => {}),
        ]),
      );
    });
    const answer = await sdk.call();
    assert.equal(answer.status, 206);
    const ops = opsSchema
      .parse(answer.body)
      .map((op) => ({ op: op.op, id: op.id, name: op.name, opts: op.opts }));
    assert.deepEqual(ops.slice(0, 3), [
      { op: "Sleep", id: hash("nap"), name: "1h30m", opts: {} },
      { op: "Sleep", id: hash("then"), name: "2026-01-01T00:00:00.000Z", opts: {} },
      {
        op: "WaitForEvent",
        id: hash("answer"),
        name: "answer",
        opts: { timeout: "1d", if: "event.data.id == async.data.id" },
      },
    ]);
    assert.deepEqual(ops[3]?.opts, { payload: { data: { n: 2 } }, function_id: "app-child" });
    assert.deepEqual(readOps(answer.body).slice(4), [
      { op: "StepPlanned", id: hash("left") },
      { op: "StepPlanned", id: hash("right") },
    ]);
  });

  it("is the result of one planned step if it was called by its hash, without a checkpoint", async () => {
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, ({ step }) =>
        Promise.all([step.run("left", () => "l"), step.run("right", () => "r")]),
      ),
    );
    const answer = await sdk.call({}, {}, hash("right"));
    assert.equal(answer.status, 206);
    assert.deepEqual(readOps(answer.body), [{ op: "StepRun", id: hash("right") }]);
    assert.deepEqual(sdk.sent, []);
  });

  it("only plans steps, even a single one, if immediate execution is disabled", async () => {
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, ({ step }) =>
        step.run("only", () => "ran"),
      ),
    );
    const answer = await sdk.call({ disable_immediate_execution: true });
    assert.deepEqual(readOps(answer.body), [{ op: "StepPlanned", id: hash("only") }]);
  });

  it("is the step's result, without running further steps, in a repeated attempt", async () => {
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, async ({ step }) => {
        await step.run("first", () => {});
        await step.run("second", () => {});
      }),
    );
    const answer = await sdk.call({ attempt: 1 });
    assert.deepEqual(readOps(answer.body), [{ op: "StepRun", id: hash("first") }]);
    assert.deepEqual(sdk.sent, []);
  });

  const failing = (error: () => Error) =>
    createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, ({ step }) =>
        step.run("fails", () => {
          throw error();
        }),
      ),
    );

  it("reports a failed step as StepError while attempts are left, then as StepFailed", async () => {
    const sdk = failing(() => new Error("broken"));
    const early = await sdk.call({ attempt: 2 });
    assert.deepEqual(readOps(early.body), [{ op: "StepError", id: hash("fails") }]);
    assert.equal(early.headers.get("x-inngest-no-retry"), "false");
    const last = await sdk.call({ attempt: 3 });
    assert.deepEqual(readOps(last.body), [{ op: "StepFailed", id: hash("fails") }]);
    assert.equal((last.body as { error: { message: string } }[])[0]?.error.message, "broken");
  });

  it("reports a NonRetriableError as StepFailed, and a RetryAfterError with a retry-after header", async () => {
    const final = await failing(() => new NonRetriableError("never")).call();
    assert.deepEqual(readOps(final.body), [{ op: "StepFailed", id: hash("fails") }]);
    const later = await failing(() => new RetryAfterError("later", 30_000)).call();
    assert.deepEqual(readOps(later.body), [{ op: "StepError", id: hash("fails") }]);
    assert.equal(later.headers.get("retry-after"), "30");
  });

  it("is 500 for a function that may be repeated, and 400 with x-inngest-no-retry for one that may not", async () => {
    const sdk = createSdk((client) =>
      client.createFunction({ id: "fn", triggers: { event: "go" } }, () => {
        throw new Error("outside");
      }),
    );
    const early = await sdk.call();
    assert.deepEqual([early.status, early.headers.get("x-inngest-no-retry")], [500, "false"]);
    const last = await sdk.call({ attempt: 3 });
    assert.deepEqual([last.status, last.headers.get("x-inngest-no-retry")], [400, "true"]);
    assert.equal((last.body as { message: string }).message, "outside");
  });
});

describe("times on the wire", () => {
  const now = Date.UTC(2026, 0, 1);
  for (const [text, ms] of [
    ["", 0],
    ["1s", 1_000],
    ["1h30m", 5_400_000],
    ["1w2d", 777_600_000],
    ["2026-01-01T00:01:00.000Z", 60_000],
  ] as const)
    it(`"${text}" is ${ms} ms from now`, () => assert.equal(parseDueTime(text, now) - now, ms));

  it("anything else is refused", () => assert.throws(() => parseDueTime("soon", now)));

  it("retry-after is a number of seconds, a date, or nothing", () => {
    assert.equal(parseRetryAfter("30", now), now + 30_000);
    assert.equal(parseRetryAfter("2026-01-01T00:01:00.000Z", now), now + 60_000);
    assert.equal(parseRetryAfter(null, now), undefined);
  });
});

describe("an error", () => {
  it("keeps its fields, and is cut if it is large", () => {
    const small = {
      __serialized: true,
      name: "E",
      message: "m",
      stack: "s",
      code: "X",
      cause: { message: "c" },
    };
    assert.deepEqual(toSerializedError(small), small);
    const long = "x".repeat(5_000_000);
    for (const large of [
      { ...small, message: long, stack: long, cause: { message: long } },
      { ...small, params: [long] },
      { name: long, error: long },
      long,
      [long],
    ]) {
      const error = toSerializedError(large);
      assert.ok(JSON.stringify(error).length < 20_000);
    }
    const { message, ...rest } = toSerializedError({ ...small, message: long, cause: long });
    assert.match(message, /^x{4096}… \(cut: 5000000 characters in all\)$/);
    assert.deepEqual(rest, { __serialized: true, name: "E", stack: "s" });
  });
});
