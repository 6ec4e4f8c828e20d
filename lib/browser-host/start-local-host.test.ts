import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import { openTestHosts, type TestHosts } from "./testing.ts";

const [OLD, OTHER] = ["host-bh_5dQmZ-_xT3Lw.log", "host-notes.log"];
let hosts: TestHosts;

before(async () => {
  process.env.ENCRYPTION_KEY = "of-the-service";
  process.env.DATABASE_URL = "postgres://of-the-service/";
  hosts = await openTestHosts([]);
  for (const name of [OLD, OTHER]) await writeFile(join(hosts.dataDir, name), "ended");
  const { browsers } = await hosts.open();
  // Starts a host, without a browser.
  browsers.warmUp();
});
after(() => hosts.close());

const listLogs = async () => (await readdir(hosts.dataDir)).filter((name) => name.endsWith(".log"));

test("a new host removes the logs of earlier hosts, whose starter ended before them", async () => {
  const logs = await waitFor(async () => {
    const found = await listLogs();
    return !found.includes(OLD) && found.length === 2 && found;
  }, "the log of the new host alone");
  assert.ok(logs.includes(OTHER));
});

test("a host does not inherit the settings and credentials of the service", async () => {
  const environment = await waitFor(() => findHost(process.pid), "the process of the host");
  assert.match(environment, /(^|\0)PATH=/);
  assert.doesNotMatch(environment, /of-the-service|ENCRYPTION_KEY|DATABASE_URL/);
});

/** Returns the environment of the host that is a child of this process. */
async function findHost(parent: number): Promise<string | undefined> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    if (!(await read("cmdline")).includes("host-worker")) continue;
    if (Number((await read("stat")).split(") ")[1]?.split(" ")[1]) === parent) return read("environ");
  }
  return undefined;
}
