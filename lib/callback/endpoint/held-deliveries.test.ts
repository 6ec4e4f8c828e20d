import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { asc, eq } from "drizzle-orm";
import {
  deliveries,
  deliveryAttempts,
  failingEndpoints,
  outbox,
  requests,
  runs,
  sessions,
} from "#db/schema/index.ts";
import type { GuardedPost } from "#lib/net/fetch/guarded-post.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { attemptDelivery } from "../attempt-delivery.ts";
import { enableEndpoint } from "../callback-state-store.ts";
import type { DeliveryDeps } from "../delivery-deps.ts";
import { resendLostDeliveries } from "../lost-delivery-store.ts";
import { redeliver } from "../redeliver.ts";
import { standardSchedule } from "../retry-schedule.ts";
import { openDeliveryBench, seedCallbackSession, seedDelivery } from "../testing.ts";
import { sweepHeldDeliveries } from "./held-delivery-store.ts";

const HOUR_MS = 3_600_000;
const DISABLE_AFTER_MS = 120 * HOUR_MS;
const { db, post, receiver, sealer, answer, reset, close } = await openDeliveryBench();
after(close);

/** The time when callbacks to the receiver were disabled. The other times are hours after it. */
let disabledAtMs: number;

beforeEach(async () => {
  await reset();
  disabledAtMs = Date.now();
  await db.insert(failingEndpoints).values({
    ownerId: "owner",
    host: new URL(receiver.url).host,
    failingSince: new Date(disabledAtMs - DISABLE_AFTER_MS),
    dropped: 3,
    disabledAt: new Date(disabledAtMs),
  });
});

const at = (hours: number) => new Date(disabledAtMs + hours * HOUR_MS);

/** Inserts a session and one of its deliveries, which was created `hours` after the endpoint was disabled. */
async function makeDelivery(hours: number, event: "run.started" | "run.completed" = "run.started") {
  const run = await seedCallbackSession(db, { url: receiver.url, sealer });
  return { ...run, id: await addDelivery(run, hours, event) };
}

async function addDelivery(
  { sessionId, runId }: { sessionId: string; runId: string },
  hours: number,
  event: "run.started" | "run.completed",
) {
  const id = await seedDelivery(db, { sessionId, runId }, event);
  await db
    .update(deliveries)
    .set({ createdAt: at(hours) })
    .where(eq(deliveries.id, id));
  return id;
}

/** Executes the job of a delivery like the durable function, until an attempt ends the job or has to wait. */
async function play(id: string, hours: number, more: Partial<DeliveryDeps> = {}) {
  const deps: DeliveryDeps = {
    db,
    post,
    sealer,
    schedule: standardSchedule,
    logger: { info: () => {}, warn: () => {} },
    disableAfterMs: DISABLE_AFTER_MS,
    clock: () => at(hours),
    ...more,
  };
  for (let number = 1; ; number++) {
    const outcome = await attemptDelivery(deps, { deliveryId: id, cycle: 1, number });
    if (outcome.state !== "retry" || outcome.delayMs > 0) return outcome.state;
  }
}

/** Makes and plays a delivery, which is then held. */
async function hold(hours: number) {
  const made = await makeDelivery(hours);
  assert.equal(await play(made.id, hours), "held");
  return made;
}

const deliveryIdOf = ({ data }: Job) => ("deliveryId" in data ? data.deliveryId : "");

const sweep = async (hours: number, disableAfterMs = DISABLE_AFTER_MS) => {
  const { jobs, expired } = await sweepHeldDeliveries(db, disableAfterMs, at(hours));
  return { released: jobs.map(deliveryIdOf), expired };
};

async function read(id: string) {
  const [row] = await db.select().from(deliveries).where(eq(deliveries.id, id));
  const attempts = await db
    .select()
    .from(deliveryAttempts)
    .where(eq(deliveryAttempts.deliveryId, id))
    .orderBy(asc(deliveryAttempts.number));
  assert.ok(row);
  return { ...row, attempts };
}

test("a delivery to a disabled endpoint is sent when the receiver works again, as the probe after an hour", async () => {
  const { id } = await hold(0.1);
  assert.equal(receiver.received.length, 0);
  assert.deepEqual(await sweep(0.99), { released: [], expired: 0 });
  answer.status = 204;
  assert.deepEqual((await sweep(1.01)).released, [id]);
  assert.equal(await play(id, 1.01), "delivered");
  assert.deepEqual(
    (await read(id)).attempts.map(({ number, error }) => [number, error]),
    [[1, null]],
  );
  assert.deepEqual(await db.select().from(failingEndpoints), []);
});

test("one probe is sent per hour; after its success, the others are released oldest first", async () => {
  const held = [];
  for (const hours of [0.3, 0.1, 0.2]) held.push((await hold(hours)).id);
  const [third = "", first = "", second = ""] = held;
  assert.deepEqual((await sweep(1.1)).released, [first]);
  assert.deepEqual((await sweep(1.2)).released, [], "a probe is in progress");
  assert.equal(await play(first, 1.2), "held", "the probe failed");
  assert.equal(receiver.received.length, 1);
  assert.deepEqual((await sweep(2.1)).released, [], "the last failure is less than an hour ago");
  assert.deepEqual((await sweep(2.3)).released, [second], "the first waits longer after its attempt");
  answer.status = 200;
  assert.equal(await play(second, 2.3), "delivered");
  assert.deepEqual((await sweep(2.31)).released, [first, third]);
  assert.equal(await play(first, 2.31), "delivered");
  assert.equal(await play(third, 2.31), "delivered");
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers["x-service-delivery"]),
    [first, second, first, third],
  );
});

test("a single delivery has five attempts, distributed over seven days", async () => {
  const { id } = await hold(0);
  const sentAt: number[] = [];
  for (let hours = 0.5; hours < 200 && (await read(id)).state !== "dropped"; hours += 0.5) {
    const { released } = await sweep(hours);
    if (released.length === 0) continue;
    sentAt.push(hours);
    await play(id, hours);
  }
  assert.deepEqual(sentAt, [1.5, 6.5, 31.5, 156.5, 168]);
  assert.equal(receiver.received.length, 5);
  assert.equal((await read(id)).attempts.length, 5);
});

test("a held delivery is dropped after seven days, with the reason, once a probe has failed", async () => {
  const old = await hold(0);
  const other = await hold(1);
  // The service was stopped for eight days.
  assert.deepEqual(await sweep(192), { released: [old.id], expired: 0 });
  assert.equal(await play(old.id, 192), "held");
  assert.deepEqual(await sweep(192.1), { released: [], expired: 2 });
  const dropped = await read(other.id);
  assert.equal(dropped.state, "dropped");
  const host = new URL(receiver.url).host;
  assert.match(
    dropped.attempts[0]?.error ?? "",
    new RegExp(
      `^not sent: it was held for 7 days, because callbacks to ${host} are disabled; none was accepted since 20`,
    ),
  );
  assert.deepEqual(
    (await read(old.id)).attempts.map(({ status: each }) => each),
    [500, null],
  );
});

test("a delivery whose retries began before its endpoint was disabled keeps its attempts", async () => {
  const { id } = await makeDelivery(0);
  await db.delete(failingEndpoints);
  assert.equal(await play(id, 0), "retry");
  await db.insert(failingEndpoints).values({
    ownerId: "owner",
    host: new URL(receiver.url).host,
    failingSince: at(-120),
    dropped: 3,
    disabledAt: at(0),
  });
  assert.equal(await play(id, 0.5), "held");
  assert.equal((await read(id)).attemptsFinished, 1);
  answer.status = 204;
  await sweep(1.1);
  assert.equal(await play(id, 1.1), "delivered");
  assert.deepEqual(
    (await read(id)).attempts.map(({ number }) => number),
    [1, 2],
  );
});

test("run.completed is held with its run.started, and sent after it", async () => {
  const started = await hold(0.1);
  const completedId = await addDelivery(started, 0.2, "run.completed");
  assert.equal(await play(completedId, 0.2), "held", "it does not wait in the engine");
  answer.status = 204;
  assert.deepEqual((await sweep(1.1)).released, [started.id]);
  assert.equal(await play(started.id, 1.1), "delivered");
  assert.deepEqual((await sweep(1.2)).released, [completedId]);
  assert.equal(await play(completedId, 1.2), "delivered");
});

test("a run.completed to an enabled endpoint waits for the held run.started", async () => {
  const started = await hold(0.1);
  await enableEndpoint(db, started.sessionId);
  const completedId = await addDelivery(started, 0.2, "run.completed");
  assert.equal(await play(completedId, 0.2), "wait");
});

test("enabling the endpoint, or the setting 0, releases at most 300 deliveries at once, in order", async () => {
  const { sessionId, runId: _, ...like } = await read((await hold(0)).id);
  const ids = Array.from({ length: 304 }, (_, index) => String(index).padStart(3, "0"));
  const request = { sessionId, mode: "queue" as const, origin: "external" as const, bodyHash: "hash" };
  await db
    .insert(requests)
    .values(ids.map((id, index) => ({ ...request, id: `req_${id}`, position: index + 2 })));
  await db.insert(runs).values(
    ids.map((id) => ({
      id: `run_${id}`,
      sessionId,
      requestId: `req_${id}`,
      attempt: 1,
      origin: "external" as const,
    })),
  );
  await db.insert(deliveries).values(
    ids.map((id, index) => ({
      ...like,
      sessionId,
      id: `whd-${id}`,
      runId: `run_${id}`,
      createdAt: at((index + 1) / 1_000),
    })),
  );
  const order = [like.id, ...ids.map((id) => `whd-${id}`)];
  await enableEndpoint(db, sessionId);
  assert.deepEqual((await sweep(0.5)).released, order.slice(0, 300));
  assert.deepEqual((await sweep(0.52, 0)).released, order.slice(300));
});

test("a released delivery keeps its id, its bytes and its place in the outbox", async () => {
  const { id } = await hold(0.1);
  const { body } = await read(id);
  await sweep(1.1);
  const stored = await db.select().from(outbox);
  assert.deepEqual(
    stored.map(({ id: jobId, data }) => [jobId, data]),
    [[`${id}:1:2`, { deliveryId: id, cycle: 1 }]],
  );
  answer.status = 204;
  await play(id, 1.1);
  assert.equal(receiver.received[0]?.body.toString("utf8"), body);
});

test("a kill at any point loses no held delivery", async () => {
  // Killed during the first attempt, before the delivery is held: the lost job is sent again.
  const { id } = await makeDelivery(0);
  await db
    .update(deliveries)
    .set({ state: "sending", nextAttemptAt: at(0) })
    .where(eq(deliveries.id, id));
  assert.deepEqual((await resendLostDeliveries(db, at(0.5))).map(deliveryIdOf), [id]);
  assert.equal(await play(id, 0.5), "held");
  // Killed after it was held, before the engine recorded that: the repeated step has the same outcome.
  assert.equal(await play(id, 0.6), "held");
  // Killed after the release: the job is in the outbox. Killed while the probe was sent: it is sent again.
  assert.deepEqual((await sweep(1.1)).released, [id]);
  const dying: GuardedPost = Object.assign(
    async (...args: Parameters<GuardedPost>) => {
      await post(...args);
      throw new Error("the process is gone");
    },
    { close: () => {} },
  );
  await assert.rejects(play(id, 1.1, { post: dying }), /the process is gone/);
  assert.deepEqual((await resendLostDeliveries(db, at(1.5))).map(deliveryIdOf), []);
  await db.update(outbox).set({ sentAt: at(1.1) });
  assert.deepEqual((await resendLostDeliveries(db, at(1.5))).map(deliveryIdOf), [id]);
  answer.status = 204;
  assert.equal(await play(id, 1.5), "delivered", "it is still the probe");
});

test("a probe whose session is deleted is replaced after an hour", async () => {
  const first = await hold(0.1);
  const second = await hold(0.2);
  assert.deepEqual((await sweep(1.1)).released, [first.id]);
  await db.delete(sessions).where(eq(sessions.id, first.sessionId));
  assert.deepEqual((await sweep(1.9)).released, []);
  assert.deepEqual((await sweep(2.2)).released, [second.id]);
});

test("two processes that sweep at the same time release each delivery once", async () => {
  const held = await Promise.all([0.1, 0.2, 0.3, 0.4].map(hold));
  await enableEndpoint(db, held[0]?.sessionId ?? "");
  const swept = await Promise.all([sweep(1), sweep(1), sweep(1)]);
  assert.deepEqual(swept.flatMap(({ released }) => released).sort(), held.map(({ id }) => id).sort());
});

test("endpoints of other owners and hosts are probed on their own", async () => {
  const own = await hold(0.1);
  const other = await makeDelivery(0.1);
  await db.update(sessions).set({ ownerId: "other" }).where(eq(sessions.id, other.sessionId));
  await db.insert(failingEndpoints).values({
    ownerId: "other",
    host: new URL(receiver.url).host,
    failingSince: at(-130),
    dropped: 4,
    disabledAt: at(0.8),
  });
  assert.equal(await play(other.id, 0.9), "held");
  assert.deepEqual((await sweep(1.1)).released, [own.id]);
  assert.deepEqual((await sweep(1.9)).released, [other.id]);
});

test("a probe that this service cannot send is held again, and does not use up the others", async () => {
  const { id } = await hold(0.1);
  await sweep(1.1);
  assert.equal(await play(id, 1.1, { refuseHttp: () => "must be https" }), "held");
  assert.match((await read(id)).attempts[0]?.error ?? "", /must be https/);
  const [endpoint] = await db.select().from(failingEndpoints);
  assert.deepEqual([endpoint?.dropped, endpoint?.probeId], [3, null]);
});

test("a held delivery can be sent again at once", async () => {
  const { id, sessionId } = await hold(0.1);
  const jobs = { plan: () => undefined, begin: () => {} };
  const result = await redeliver({ db, jobs, clock: () => at(0.2) }, sessionId, id);
  assert.equal(result.status, "reopened");
  answer.status = 204;
  const deps = { db, post, sealer, schedule: standardSchedule, disableAfterMs: DISABLE_AFTER_MS };
  const logger = { info: () => {}, warn: () => {} };
  assert.deepEqual(await attemptDelivery({ ...deps, logger }, { deliveryId: id, cycle: 2, number: 1 }), {
    state: "delivered",
  });
  assert.deepEqual(await db.select().from(failingEndpoints), []);
});
