import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { walkFolder } from "./walk-folder.ts";

test("of a folder with too many names, only so many are read, and the folder is marked", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "walk-folder-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, "many"));
  for (let index = 0; index < 5; index++) await writeFile(join(root, "many", `${index}`), "");
  async function walk(namesMax: number) {
    const entries = [];
    for await (const { path, unreadable } of walkFolder(root, [], { recursive: true, all: true, namesMax }))
      entries.push([path, unreadable]);
    return entries;
  }
  const files = Array.from({ length: 5 }, (_, index) => [`many/${index}`, undefined]);
  assert.deepEqual(await walk(6), [["many", undefined], ...files]);
  const cut = await walk(4);
  assert.equal(cut.length, 6);
  assert.deepEqual(cut.at(-1), ["many", true]);
});
