import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { waitFor } from "../testing.ts";
import { sweepBrowsers } from "./profile-folder.ts";

test("a host that starts leaves the browsers of a host that runs, and removes those of one that was stopped", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "profiles-test-"));
  const owner = spawn(process.execPath, ["-e", "console.log('up'); setInterval(() => {}, 1000)"]);
  t.after(async () => {
    owner.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  await once(owner.stdout, "data");
  const readStat = async () => {
    const stat = await readFile(`/proc/${owner.pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  };
  const startedAt = (await readStat())[19];
  const add = async (name: string, record: object) => {
    const profileDir = join(folder, `agent-browser-${name}`);
    await mkdir(profileDir);
    await writeFile(`${profileDir}.json`, JSON.stringify({ profileDir, ...record }));
  };
  await add("used", { owner: { pid: owner.pid, startedAt } });
  await add("left", { owner: { pid: owner.pid, startedAt: "1" } });
  await add("old", {});
  await sweepBrowsers(folder);
  assert.deepEqual((await readdir(folder)).sort(), ["agent-browser-used", "agent-browser-used.json"]);
  owner.kill("SIGSTOP");
  await waitFor(async () => (await readStat())[0] === "T", "the process to be stopped");
  await sweepBrowsers(folder);
  assert.deepEqual(await readdir(folder), []);
});
