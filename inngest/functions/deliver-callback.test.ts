import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inngest } from "inngest";
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

test("a delivery that has waited a hundred times is attempted out of order", async () => {
  const attempts: boolean[] = [];
  const waits: string[] = [];
  // The function itself, with steps that run at once. An engine would need a step and a sleep for each wait.
  const step = {
    run: (_name: string, work: () => unknown) => work(),
    sleepUntil: async (name: string) => void waits.push(name),
  };
  type Deliver = (call: object) => Promise<unknown>;
  const client = { createFunction: (_options: object, deliver: Deliver) => deliver } as unknown as Inngest;
  const deliver = createDeliverCallback(client, async ({ outOfOrder = false }) => {
    attempts.push(outOfOrder);
    return outOfOrder ? { state: "delivered" } : { state: "wait", delayMs: 60_000 };
  }) as unknown as Deliver;
  const outcome = await deliver({ event: { data: { deliveryId: "dlv_1", cycle: 1 } }, step });
  assert.deepEqual(outcome, { state: "delivered" });
  assert.deepEqual(attempts, [...Array(100).fill(false), true]);
  assert.equal(new Set(waits).size, 100);
});
