import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { RequestListener } from "node:http";
import { after, before, type TestContext, test } from "node:test";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { deliveries, deliveryAttempts, sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedPost, type GuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptOutcome } from "./conclude-attempt.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { standardSchedule } from "./retry-schedule.ts";
import { seedCallbackSession, seedDelivery, startReceiver } from "./testing.ts";

let db: Database;
let closeDatabase: () => Promise<void>;
let guardedPost: GuardedPost;
const sealer = createSealer(new Uint8Array(32).fill(7));
const secret = "wh-secret-Ω";

before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
  guardedPost = createGuardedPost(createAddressRule({ allow: ["127.0.0.1"] }));
});

after(async () => {
  guardedPost.close();
  await closeDatabase();
});

const deps = (more: Partial<DeliveryDeps> = {}): DeliveryDeps => ({
  db,
  post: guardedPost,
  sealer,
  schedule: standardSchedule,
  logger: { info: () => {}, warn: () => {} },
  ...more,
});

async function open(t: TestContext, answer: RequestListener, options: { secret?: string } = { secret }) {
  const receiver = await startReceiver(answer);
  t.after(receiver.close);
  const run = await seedCallbackSession(db, { url: receiver.url, sealer, ...options });
  const deliveryId = await seedDelivery(db, run, "run.started");
  const attempt = (number: number, more: Partial<DeliveryDeps> = {}) =>
    attemptDelivery(deps(more), { deliveryId, cycle: 1, number });
  return { receiver, run, deliveryId, attempt };
}

const rowOf = async (id: string) => (await db.select().from(deliveries).where(eq(deliveries.id, id)))[0];
const attemptsOf = (id: string) =>
  db
    .select()
    .from(deliveryAttempts)
    .where(eq(deliveryAttempts.deliveryId, id))
    .orderBy(deliveryAttempts.number);

function assertRetry(outcome: AttemptOutcome, number: number, least: number, most: number) {
  assert.equal(outcome.state, "retry");
  assert.ok(outcome.state === "retry" && outcome.number === number);
  assert.ok(outcome.delayMs >= least && outcome.delayMs <= most, `${outcome.delayMs} ms`);
}

test("a 2xx delivers: exact headers, the stored bytes, and a signature over those bytes", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) =>
    response.writeHead(204).end(),
  );
  assert.deepEqual(await attempt(1), { state: "delivered" });

  const [request] = receiver.received;
  const row = await rowOf(deliveryId);
  assert.ok(request && row);
  assert.equal(request.body.toString("utf8"), row.body);
  assert.equal(request.path, "/callbacks?from=service");
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.headers["x-service-event"], "run.started");
  assert.equal(request.headers["x-service-delivery"], deliveryId);
  assert.match(request.headers["user-agent"] ?? "", /agent-session-service/);
  const digest = createHmac("sha256", Buffer.from(secret, "utf8")).update(request.body).digest("hex");
  assert.equal(request.headers["x-service-signature"], `sha256=${digest}`);
  assert.equal(row.state, "delivered");
  assert.equal(row.nextAttemptAt, null);
});

test("without a secret there is no signature header", async (t) => {
  const { receiver, attempt } = await open(t, (_request, response) => response.end(), {});
  await attempt(1);
  assert.equal(receiver.received[0]?.headers["x-service-signature"], undefined);
});

test("500 four times, then 200: five attempts with the same bytes and id, 5, 25, 125 and 625 s apart", async (t) => {
  let answers = 0;
  const { receiver, deliveryId, attempt, run } = await open(t, (_request, response) => {
    answers += 1;
    response.writeHead(answers < 5 ? 500 : 200).end("ok");
  });
  for (const [index, delayMs] of [5_000, 25_000, 125_000, 625_000].entries())
    assertRetry(await attempt(index + 1), index + 2, delayMs * 0.8, delayMs * 1.2);
  assert.equal((await rowOf(deliveryId))?.state, "pending");
  assert.deepEqual(await attempt(5), { state: "delivered" });

  assert.equal(new Set(receiver.received.map(({ body }) => body.toString("hex"))).size, 1);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["x-service-delivery"])).size, 1);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["x-service-signature"])).size, 1);
  const { data } = await listDeliveries(db, run.sessionId, { limit: 10 });
  assert.deepEqual(
    data[0]?.attempts.map(({ status, error }) => [status, error]),
    [...Array(4).fill([500, "the receiver answered 500"]), [200, null]],
  );
});

test("the fifth failed attempt drops the delivery", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) =>
    response.writeHead(404).end(),
  );
  for (const number of [1, 2, 3, 4]) assert.equal((await attempt(number)).state, "retry");
  assert.deepEqual(await attempt(5), { state: "dropped" });
  assert.deepEqual(await attempt(5), { state: "dropped" });
  assert.equal(receiver.received.length, 5);
  const row = await rowOf(deliveryId);
  assert.equal(row?.state, "dropped");
  assert.equal(row?.nextAttemptAt, null);
});

test("a recorded attempt is not repeated: its outcome is returned with the rest of its delay", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) =>
    response.writeHead(503).end(),
  );
  const first = await attempt(1);
  assert.ok(first.state === "retry");
  const dueAt = (await rowOf(deliveryId))?.nextAttemptAt ?? new Date(0);
  const again = await attempt(1, { clock: () => new Date(dueAt.getTime() - 1_500) });
  assert.deepEqual(again, { state: "retry", number: 2, delayMs: 1_500 });
  const late = await attempt(1, { clock: () => new Date(dueAt.getTime() + 60_000) });
  assert.deepEqual(late, { state: "retry", number: 2, delayMs: 0 });
  assert.equal(receiver.received.length, 1);
});

test("a clock set back or forward by two days never lets a delivery wait longer than its own delay", async (t) => {
  const { deliveryId, attempt } = await open(t, (_request, response) => response.writeHead(503).end());
  const first = await attempt(1);
  assert.ok(first.state === "retry");
  const dueMs = (await rowOf(deliveryId))?.nextAttemptAt?.getTime() ?? 0;
  const askAgain = async (byDays: number) => {
    const again = await attempt(1, { clock: () => new Date(dueMs + byDays * 86_400_000) });
    assert.ok(again.state === "retry");
    return again.delayMs;
  };
  const back = await askAgain(-2);
  assert.ok(back > 0 && back <= first.delayMs + 1_000, `it waits ${back} ms of ${first.delayMs} ms`);
  assert.equal(await askAgain(2), 0);
});

test("an attempt is repeated after a crash between the request and its record, and does not count twice", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) =>
    response.writeHead(500).end(),
  );
  const crashing: GuardedPost = Object.assign(
    async (...args: Parameters<GuardedPost>) => {
      await guardedPost(...args);
      throw new Error("the process is gone");
    },
    { close: () => {} },
  );
  await assert.rejects(attempt(1, { post: crashing }), /the process is gone/);
  assert.equal((await rowOf(deliveryId))?.state, "sending");
  assert.deepEqual(await attemptsOf(deliveryId), []);

  assertRetry(await attempt(1), 2, 4_000, 6_000);
  assert.equal(receiver.received.length, 2);
  assert.deepEqual(receiver.received[0]?.body, receiver.received[1]?.body);
  assert.equal((await attemptsOf(deliveryId)).length, 1);
});

test("an attempt that the end of the service interrupts does not count", async (t) => {
  const ending = new AbortController();
  const { deliveryId, attempt } = await open(t, () => ending.abort());
  await assert.rejects(attempt(1, { signal: ending.signal }));
  assert.deepEqual(await attemptsOf(deliveryId), []);
});

test("two executors of one attempt record it once", async (t) => {
  const { deliveryId, attempt } = await open(t, (_request, response) => response.writeHead(500).end());
  const outcomes = await Promise.all([attempt(1), attempt(1), attempt(1)]);
  for (const outcome of outcomes) assertRetry(outcome, 2, 0, 6_000);
  assert.equal((await attemptsOf(deliveryId)).length, 1);
  assert.equal((await rowOf(deliveryId))?.attemptsFinished, 1);
});

test("a receiver that exceeds the deadline without a status fails; a body that never ends does not matter", async (t) => {
  const silent = await open(t, () => {});
  assertRetry(await silent.attempt(1, { timeoutMs: 80 }), 2, 4_000, 6_000);
  const [first] = await attemptsOf(silent.deliveryId);
  assert.equal(first?.status, null);
  assert.match(first?.error ?? "", /within 80 ms/);

  const dripping = await open(t, (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("."), 10);
    response.on("close", () => clearInterval(timer));
  });
  assert.deepEqual(await dripping.attempt(1), { state: "delivered" });
  assert.equal(dripping.receiver.received.length, 1);
});

test("at most 16 KiB of an endless response are read; its status counts", async (t) => {
  let sentBytes = 0;
  const { attempt } = await open(t, (_request, response) => {
    const chunk = Buffer.alloc(65_536, "x");
    const write = () => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length;
    };
    response.on("drain", write);
    write();
  });
  assert.deepEqual(await attempt(1), { state: "delivered" });
  assert.ok(sentBytes < 50_000_000);
});

test("an answer with an encoding that its body does not have is accepted; encoded bodies are not shown", async (t) => {
  for (const encoding of ["gzip", "deflate", "br", "zstd", "unknown"])
    for (const body of ["", "not encoded"]) {
      const { receiver, deliveryId, attempt } = await open(t, (_request, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(body),
      );
      assert.deepEqual(await attempt(1), { state: "delivered" }, `${encoding}: ${body}`);
      assert.equal(receiver.received.length, 1);
      assert.deepEqual(
        (await attemptsOf(deliveryId)).map(({ status, error, excerpt }) => [status, error, excerpt]),
        [[200, null, null]],
      );
      assert.equal(receiver.received[0]?.headers["accept-encoding"], "identity");
    }
});

test("a redirect is a failure and is not followed", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) =>
    response.writeHead(307, { location: "/elsewhere" }).end(),
  );
  assert.equal((await attempt(1)).state, "retry");
  assert.equal(receiver.received.length, 1);
  const [recorded] = await attemptsOf(deliveryId);
  assert.equal(recorded?.status, 307);
  assert.match(recorded?.error ?? "", /redirect/);
});

test("a private host is refused at every attempt, which fails with the reason", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) => response.end());
  const strict = createGuardedPost(createAddressRule({ allow: [] }));
  t.after(() => strict.close());
  assertRetry(await attempt(1, { post: strict }), 2, 4_000, 6_000);
  assertRetry(await attempt(2, { post: strict }), 3, 20_000, 30_000);
  assert.equal(receiver.received.length, 0);
  const [recorded] = await attemptsOf(deliveryId);
  assert.match(recorded?.error ?? "", /NETWORK_ALLOW/);
});

test("Retry-After lengthens a delay to at most twice its length, and never shortens it", async (t) => {
  const answers = ["7", "3600", "1"];
  const { attempt } = await open(t, (_request, response) =>
    response.writeHead(429, { "retry-after": answers.shift() ?? "" }).end(),
  );
  assert.deepEqual(await attempt(1), { state: "retry", number: 2, delayMs: 7_000 });
  assert.deepEqual(await attempt(2), { state: "retry", number: 3, delayMs: 50_000 });
  assertRetry(await attempt(3), 4, 100_000, 150_000);
});

test("a secret that cannot be opened is a failed attempt, never an unsigned delivery", async (t) => {
  const { receiver, deliveryId, attempt } = await open(t, (_request, response) => response.end());
  assert.equal((await attempt(1, { sealer: createSealer(new Uint8Array(32)) })).state, "retry");
  assert.equal(receiver.received.length, 0);
  assert.match((await attemptsOf(deliveryId))[0]?.error ?? "", /secret/);
});

test("run.completed waits until the first attempt of run.started has ended, whatever its outcome", async (t) => {
  const { receiver, run, attempt } = await open(t, (_request, response) => response.writeHead(500).end());
  const completedId = await seedDelivery(db, run, "run.completed");
  const complete = () => attemptDelivery(deps(), { deliveryId: completedId, cycle: 1, number: 1 });
  const waited = await complete();
  assert.ok(waited.state === "wait" && waited.delayMs >= 100 && waited.delayMs <= 5_000);
  assert.equal((await rowOf(completedId))?.state, "pending");
  await attempt(1);
  assert.equal((await complete()).state, "retry");
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers["x-service-event"]),
    ["run.started", "run.completed"],
  );
});

test("a run.completed that has waited too long can be sent out of order", async (t) => {
  const { receiver, run } = await open(t, (_request, response) => response.end());
  const deliveryId = await seedDelivery(db, run, "run.completed");
  const outcome = await attemptDelivery(deps(), { deliveryId, cycle: 1, number: 1, outOfOrder: true });
  assert.deepEqual(outcome, { state: "delivered" });
  assert.equal(receiver.received.length, 1);
});

test("an attempt of an older cycle, or of a removed session, ends without a request", async (t) => {
  const { receiver, run, deliveryId, attempt } = await open(t, (_request, response) => response.end());
  assert.deepEqual(await attemptDelivery(deps(), { deliveryId, cycle: 2, number: 1 }), { state: "dropped" });
  await db.delete(sessions).where(eq(sessions.id, run.sessionId));
  assert.deepEqual(await attempt(1), { state: "dropped" });
  assert.equal(receiver.received.length, 0);
});

test("deliveries are listed newest first, page by page", async (t) => {
  const { run, deliveryId } = await open(t, (_request, response) => response.end());
  const completedId = await seedDelivery(db, run, "run.completed");
  await db
    .update(deliveries)
    .set({ createdAt: new Date(Date.now() + 1_000) })
    .where(eq(deliveries.id, completedId));
  const first = await listDeliveries(db, run.sessionId, { limit: 1 });
  assert.deepEqual(
    first.data.map(({ id, state, attempts }) => ({ id, state, attempts })),
    [{ id: completedId, state: "pending", attempts: [] }],
  );
  assert.ok(first.nextCursor && first.data[0]?.nextAttemptAt);
  const second = await listDeliveries(db, run.sessionId, { limit: 1, cursor: first.nextCursor });
  assert.deepEqual(
    second.data.map(({ id }) => id),
    [deliveryId],
  );
  assert.equal(second.nextCursor, null);
});

test("an attempt that the network guard refuses is reported with its session", async (t) => {
  const { run, attempt } = await open(t, (_, response) => response.end());
  const refusals: NetworkRefusal[] = [];
  const post = createGuardedPost(createAddressRule({ allow: [] }), {
    onRefused: (refusal) => void refusals.push(refusal),
  });
  t.after(() => post.close());
  assert.equal((await attempt(1, { post })).state, "retry");
  assert.deepEqual(
    refusals.map(({ source, sessionId }) => [source, sessionId]),
    [["callback", run.sessionId]],
  );
});
