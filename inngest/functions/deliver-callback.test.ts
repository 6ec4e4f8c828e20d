import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createGate, createTestProcess, isQuiet, until } from "#inngest/embedded/testing.ts";
import { createDeliverCallback } from "./deliver-callback.ts";

const SLOTS = 8;
const CALLBACKS = 20;

test("callbacks to receivers that do not answer leave calls of the engine for turns", async (context) => {
  const database = await openTestDatabase();
  context.after(() => database.close());
  const engine = createTestProcess(database.db, { concurrency: SLOTS });
  const gate = createGate();
  let attempts = 0;
  let turns = 0;
  await engine.start([
    createDeliverCallback(
      engine.client,
      async () => {
        attempts += 1;
        await gate.promise;
        return { state: "delivered" };
      },
      SLOTS / 2,
    ),
    engine.client.createFunction({ id: "turn", triggers: { event: "turn" } }, async () => {
      turns += 1;
    }),
  ]);
  const request = { name: "callback/delivery.requested", data: { deliveryId: "dlv_1", cycle: 1 } };
  await engine.client.send(Array.from({ length: CALLBACKS }, () => request));
  await until(() => attempts === SLOTS / 2, "half of the calls are callbacks");
  await engine.client.send({ name: "turn", data: {} });
  await until(() => turns === 1, "the turn is played");
  assert.equal(attempts, SLOTS / 2);
  gate.resolve();
  await until(() => isQuiet(database.db), "all callbacks are delivered");
  assert.equal(attempts, CALLBACKS);
  await engine.engine.stop({ graceMs: 1_000 });
});
