import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { findControlGroups } from "./control-groups.ts";

const LIMITS = { memoryBytesMax: 64 * 1_048_576, processesMax: 20, processorsMax: 1.5 };
const root = await mkdtemp(join(tmpdir(), "control-groups-"));
after(() => rm(root, { recursive: true, force: true }));

/**
 * Creates a folder that imitates the cgroup v2 file system of a machine. Unlike the kernel, the folder accepts every
 * value, and `rmdir` does not delete the control files in it.
 */
async function machine(
  own: string,
  { controllers = "cpu memory pids", enabled = "cpu memory pids", members = [] as number[] } = {},
) {
  const mount = await mkdtemp(join(root, "mount-"));
  const group = join(mount, own);
  await mkdir(group, { recursive: true });
  await writeFile(join(group, "cgroup.controllers"), `${controllers}\n`);
  await writeFile(join(group, "cgroup.subtree_control"), `${enabled}\n`);
  await writeFile(join(group, "cgroup.procs"), members.join("\n"));
  const places = {
    mountInfo: `22 1 0:20 / /proc rw - proc proc rw\n30 1 0:26 / ${mount} rw,nosuid - cgroup2 cgroup2 rw\n`,
    own: `0::${own}\n`,
    pid: process.pid,
    readParent: async () => 0,
  };
  return {
    group,
    find: (over: Partial<typeof places> = {}) => findControlGroups(async () => ({ ...places, ...over })),
  };
}

describe("control groups", () => {
  it("have limits of memory, processes and processors, and are created once", async () => {
    const { group, find } = await machine("/service.service");
    const found = await find();
    if (!found.works) assert.fail(found.reason);
    const sessionGroup = await found.groups.open("ses_a", LIMITS);
    assert.equal(await found.groups.open("ses_a", LIMITS), sessionGroup);
    const folder = join(group, `agent-sessions-${process.pid}`, "ses_a");
    assert.equal(sessionGroup.joinPath, join(folder, "cgroup.procs"));
    const read = (name: string) => readFile(join(folder, name), "utf8");
    assert.deepEqual(
      [await read("memory.max"), await read("pids.max"), await read("cpu.max")],
      ["67108864", "20", "150000 100000"],
    );
    await writeFile(join(folder, "memory.events"), "low 0\noom 3\noom_kill 2\n");
    assert.equal(await sessionGroup.readMemoryKills(), 2);
  });

  it("have no processor limit if the cpu controller is not delegated", async () => {
    const { group, find } = await machine("/a", { controllers: "memory pids", enabled: "memory pids" });
    const found = await find();
    if (!found.works) assert.fail(found.reason);
    await found.groups.open("ses_a", LIMITS);
    await assert.rejects(stat(join(group, `agent-sessions-${process.pid}`, "ses_a", "cpu.max")));
  });

  it("enable the controllers", async () => {
    const { group, find } = await machine("/a", { enabled: "" });
    await find();
    assert.equal(await readFile(join(group, "cgroup.subtree_control"), "utf8"), "+memory +pids +cpu");
  });

  it("return a reason when they cannot be created", async () => {
    const lacking = await machine("/a", { controllers: "hugetlb", enabled: "" });
    const login = await machine("/user.slice/session-3.scope");
    const plain = await machine("/a");
    for (const [found, reason] of [
      [await lacking.find(), /^the controllers memory and pids are not available to the service$/],
      [await login.find(), /^the service does not change the group of a login session; .*Delegate=yes$/],
      [
        await plain.find({ mountInfo: "22 1 0:20 / /proc rw - proc proc rw\n" }),
        /^the machine has no cgroup v2$/,
      ],
      [await plain.find({ own: "4:memory:/a\n" }), /^the machine has no cgroup v2$/],
      [await plain.find({ own: "0::/elsewhere\n" }), /ENOENT/],
    ] as const) {
      assert.match(found.works ? "works" : found.reason, reason);
    }
  });

  it("contain and kill real processes where this machine has groups, and are removed afterwards", async (t) => {
    const found = await findControlGroups();
    if (!found.works) {
      assert.notEqual(found.reason, "");
      return t.skip(found.reason);
    }
    const { joinPath } = await found.groups.open("held", LIMITS);
    const child = spawn("sh", ["-c", 'echo 0 > "$0" && exec sleep 300', joinPath]);
    while (!(await readFile(joinPath, "utf8")).includes(String(child.pid))) await new Promise(setImmediate);
    const ended = once(child, "exit");
    await found.groups.close();
    assert.deepEqual(await ended, [null, "SIGKILL"]);
    await assert.rejects(stat(dirname(dirname(joinPath))), { code: "ENOENT" });
  });
});
