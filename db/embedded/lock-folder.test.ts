import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { DatabaseLockedError, lockFolder } from "./lock-folder.ts";

let root: string;
let folder: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "lock-folder-"));
});
after(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(root, "data-"));
});

const openMany = async (count: number) =>
  (await Promise.allSettled(Array.from({ length: count }, () => lockFolder(folder)))).map((result) =>
    result.status === "fulfilled" ? "locked" : result.reason,
  );

async function expectOneOwner(count: number): Promise<void> {
  const results = await openMany(count);
  assert.equal(results.filter((result) => result === "locked").length, 1);
  for (const result of results)
    assert.ok(result === "locked" || result instanceof DatabaseLockedError, String(result));
}

test("of several concurrent calls, one locks the folder and the others are refused", async () => {
  for (let round = 0; round < 100; round++) {
    folder = await mkdtemp(join(root, "data-"));
    await expectOneOwner(3);
  }
});

test("an unlocked folder can be locked again", async () => {
  const unlock = await lockFolder(folder);
  await assert.rejects(lockFolder(folder), DatabaseLockedError);
  await unlock();
  await (await lockFolder(folder))();
  assert.deepEqual(await readdir(folder), []);
});

test("of several concurrent calls, one takes over the lock of a process that has ended", async () => {
  for (let round = 0; round < 100; round++) {
    folder = await mkdtemp(join(root, "data-"));
    await writeFile(join(folder, "owner.lock"), JSON.stringify({ pid: 4_194_304, startedAt: "1" }));
    await expectOneOwner(2);
  }
});

test("an empty lock file, left by a crash, is taken over once it is old", async () => {
  const path = join(folder, "owner.lock");
  await writeFile(path, "");
  await utimes(path, 1, 1);
  await (await lockFolder(folder))();
});
