import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import type { Database } from "#db/client.ts";
import { deliveries, outbox } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedPost, type GuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { redeliver } from "./redeliver.ts";
import { standardSchedule } from "./retry-schedule.ts";
import { seedCallbackSession, seedDelivery, startReceiver } from "./testing.ts";

let db: Database;
let closeDatabase: () => Promise<void>;
let post: GuardedPost;
const sealer = createSealer(new Uint8Array(32).fill(7));
const secret = `whsec_${Buffer.from("thirty-two bytes of a secret key").toString("base64")}`;
const sent: Job[] = [];
const jobs = { plan: () => undefined, begin: (job: Job) => void sent.push(job) };

before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
  post = createGuardedPost(createAddressRule({ allow: ["127.0.0.1"] }));
});
after(async () => {
  post.close();
  await closeDatabase();
});

test("a dropped callback is sent again with the same bytes and id, and lists its five new attempts, too", async (t) => {
  let answers = 0;
  const receiver = await startReceiver((_request, response) => {
    answers += 1;
    response.writeHead(answers <= 5 ? 503 : 200).end(answers <= 5 ? "no\0 \u001b[31mroom" : "taken");
  });
  t.after(receiver.close);
  const run = await seedCallbackSession(db, { url: receiver.url, sealer, secret });
  const deliveryId = await seedDelivery(db, run, "run.completed");
  const deps = { db, post, sealer, schedule: standardSchedule, logger: { info: () => {}, warn: () => {} } };
  const attempt = (cycle: number, number: number) => attemptDelivery(deps, { deliveryId, cycle, number });

  assert.deepEqual(await redeliver({ db, jobs }, run.sessionId, deliveryId), { status: "open" });
  for (const number of [1, 2, 3, 4, 5]) await attempt(1, number);
  const found = await redeliver({ db, jobs }, run.sessionId, deliveryId);
  assert.ok(found.status === "reopened");
  assert.deepEqual([found.delivery.state, found.delivery.attempts.length], ["pending", 5]);
  assert.deepEqual(await redeliver({ db, jobs }, run.sessionId, deliveryId), { status: "open" });
  const job = { name: "callback/delivery.requested", id: `${deliveryId}:2`, data: { deliveryId, cycle: 2 } };
  assert.deepEqual(sent, [job]);
  const [stored] = await db.select().from(outbox).where(eq(outbox.id, job.id));
  assert.deepEqual([stored?.data, stored?.sentAt], [job.data, null]);

  assert.deepEqual(await attempt(1, 5), { state: "dropped" }, "the old cycle is over");
  assert.deepEqual(await attempt(2, 1), { state: "delivered" });
  assert.equal(receiver.received.length, 6);
  assert.equal(new Set(receiver.received.map(({ body }) => String(body))).size, 1);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 1);
  for (const { body, headers } of receiver.received) {
    assert.equal(headers["webhook-id"], deliveryId);
    const said = headers as Record<string, string>;
    assert.deepEqual(new Webhook(secret).verify(body, said), JSON.parse(String(body)));
  }
  const again = await redeliver({ db, jobs }, run.sessionId, deliveryId);
  assert.ok(again.status === "reopened");
  assert.deepEqual(
    again.delivery.attempts.map(({ cycle, status, excerpt }) => [cycle, status, excerpt]),
    [...Array(5).fill([1, 503, "no [31mroom"]), [2, 200, "taken"]],
  );
});

test("two concurrent requests reopen it once", async () => {
  const run = await seedCallbackSession(db, { url: "http://127.0.0.1:9/", sealer });
  const deliveryId = await seedDelivery(db, run, "run.started");
  await db.update(deliveries).set({ state: "delivered" }).where(eq(deliveries.id, deliveryId));
  const ask = () => redeliver({ db, jobs }, run.sessionId, deliveryId);
  const results = await Promise.all([ask(), ask(), ask()]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ["open", "open", "reopened"]);
});

test("another session's callback is unknown", async () => {
  const run = await seedCallbackSession(db, { url: "http://127.0.0.1:9/", sealer });
  const other = await seedCallbackSession(db, { url: "http://127.0.0.1:9/", sealer });
  const deliveryId = await seedDelivery(db, run, "run.started");
  assert.deepEqual(await redeliver({ db, jobs }, other.sessionId, deliveryId), { status: "unknown" });
});
