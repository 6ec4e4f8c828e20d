import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { ControlGroups, FoundGroups } from "#lib/isolation/control-groups.ts";
import { createSandboxService } from "./create-sandbox-service.ts";
import { bytes, makeSandboxFixture, options, readText, refused } from "./sandbox-fixture.ts";

const { dataDir, statuses, make, sandboxes, isConfined, remove } = await makeSandboxFixture();
after(remove);

const makeWith = (found: FoundGroups) =>
  createSandboxService({
    kind: "local",
    dataDir,
    onStartupStatus: async () => {},
    logger: { info: () => {}, warn: () => {} },
    findGroups: async () => found,
  });
const describeWith = async (found: FoundGroups) => (await makeWith(found)).describe().isolation;

/** Creates fake control groups, whose files are ordinary files instead of files of the kernel. */
async function makeFakeGroups(folder: string, exists = true, readMemoryKills = () => 0) {
  const root = exists ? await mkdtemp(join(folder, "groups-")) : folder;
  const removed: string[] = [];
  const groups: ControlGroups = {
    async open(name) {
      return { joinPath: join(root, name), readMemoryKills: async () => readMemoryKills() };
    },
    remove: async (name) => void removed.push(name),
    close: async () => {},
  };
  return { groups, removed, joined: (name: string) => readFile(join(root, name), "utf8") };
}

describe("createSandboxService", () => {
  it("drops a workspace that was not used for a while, but keeps its files, and keeps one whose command runs", async () => {
    const resting = await make("unconfined", {}, { evictAfterIdleMs: 100 });
    const [unused, busy] = [await resting.open("ses_unused"), await resting.open("ses_busy")];
    await unused.writeFile("kept.txt", bytes("kept"));
    const command = busy.run("sleep 1", options());
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(await resting.open("ses_busy"), busy);
    const again = await resting.open("ses_unused");
    assert.notEqual(again, unused);
    assert.equal(await readText(again, "kept.txt"), "kept");
    await command;
    await resting.remove("ses_unused");
    await assert.rejects(readText(again, "kept.txt"));
    await resting.close();
  });

  it("reports starting, then ready, once", async () => {
    await Promise.all([sandboxes.open("ses_once"), sandboxes.open("ses_once")]);
    assert.deepEqual(
      statuses.filter((line) => line.startsWith("ses_once")),
      ["ses_once starting", "ses_once ready"],
    );
  });

  it("reports error when the folder cannot be created", async () => {
    await writeFile(join(dataDir, "workspaces", "ses_blocked"), "a file in the way");
    await assert.rejects(sandboxes.open("ses_blocked"));
    assert.equal(statuses.at(-1), "ses_blocked error");
  });

  it("refuses an id that is not a session id", async () => {
    await assert.rejects(sandboxes.open("../ses_x"), refused(/no session/));
  });

  it("SANDBOX=none: open fails with a sentence, and no command can run", async () => {
    const none = await make("none");
    await assert.rejects(none.open("ses_a"), refused(/SANDBOX=none/));
    assert.equal(none.describe().canRunCommands, false);
  });

  it("SANDBOX=vercel: makes no request at the start, and describes itself", async () => {
    assert.match((await make("vercel")).describe().detail, /^Vercel Sandbox/);
  });

  it("without bubblewrap, files work and a command is refused with the reason", async () => {
    const bare = await make("local", {}, { launcherPath: join(dataDir, "nothing-here") });
    assert.equal(bare.describe().canRunCommands, false);
    const workspace = await bare.open("ses_bare");
    await workspace.writeFile("a.txt", bytes("a"));
    assert.equal(await readText(workspace, "a.txt"), "a");
    await assert.rejects(
      workspace.run("echo hi", options()),
      refused(/bubblewrap \(bwrap\) is not installed/),
    );
  });

  it("confines commands also if other users can traverse the data folder", async () => {
    const passable = await mkdtemp("/var/tmp/sandbox-test-");
    await chmod(passable, 0o755);
    const service = await createSandboxService({
      kind: "local",
      dataDir: passable,
      onStartupStatus: async () => {},
      logger: { info: () => {}, warn: () => {} },
    });
    assert.equal(service.describe().canRunCommands, isConfined);
    const run = async () => (await service.open("ses_p")).run("touch made && ls && id -u", options());
    if (isConfined) assert.match((await run()).output, /^made\n[1-9]/);
    else await assert.rejects(run(), refused(/cannot run here/));
    await rm(passable, { recursive: true });
  });

  it("runs no commands if bubblewrap is installed but fails, and quotes its error", async () => {
    const fake = await mkdtemp("/var/tmp/fake-bwrap-");
    await chmod(fake, 0o755);
    const script = '#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "bwrap: no namespaces today" >&2\nexit 1\n';
    await writeFile(join(fake, "bwrap"), script, { mode: 0o755 });
    const broken = await make("local", {}, { launcherPath: `${fake}:/usr/bin:/bin` });
    assert.equal(broken.describe().canRunCommands, false);
    assert.match(broken.describe().detail, /installed but does not work here: .*no namespaces today/);
    await rm(fake, { recursive: true });
  });

  it("describes in one line how sessions are isolated from each other", async () => {
    const none = await make("none");
    assert.equal(none.describe().isolation, "no commands run");
    const open = await make("unconfined");
    assert.equal(
      open.describe().isolation,
      "NONE: commands run as the service's own user (SANDBOX=unconfined)",
    );
    const bare = await make("local", {}, { launcherPath: join(dataDir, "nothing-here") });
    assert.equal(bare.describe().isolation, "bubblewrap: NO; no commands run");
    if (!isConfined) return;
    const line = await describeWith({ works: false, reason: "the machine has no cgroup v2" });
    const users =
      process.getuid?.() === 0 ? "a user per session" : "the service's own user for all sessions (only root";
    assert.ok(
      line.startsWith(
        "bubblewrap: yes; system calls filtered: yes; control groups: no (the machine has no cgroup v2); users: ",
      ),
      line,
    );
    assert.ok(line.includes(users), line);
  });

  it("a command joins the control group of its session before any of its code runs", async () => {
    if (!isConfined) return;
    const { groups, joined, removed } = await makeFakeGroups(dataDir);
    const service = await makeWith({ works: true, groups });
    assert.match(service.describe().isolation, /control groups: yes/);
    const workspace = await service.open("ses_group");
    assert.equal((await workspace.run("echo $((6 * 7)); exit 3", options())).output, "42\n");
    const script = { path: "a.mjs", bytes: bytes("console.log('ran')") };
    const program = { runtime: "node", script: "a.mjs", files: [script], args: [] } as const;
    assert.equal((await workspace.runProgram(program, options())).output, "ran\n");
    // The kernel reads 0 as the id of the writing process.
    assert.deepEqual(await joined("probe"), "0\n");
    assert.deepEqual(await joined("ses_group-commands"), "0\n");
    const { output } = await workspace.run("readlink /proc/[0-9]*/fd/*; true", options());
    assert.doesNotMatch(output, /ses_group-commands/);
    await service.remove("ses_group");
    assert.deepEqual(removed, ["probe", "ses_group-commands", "ses_group-tests"]);
    await service.close();
  });

  it("a command joins a real control group from within the sandbox, with the rights of the service", async (t) => {
    if (!isConfined) return;
    const mount = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(
      await readFile("/proc/self/mountinfo", "utf8"),
    );
    const root = join(mount?.[1] ?? "/no-cgroup2", `sandbox-test-${process.pid}`);
    // These groups set no limits, so they need no controllers.
    const open = async (name: string) => {
      await mkdir(join(root, name), { recursive: true });
      return { joinPath: join(root, name, "cgroup.procs"), readMemoryKills: async () => 0 };
    };
    try {
      await open("probe");
    } catch (error) {
      return t.skip(`control groups cannot be created on this machine: ${error}`);
    }
    const removeGroup = (name: string) => rmdir(join(root, name));
    const groups: ControlGroups = { open, remove: async () => {}, close: async () => {} };
    const service = await makeWith({ works: true, groups });
    assert.match(service.describe().isolation, /control groups: yes/);
    const { output } = await (await service.open("ses_kernel")).run("cat /proc/self/cgroup", options());
    assert.match(output, new RegExp(`^0::.*/sandbox-test-${process.pid}/ses_kernel-commands$`, "m"));
    assert.ok(!(await readFile("/proc/self/cgroup", "utf8")).includes("sandbox-test-"));
    await service.close();
    for (const name of ["probe", "ses_kernel-commands", ""]) await removeGroup(name);
  });

  it("works without control groups if a command cannot join one", async () => {
    if (!isConfined) return;
    const { groups } = await makeFakeGroups(join(dataDir, "no", "such", "folder"), false);
    const service = await makeWith({ works: true, groups });
    assert.match(service.describe().isolation, /control groups: no \(no such file or directory \(ENOENT\)\)/);
    const { output } = await (await service.open("ses_ungrouped")).run("echo on", options());
    assert.equal(output, "on\n");
  });

  it("notes in the output that the kernel killed a process of the command", async () => {
    if (!isConfined) return;
    let kills = 0;
    const { groups } = await makeFakeGroups(dataDir, true, () => kills++);
    const service = await makeWith({ works: true, groups });
    const { output } = await (await service.open("ses_killed")).run("echo cut", options());
    assert.match(
      output,
      /^cut\n\[the kernel ended a process, because the session's commands used all of their memory\]$/,
    );
  });

  it("SANDBOX=unconfined runs commands, says so, and does not pass on the environment of the host", async () => {
    const open = await make("unconfined");
    assert.match(open.describe().detail, /WITHOUT confinement/);
    const workspace = await open.open("ses_open");
    process.env.HOST_CANARY = "canary-value";
    const result = await workspace.run("env; pwd", options());
    assert.equal(result.exitCode, 0);
    assert.doesNotMatch(result.output, /canary-value/);
    await open.close();
  });
});
