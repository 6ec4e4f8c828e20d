import assert from "node:assert/strict";
import { test } from "node:test";
import { opensDatabase } from "./opens-database.mjs";

test("a test that opens the database itself, or through the helpers it imports, runs on every database", () => {
  assert.equal(opensDatabase("lib/session/accept-message.test.ts"), true);
  assert.equal(opensDatabase("lib/server/turn.test.ts"), true, "by openTestService");
  assert.equal(opensDatabase("lib/browser/retarget.test.ts"), true, "by openTestBrowsers");
});

test("a test without a database, or with a Postgres of its own, runs once", () => {
  assert.equal(opensDatabase("lib/server/env.test.ts"), false);
  assert.equal(opensDatabase("db/server-database.test.ts"), false);
  assert.equal(opensDatabase("lib/server/postgres.test.ts"), false);
});
