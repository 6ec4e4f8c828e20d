import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openEmbedded } from "./embedded.ts";

test("no other user of the machine gets to the database's files", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "embedded-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const database = await openEmbedded(dataDir);
  await database.close();
  assert.equal((await stat(join(dataDir, "db"))).mode & 0o777, 0o700);
});
