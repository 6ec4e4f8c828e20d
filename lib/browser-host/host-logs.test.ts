import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import { openTestHosts, type TestHosts } from "./testing.ts";

let hosts: TestHosts;
before(async () => {
  hosts = await openTestHosts([]);
});
after(() => hosts.close());

test("a new host removes the logs of earlier hosts, whose starter ended before them", async () => {
  const [old, other] = ["host-bh_5dQmZ-_xT3Lw.log", "host-notes.log"];
  for (const name of [old, other]) await writeFile(join(hosts.dataDir, name), "ended");
  const { browsers } = await hosts.open();
  browsers.warmUp();
  const list = async () => (await readdir(hosts.dataDir)).filter((name) => name.endsWith(".log")).toSorted();
  await waitFor(async () => !(await list()).includes(old) && (await list()).length === 2);
  assert.ok((await list()).includes(other));
});
