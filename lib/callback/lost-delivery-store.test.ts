import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { deliveries, deliveryAttempts, outbox } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { resendLostDeliveries } from "./lost-delivery-store.ts";
import { seedCallbackSession, seedDelivery } from "./testing.ts";

let db: Database;
let closeDatabase: () => Promise<void>;
before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
});
after(() => closeDatabase());

const sealer = createSealer(new Uint8Array(32));
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);

async function seed(fields: Partial<typeof deliveries.$inferInsert> = { state: "pending" }): Promise<string> {
  const run = await seedCallbackSession(db, { url: "https://receiver.example/", sealer });
  const id = await seedDelivery(db, run, "run.started");
  await db.update(deliveries).set(fields).where(eq(deliveries.id, id));
  return id;
}
const resend = async (now: Date) => (await resendLostDeliveries(db, now)).map(({ id }) => id);

test("an open delivery that is long overdue gets a new job each time", async () => {
  const [waiting, cutOff] = [await seed(), await seed({ state: "sending", attemptsFinished: 2 })];
  assert.deepEqual(await resend(minutesFromNow(14)), []);
  const first = await resend(minutesFromNow(16));
  assert.deepEqual(first.sort(), [`${waiting}:1:2`, `${cutOff}:1:2`].sort());
  assert.deepEqual(await resend(minutesFromNow(17)), [], "the new jobs have their time");
  // Jobs that are still in the outbox are not lost, because the engine has not received them yet.
  assert.deepEqual(await resend(minutesFromNow(60)), []);
  await db.update(outbox).set({ sentAt: new Date() });
  assert.deepEqual((await resend(minutesFromNow(90))).sort(), [`${waiting}:1:3`, `${cutOff}:1:3`].sort());
  await db.delete(deliveries);
});

test("a delivery that is not due, or that has ended, gets no new job", async () => {
  await seed({ attemptsFinished: 4, nextAttemptAt: minutesFromNow(11) });
  await seed({ state: "delivered", nextAttemptAt: null });
  await seed({ state: "dropped", nextAttemptAt: null });
  assert.deepEqual(await resend(minutesFromNow(20)), []);
  await db.delete(deliveries);
});

const DAYS_2 = 2 * 24 * 60;

test("after the clock was set back by two days, a lost delivery gets a new job a quarter of an hour later", async () => {
  const [waiting, cutOff, failed] = [
    await seed(),
    await seed({ state: "sending" }),
    await seed({ attemptsFinished: 1, nextAttemptAt: minutesFromNow(1) }),
  ];
  await db.insert(deliveryAttempts).values({
    deliveryId: failed,
    cycle: 1,
    number: 1,
    at: new Date(),
    status: 500,
    latencyMs: 5,
    error: "the receiver answered 500",
    excerpt: null,
  });
  assert.deepEqual(await resend(minutesFromNow(-DAYS_2)), []);
  assert.deepEqual(await resend(minutesFromNow(-DAYS_2 + 14)), []);
  const lost = await resend(minutesFromNow(-DAYS_2 + 16));
  assert.deepEqual(lost.sort(), [`${waiting}:1:2`, `${cutOff}:1:2`, `${failed}:1:2`].sort());
  await db.delete(deliveries);
});

test("the due time of a delivery that waits for its next attempt does not change while the clock is right", async () => {
  const nextAttemptAt = minutesFromNow(11);
  const id = await seed({ attemptsFinished: 4, nextAttemptAt });
  await db.insert(deliveryAttempts).values({
    deliveryId: id,
    cycle: 1,
    number: 4,
    at: new Date(),
    status: 500,
    latencyMs: 5,
    error: "the receiver answered 500",
    excerpt: null,
  });
  await resend(new Date());
  const [row] = await db.select().from(deliveries).where(eq(deliveries.id, id));
  assert.deepEqual(row?.nextAttemptAt, nextAttemptAt);
  await db.delete(deliveries);
});
