import assert from "node:assert/strict";
import { test } from "node:test";
import { engineEvents } from "#db/schema/engine.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createEngineStore } from "./engine-store.ts";

const DAY_MS = 24 * 3_600_000;

test("pruning deletes all old events, also more than one statement deletes, and keeps the young ones", async (context) => {
  const { db, close } = await openTestDatabase();
  context.after(close);
  const twoDaysAgo = new Date(Date.now() - 2 * DAY_MS);
  const events = (count: number, createdAt: Date) =>
    Array.from({ length: count }, (_, at) => ({
      id: `evt_${createdAt.getTime()}_${at}`,
      name: "go",
      body: { id: "", name: "go", data: {}, ts: 0 },
      createdAt,
    }));
  await db.insert(engineEvents).values(events(2_500, twoDaysAgo));
  await db.insert(engineEvents).values(events(3, new Date()));
  const store = createEngineStore(db, { executorId: "exe_1", process: undefined }, Date.now);
  await store.prune(DAY_MS);
  assert.equal((await db.select({ id: engineEvents.id }).from(engineEvents)).length, 3);
});
