import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Database } from "#db/client.ts";
import { openTestDatabase } from "#db/testing.ts";
import { insertTestSession } from "#lib/browser/testing.ts";
import { createPlanGate } from "./plan-gate.ts";
import { writePlan } from "./planning-store.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

/**
 * Wraps a database, and counts its statements. Each statement begins with the read of a property of the database, such
 * as `select`, so the wrapper counts these reads.
 */
function counting(db: Database): { db: Database; count: () => number } {
  let statements = 0;
  const counted = new Proxy(db, {
    get(target, name) {
      if (name !== "constructor") statements += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db: counted, count: () => statements };
}

test("a call that changes nothing costs no query, and one that changes something costs one", async () => {
  const sessionId = await insertTestSession(database.db);
  const { db, count } = counting(database.db);
  const gate = createPlanGate(db);
  assert.equal(await gate({ name: "dom_query", changes: false }, sessionId), undefined);
  assert.equal(count(), 0);
  assert.equal(await gate({ name: "write_file", changes: true }, sessionId), undefined);
  assert.equal(count(), 1);
});

test("refuses in plan first only, and reads the mode again for each call", async () => {
  const sessionId = await insertTestSession(database.db);
  const gate = createPlanGate(database.db);
  const write = { name: "write_file", changes: true };
  for (const mode of ["plan_first", "agreed", "plan_first", "off"] as const) {
    await database.db.transaction((tx) => writePlan(tx, sessionId, { mode }));
    const refusal = await gate(write, sessionId);
    assert.equal(refusal?.startsWith("write_file was not run: "), mode === "plan_first" ? true : undefined);
  }
});
