import assert from "node:assert/strict";
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { databaseAccount } from "./account.ts";
import { movePreparedCopy, prepareCopy } from "./template.ts";

let cache: string;
let template: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "template-test-"));
  template = join(cache, "template-18");
  await mkdir(join(template, "base"), { recursive: true });
  await writeFile(join(template, "base", "1"), "row");
});
afterEach(() => rm(cache, { recursive: true, force: true }));

const target = (name = "data") => join(cache, name);
const copy = () => join(cache, "copy-of-template-18");

describe("the prepared copy of a template", () => {
  it("is moved once, by one of several processes, and belongs to the account of the database", async () => {
    await prepareCopy(template);
    await prepareCopy(template);
    assert.deepEqual((await readdir(cache)).sort(), ["copy-of-template-18", "template-18"]);
    const moved = await Promise.all(["a", "b", "c"].map((name) => movePreparedCopy(template, target(name))));
    assert.equal(moved.filter(Boolean).length, 1);
    const name = ["a", "b", "c"][moved.indexOf(true)];
    assert.equal(await readFile(join(target(name), "base", "1"), "utf8"), "row");
    const { mode, uid } = await stat(target(name));
    assert.equal(mode & 0o777, 0o700);
    assert.equal(uid, databaseAccount()?.uid ?? process.getuid?.());
    assert.equal(await readFile(join(template, "base", "1"), "utf8"), "row");
  });

  it("is not moved if there is none", async () => {
    assert.equal(await movePreparedCopy(template, target()), false);
  });

  it("is not moved if another account made it", { skip: databaseAccount() === undefined }, async () => {
    await prepareCopy(template);
    await chown(copy(), 65_531, 65_531);
    assert.equal(await movePreparedCopy(template, target()), false);
    assert.deepEqual((await readdir(cache)).sort(), ["copy-of-template-18", "template-18"]);
  });

  it("is not moved to another file system", async (t) => {
    const elsewhere = await mkdtemp("/dev/shm/template-test-").catch(() => undefined);
    if (elsewhere === undefined || (await stat(elsewhere)).dev === (await stat(cache)).dev)
      return t.skip("there is no other file system");
    try {
      await prepareCopy(template);
      assert.equal(await movePreparedCopy(template, join(elsewhere, "data")), false);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });
});
