import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { eq } from "drizzle-orm";
import { deliveries, failingEndpoints, sealedSecrets, sessions } from "#db/schema/index.ts";
import { CALLBACK_URL, placeSecret } from "#lib/session/secrets/secret-names.ts";
import { type AttemptKey, attemptDelivery } from "./attempt-delivery.ts";
import { enableEndpoint, pruneFailingEndpoints, readCallbackState } from "./callback-state-store.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { createEndpointPace } from "./endpoint/endpoint-pace.ts";
import { createHttpRefusal } from "./endpoint/refuse-http.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { standardSchedule } from "./retry-schedule.ts";
import { openDeliveryBench, seedCallbackSession, seedDelivery, startReceiver } from "./testing.ts";

const DAY_MS = 86_400_000;
const { db, post, receiver, sealer, answer, reset, close } = await openDeliveryBench();
after(close);

let warnings: Record<string, unknown>[];

beforeEach(async () => {
  await reset();
  warnings = [];
});

/** Returns the owner and the host of each logged warning. */
const notices = () => warnings.map(({ ownerId, host }) => ({ ownerId, host }));

const attempt = (key: AttemptKey, more: Partial<DeliveryDeps> = {}) =>
  attemptDelivery(
    {
      db,
      post,
      sealer,
      schedule: standardSchedule,
      logger: { info: () => {}, warn: (fields) => void warnings.push(fields as Record<string, unknown>) },
      disableAfterMs: 5 * DAY_MS,
      ...more,
    },
    key,
  );

/** Inserts a session that belongs to `ownerId`, and a delivery for its run. */
async function makeDelivery({ ownerId = "owner", url = receiver.url } = {}) {
  const run = await seedCallbackSession(db, { url, sealer });
  await db.update(sessions).set({ ownerId }).where(eq(sessions.id, run.sessionId));
  return { ...run, deliveryId: await seedDelivery(db, run, "run.completed") };
}

/**
 * Inserts a delivery and makes all its attempts, on a clock that is `days` days ahead. @returns how the delivery ended.
 */
async function playDelivery(days: number, options: Parameters<typeof makeDelivery>[0] = {}) {
  const { deliveryId, sessionId } = await makeDelivery(options);
  const clock = () => new Date(Date.now() + days * DAY_MS);
  for (let number = 1; ; number++) {
    const { state } = await attempt({ deliveryId, cycle: 1, number }, { clock });
    if (state !== "retry") return { state, sessionId, deliveryId, attempts: number };
  }
}

test("an endpoint that accepts nothing for days is disabled, with a notice", async () => {
  for (const days of [0, 2, 4.9]) assert.equal((await playDelivery(days)).attempts, 5);
  assert.deepEqual(notices(), [], "it has not failed for five days yet");
  await playDelivery(5.1);
  const host = new URL(receiver.url).host;
  assert.deepEqual(notices(), [{ ownerId: "owner", host }]);
  receiver.received.length = 0;
  const { state, sessionId } = await playDelivery(5.12);
  assert.deepEqual([state, receiver.received.length], ["held", 0]);
  const { data } = await listDeliveries(db, sessionId, { limit: 10 });
  assert.deepEqual(
    data.map((listed) => [listed.state, listed.attempts, listed.nextAttemptAt]),
    [["held", [], null]],
  );
  const told = await readCallbackState(db, sessionId);
  assert.ok(told?.disabledAt && told.failingSince && told.failingSince < told.disabledAt);
  assert.equal(notices().length, 1, "the notice is given once");
});

test("a failing endpoint to which nothing was sent for 30 days is removed", async () => {
  const at = (days: number) => new Date(Date.now() - days * DAY_MS);
  await db.insert(failingEndpoints).values([
    { ownerId: "owner", host: "unused.example", failingSince: at(40), dropped: 2, disabledAt: null },
    { ownerId: "owner", host: "probed.example", failingSince: at(40), dropped: 9, disabledAt: at(1) },
    { ownerId: "owner", host: "recent.example", failingSince: at(20), dropped: 1, disabledAt: null },
  ]);
  assert.equal(await pruneFailingEndpoints(db), 1);
  const left = await db.select({ host: failingEndpoints.host }).from(failingEndpoints);
  assert.deepEqual(left.map(({ host }) => host).sort(), ["probed.example", "recent.example"]);
});

test("deliveries that this service could not send do not count as failures of the endpoint", async () => {
  for (const days of [0, 3, 6]) {
    const { deliveryId } = await makeDelivery();
    const clock = () => new Date(Date.now() + days * DAY_MS);
    for (let number = 1; number <= 5; number++)
      await attempt({ deliveryId, cycle: 1, number }, { clock, refuseHttp: () => "must be https" });
  }
  assert.deepEqual(await db.select().from(failingEndpoints), []);
});

test("two dropped deliveries do not disable an endpoint, however far apart they are", async () => {
  await playDelivery(0);
  await playDelivery(30);
  assert.deepEqual(notices(), []);
  assert.equal((await playDelivery(30.1)).attempts, 5);
  assert.equal(notices().length, 1);
});

test("one accepted callback, of any session, restarts the time", async () => {
  for (const days of [0, 1, 2]) await playDelivery(days);
  answer.status = 204;
  assert.equal((await playDelivery(4)).state, "delivered");
  assert.deepEqual(await db.select().from(failingEndpoints), []);
  answer.status = 500;
  for (const days of [6, 7, 8]) await playDelivery(days);
  assert.deepEqual(notices(), []);
});

test("other owners and other hosts are not affected, and 0 never disables", async () => {
  for (const days of [0, 3, 6]) await playDelivery(days);
  assert.equal(notices().length, 1);
  assert.equal((await playDelivery(6, { ownerId: "other" })).attempts, 5);
  const other = await startReceiver((_request, response) => response.end());
  assert.equal((await playDelivery(6, { url: other.url })).state, "delivered");
  other.close();
  await db.delete(failingEndpoints);
  for (const days of [0, 3, 60]) {
    const { deliveryId } = await makeDelivery();
    for (let number = 1; number <= 5; number++)
      await attempt(
        { deliveryId, cycle: 1, number },
        { clock: () => new Date(Date.now() + days * DAY_MS), disableAfterMs: 0 },
      );
  }
  assert.equal(notices().length, 1);
});

test("with 0, an endpoint that was disabled before is called again, without a notice", async () => {
  for (const days of [0, 3, 6]) await playDelivery(days);
  assert.equal((await playDelivery(6)).state, "held");
  receiver.received.length = 0;
  const { deliveryId } = await makeDelivery();
  const clock = () => new Date(Date.now() + 6.01 * DAY_MS);
  for (let number = 1; number <= 5; number++)
    await attempt({ deliveryId, cycle: 1, number }, { clock, disableAfterMs: 0 });
  assert.equal(receiver.received.length, 5);
  assert.equal(notices().length, 1);
});

test("callbacks are sent again after the endpoint is enabled, or accepts a redelivery", async () => {
  for (const days of [0, 3, 6]) await playDelivery(days);
  const { sessionId, state } = await playDelivery(6);
  assert.equal(state, "held");
  await enableEndpoint(db, sessionId);
  answer.status = 204;
  assert.equal((await playDelivery(6)).state, "delivered");

  answer.status = 500;
  for (const days of [10, 13, 16]) await playDelivery(days);
  const held = await playDelivery(16);
  assert.equal(held.state, "held");
  answer.status = 204;
  await db
    .update(deliveries)
    .set({ state: "pending", cycle: 2, attemptsFinished: 0 })
    .where(eq(deliveries.id, held.deliveryId));
  const redelivered = await attempt({ deliveryId: held.deliveryId, cycle: 2, number: 1 });
  assert.deepEqual(redelivered, { state: "delivered" });
  assert.equal((await playDelivery(16)).state, "delivered");
});

test("a delivery over the rate of its host waits for its slot and is then sent once", async () => {
  answer.status = 204;
  let at = 1_000_000;
  const pace = createEndpointPace(6, () => at);
  const made = [await makeDelivery(), await makeDelivery(), await makeDelivery()];
  const outcomes = [];
  for (const { deliveryId } of made)
    outcomes.push(await attempt({ deliveryId, cycle: 1, number: 1 }, { pace }));
  assert.deepEqual(outcomes, [
    { state: "delivered" },
    { state: "delivered" },
    { state: "wait", delayMs: 10_000 },
  ]);
  at += 10_000;
  const last = { deliveryId: made[2]?.deliveryId ?? "", cycle: 1, number: 1 };
  assert.deepEqual(await attempt(last, { pace }), { state: "delivered" });
  assert.equal(receiver.received.length, 3);
});

test("a callback goes to the full sealed URL, and to plain http it is a failed attempt if http is refused", async () => {
  answer.status = 204;
  const full = `${receiver.url}&token=canary-in-url`;
  const { deliveryId, sessionId } = await makeDelivery({ url: receiver.url.replace("service", "***") });
  await db.insert(sealedSecrets).values({
    sessionId,
    name: CALLBACK_URL,
    sealed: sealer.seal(placeSecret(sessionId, CALLBACK_URL), full),
  });
  const first = { deliveryId, cycle: 1, number: 1 };
  const refuseHttp = createHttpRefusal("refuse", []);
  assert.equal((await attempt(first, { refuseHttp })).state, "retry");
  const { data } = await listDeliveries(db, sessionId, { limit: 1 });
  assert.match(data[0]?.attempts[0]?.error ?? "", /^the callback URL must be https, because CALLBACK_HTTP/);
  assert.deepEqual(await attempt({ ...first, number: 2 }), { state: "delivered" });
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ["/callbacks?from=service&token=canary-in-url"],
  );
});
