import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createSandboxService, type SandboxKind } from "./create-sandbox-service.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import type { Workspace } from "./sandbox-service.ts";
import { isWorkspaceError } from "./workspace-error.ts";

const dataDir = await mkdtemp(join(tmpdir(), "sandbox-test-"));
const logger = { info: () => {}, warn: () => {} };
const make = (kind: SandboxKind, limits: Partial<SandboxLimits> = {}, launcherPath?: string) =>
  createSandboxService({
    kind,
    dataDir,
    onStartupStatus: async (sessionId, status) => void statuses.push(`${sessionId} ${status}`),
    logger,
    limits,
    ...(launcherPath === undefined ? {} : { launcherPath }),
  });
const statuses: string[] = [];
const sandboxes = await make("local");
const isConfined = sandboxes.describe().canRunCommands;
const confined = isConfined ? "" : " (no confinement on this machine: the refusal is checked instead)";
const options = (timeoutMs = 20_000) => ({ timeoutMs, signal: new AbortController().signal });
const bytes = (text: string) => new TextEncoder().encode(text);
const folderOf = (sessionId: string) => join(dataDir, "workspaces", sessionId);
const readText = async (workspace: Workspace, path: string) =>
  new TextDecoder().decode((await workspace.readFile(path, 1_000_000)).bytes);
const refused = (pattern: RegExp) => (error: unknown) =>
  isWorkspaceError(error) && pattern.test(error.message);

/** Runs a test of confined commands; where they cannot run it checks that they are refused. */
function itRuns(title: string, test: (workspace: Workspace, sessionId: string) => Promise<void>) {
  it(`${title}${confined}`, async () => {
    const sessionId = `ses_${Math.random().toString(36).slice(2)}`;
    const workspace = await sandboxes.open(sessionId);
    if (isConfined) await test(workspace, sessionId);
    else await assert.rejects(workspace.run("echo hi", options()), refused(/commands cannot run here/));
  });
}

/** Waits for the file that a command makes when it begins. */
async function untilStarted(workspace: Workspace) {
  while (!(await workspace.readFile("started", 1).catch(() => undefined))) await new Promise(setImmediate);
}

after(async () => {
  await sandboxes.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe("opening a workspace", () => {
  it("reports starting, then ready, once", async () => {
    await Promise.all([sandboxes.open("ses_once"), sandboxes.open("ses_once")]);
    assert.deepEqual(
      statuses.filter((line) => line.startsWith("ses_once")),
      ["ses_once starting", "ses_once ready"],
    );
  });

  it("reports error when the folder cannot be made", async () => {
    await writeFile(join(dataDir, "workspaces", "ses_blocked"), "a file in the way");
    await assert.rejects(sandboxes.open("ses_blocked"));
    assert.equal(statuses.at(-1), "ses_blocked error");
  });

  it("refuses an id that is not a session's", async () => {
    await assert.rejects(sandboxes.open("../ses_x"), refused(/no session/));
  });

  it("none: open fails with a sentence, and no command can run", async () => {
    const none = await make("none");
    await assert.rejects(none.open("ses_a"), refused(/SANDBOX=none/));
    assert.equal(none.describe().canRunCommands, false);
  });

  it("vercel: fails at start with a sentence", async () => {
    await assert.rejects(make("vercel"), /not available yet/);
  });

  it("without bubblewrap files work, and a command is refused with the reason", async () => {
    const bare = await make("local", {}, join(dataDir, "nothing-here"));
    assert.equal(bare.describe().canRunCommands, false);
    const workspace = await bare.open("ses_bare");
    await workspace.writeFile("a.txt", bytes("a"));
    assert.equal(await readText(workspace, "a.txt"), "a");
    await assert.rejects(
      workspace.run("echo hi", options()),
      refused(/bubblewrap \(bwrap\) is not installed/),
    );
  });

  it("a data folder that other users can pass is confined as well as one they cannot", async () => {
    const passable = await mkdtemp("/var/tmp/sandbox-test-");
    await chmod(passable, 0o755);
    const service = await createSandboxService({
      ...{ kind: "local", dataDir: passable, onStartupStatus: async () => {}, logger },
    });
    assert.equal(service.describe().canRunCommands, isConfined);
    const run = async () => (await service.open("ses_p")).run("touch made && ls && id -u", options());
    if (isConfined) assert.match((await run()).output, /^made\n[1-9]/);
    else await assert.rejects(run(), refused(/cannot run here/));
    await rm(passable, { recursive: true });
  });

  it("a bubblewrap that exists and fails counts as none, and its words are told", async () => {
    const fake = await mkdtemp("/var/tmp/fake-bwrap-");
    await chmod(fake, 0o755);
    const script = '#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "bwrap: no namespaces today" >&2\nexit 1\n';
    await writeFile(join(fake, "bwrap"), script, { mode: 0o755 });
    const broken = await make("local", {}, `${fake}:/usr/bin:/bin`);
    assert.equal(broken.describe().canRunCommands, false);
    assert.match(broken.describe().detail, /installed but does not work here: .*no namespaces today/);
    await rm(fake, { recursive: true });
  });

  it("unconfined runs commands, says so, and hands on no environment of the host", async () => {
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

describe("paths of a workspace", () => {
  let workspace: Workspace;
  const folder = folderOf("ses_paths");
  before(async () => {
    workspace = await sandboxes.open("ses_paths");
    await writeFile(join(dataDir, "secret.txt"), "secret");
  });

  for (const path of [
    "../secret.txt",
    "a/../../secret.txt",
    "a\\..\\b",
    "/etc/passwd",
    "\\etc",
    "C:/x",
    "a\0b",
  ]) {
    it(`${JSON.stringify(path)} is refused for reading, writing, listing and as cwd`, async () => {
      await assert.rejects(workspace.readFile(path, 10), refused(/^path: must/));
      await assert.rejects(workspace.writeFile(path, bytes("x")), refused(/^path: must/));
      await assert.rejects(workspace.list(path, { recursive: false, limit: 5 }), refused(/^path: must/));
    });
  }

  it("a file is read back as it was written, in folders made for it", async () => {
    await workspace.writeFile("deep/er/note.txt", bytes("hello"));
    assert.equal(await readText(workspace, "./deep//er/note.txt"), "hello");
    assert.deepEqual(await workspace.list("", { recursive: true, limit: 10 }), [
      { path: "deep", type: "directory", sizeBytes: 0 },
      { path: "deep/er", type: "directory", sizeBytes: 0 },
      { path: "deep/er/note.txt", type: "file", sizeBytes: 5 },
    ]);
  });

  it("a link out of the workspace is not read, not listed, not written through", async () => {
    await symlink(join(dataDir, "secret.txt"), join(folder, "out.txt"));
    await symlink(dataDir, join(folder, "outside"));
    await assert.rejects(workspace.readFile("out.txt", 10), refused(/leads out/));
    await assert.rejects(workspace.readFile("outside/secret.txt", 10), refused(/leads out/));
    await assert.rejects(workspace.list("outside", { recursive: true, limit: 5 }), refused(/leads out/));
    await assert.rejects(workspace.writeFile("outside/new.txt", bytes("x")), refused(/is not a folder/));
    await assert.rejects(lstat(join(dataDir, "new.txt")));
    const listed = await workspace.list("", { recursive: true, limit: 100 });
    assert.ok(!listed.some((entry) => entry.path.startsWith("out")));
  });

  it("writing to a link replaces the link and leaves what it led to", async () => {
    await symlink(join(dataDir, "secret.txt"), join(folder, "replace.txt"));
    await workspace.writeFile("replace.txt", bytes("mine"));
    assert.equal(await readFile(join(dataDir, "secret.txt"), "utf8"), "secret");
    assert.equal(await readText(workspace, "replace.txt"), "mine");
  });

  it("a link inside the workspace is read", async () => {
    await workspace.writeFile("real.txt", bytes("real"));
    await symlink("real.txt", join(folder, "alias.txt"));
    assert.equal(await readText(workspace, "alias.txt"), "real");
  });

  it("a link exchanged again and again while it is read never shows what lies outside", async () => {
    const path = join(folder, "racy");
    await workspace.writeFile("inside/file.txt", bytes("inside"));
    await mkdir(join(dataDir, "elsewhere"), { recursive: true });
    await writeFile(join(dataDir, "elsewhere", "file.txt"), "secret");
    let racing = true;
    const race = (async () => {
      while (racing) {
        await rm(path, { force: true });
        await symlink(join(folder, "inside"), path);
        await rm(path, { force: true });
        await symlink(join(dataDir, "elsewhere"), path);
      }
    })();
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) seen.add(await readText(workspace, "racy/file.txt").catch(() => "refused"));
    racing = false;
    await race;
    assert.ok(!seen.has("secret"));
  });

  it("a missing file, a folder and a file as a folder are told apart", async () => {
    await assert.rejects(workspace.readFile("nowhere.txt", 10), refused(/nowhere.txt does not exist/));
    await assert.rejects(workspace.readFile("deep", 10), refused(/deep is a folder/));
    await assert.rejects(workspace.writeFile("deep", bytes("x")), refused(/deep is a folder/));
    await assert.rejects(workspace.writeFile("real.txt/x", bytes("x")), refused(/not a folder/));
    await assert.rejects(workspace.writeFile(".", bytes("x")), refused(/must name a file/));
  });

  it("at most the limit is read, and the whole size is told", async () => {
    await workspace.writeFile("long.txt", bytes("0123456789"));
    const { bytes: read, totalBytes } = await workspace.readFile("long.txt", 4);
    assert.equal(new TextDecoder().decode(read), "0123");
    assert.equal(totalBytes, 10);
  });

  it("a file over 10 MiB, and one over the quota, are refused", async () => {
    await assert.rejects(
      workspace.writeFile("big", new Uint8Array(10 * 1_048_576 + 1)),
      refused(/^content: must be at most 10485760 bytes/),
    );
    const small = await make("local", { workspaceBytesMax: 100_000 }, "/nowhere");
    const little = await small.open("ses_little");
    await little.writeFile("a", new Uint8Array(60_000));
    await assert.rejects(little.writeFile("b", new Uint8Array(60_000)), refused(/over its quota/));
  });

  it("no half-written file is left behind", async () => {
    assert.ok(!(await readdir(folder)).some((name) => name.endsWith(".tmp")));
  });
});

describe("commands", () => {
  itRuns("answer their output as it came, and their exit code", async (workspace) => {
    const result = await workspace.run("echo one; echo two >&2; echo three; exit 3", options());
    assert.equal(result.output, "one\ntwo\nthree\n");
    assert.equal(result.exitCode, 3);
    assert.equal(result.timedOut, false);
  });

  itRuns("read what write_file wrote, and write what read_file reads", async (workspace) => {
    await workspace.writeFile("in/a.txt", bytes("from the service"));
    const result = await workspace.run("cat a.txt && echo changed > a.txt && echo new > b.txt && mkdir c", {
      ...options(),
      cwd: "in",
    });
    assert.equal(result.output, "from the service");
    assert.equal(await readText(workspace, "in/a.txt"), "changed\n");
    assert.equal(await readText(workspace, "in/b.txt"), "new\n");
    await workspace.writeFile("in/c/d.txt", bytes("d"));
    assert.equal((await workspace.run("rm -r in && ls", options())).output, "");
  });

  itRuns("run without root, without capabilities, and cannot get them back", async (workspace) => {
    const { output } = await workspace.run(
      "id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status",
      options(),
    );
    assert.doesNotMatch(output, /^0$/m);
    assert.match(output, /CapEff:\s+0+$/m);
    assert.match(output, /CapBnd:\s+0+$/m);
    assert.match(output, /NoNewPrivs:\s+1$/m);
  });

  itRuns("see neither the host's environment nor its files nor its processes", async (workspace) => {
    process.env.HOST_CANARY = "canary-value";
    await writeFile(join(dataDir, "secret.txt"), "secret");
    const { output } = await workspace.run(
      `env; cat /proc/*/environ | tr '\\0' '\\n'; cat ${dataDir}/secret.txt; ls / /home /root; ls /etc; ls /proc | grep -c '^[0-9]'`,
      options(),
    );
    assert.doesNotMatch(output, /canary-value|^secret$|shadow|passwd/m);
    const processes = Number(output.trim().split("\n").at(-1));
    assert.ok(processes < 10, `${processes} processes seen`);
  });

  itRuns("cannot write outside the workspace and their own /tmp", async (workspace) => {
    const { output } = await workspace.run(
      "for path in /x /usr/x /etc/x /dev/x; do touch $path 2>/dev/null && echo wrote $path; done; touch /tmp/x && echo tmp",
      options(),
    );
    assert.equal(output, "tmp\n");
    assert.equal((await workspace.run("ls /tmp", options())).output, "");
  });

  itRuns("reach no network, this machine's loopback included", async (workspace) => {
    const reached: unknown[] = [];
    const server = createServer((socket) => reached.push(socket.end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { output } = await workspace.run(`exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached`, options());
    server.close();
    assert.doesNotMatch(output, /^reached/m);
    assert.equal(reached.length, 0);
  });

  itRuns("see no other session's workspace", async (workspace, sessionId) => {
    const other = await sandboxes.open("ses_other");
    await other.writeFile("private.txt", bytes("private"));
    const { output } = await workspace.run(
      "ls /workspace/.. /workspace; cat ../ses_other/private.txt",
      options(),
    );
    assert.doesNotMatch(output, /^private$/m);
    assert.ok((await stat(folderOf(sessionId))).isDirectory());
  });

  itRuns("cannot plant a link that leads the service out", async (workspace) => {
    await workspace.run("ln -s /etc/hostname name; ln -s / root; mkfifo pipe; ln -s name again", options());
    for (const path of ["name", "root/etc/hostname", "again"]) {
      await assert.rejects(workspace.readFile(path, 100), refused(/leads out|does not exist/));
    }
    await assert.rejects(workspace.readFile("pipe", 100), refused(/not a regular file/));
  });

  itRuns("end at their deadline with everything they started", async (workspace) => {
    const result = await workspace.run(
      "echo begun; (sleep 300 &) ; setsid sleep 300 & sleep 300",
      options(300),
    );
    assert.equal(result.timedOut, true);
    assert.equal(result.signal, "SIGKILL");
    assert.match(result.output, /begun\n\[ended at its deadline of 300 ms\]/);
    assert.ok(result.durationMs < 5_000);
  });

  itRuns("leave nothing running behind when they end", async (workspace) => {
    const result = await workspace.run("(sleep 0.2; touch late) & echo done", options());
    assert.equal(result.output, "done\n");
    assert.ok(result.durationMs < 5_000);
    assert.equal((await workspace.run("sleep 0.4; ls", options())).output, "");
  });

  itRuns("end when the service is killed", async (workspace, sessionId) => {
    const code = `
      import { createSandboxService } from ${JSON.stringify(import.meta.resolve("./create-sandbox-service.ts"))};
      const logger = { info() {}, warn() {} };
      const options = { kind: "local", dataDir: ${JSON.stringify(dataDir)}, onStartupStatus: async () => {}, logger };
      const workspace = await (await createSandboxService(options)).open(${JSON.stringify(sessionId)});
      const signal = new AbortController().signal;
      await workspace.run("echo > started; while true; do sleep 0.01; echo >> beats; done", { timeoutMs: 60000, signal });
    `;
    const service = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
    await untilStarted(workspace);
    service.kill("SIGKILL");
    await once(service, "exit");
    const beats = async () =>
      (await workspace.readFile("beats", 1).catch(() => ({ totalBytes: 0 }))).totalBytes;
    // A command that lived on would add a beat every few milliseconds.
    for (let before = -1, now = await beats(); before !== now; now = await beats()) {
      before = now;
      await setTimeout(100);
    }
  });

  itRuns("end when the turn is stopped", async (workspace) => {
    const controller = new AbortController();
    const run = workspace.run("echo > started; sleep 300", { timeoutMs: 20_000, signal: controller.signal });
    await untilStarted(workspace);
    controller.abort();
    assert.match((await run).output, /the turn was stopped/);
  });

  itRuns("keep the beginning and the end of a long output", async (workspace) => {
    const result = await workspace.run(
      "echo first; head -c 2000000 /dev/zero | tr '\\0' x; echo; echo last",
      options(),
    );
    assert.equal(result.truncated, true);
    assert.ok(result.output.length < 300_000);
    assert.match(result.output, /^first\n/);
    assert.match(result.output, /bytes left out/);
    assert.match(result.output, /last\n$/);
  });

  itRuns("end when they flood", async () => {
    const strict = await make("local", { floodBytesMax: 1_000_000 });
    const result = await (await strict.open("ses_flood")).run("yes", options());
    assert.match(result.output, /ended: more than 1000000 bytes of output/);
  });

  itRuns("are held to their memory, processes and file size", async () => {
    const strict = await make("local", {
      memoryBytesMax: 64 * 1_048_576,
      processesMax: 20,
      commandFileBytesMax: 1_048_576,
    });
    const workspace = await strict.open("ses_strict");
    const memory = await workspace.run(
      "x=$(head -c 200000000 /dev/zero | tr '\\0' x) && echo held",
      options(),
    );
    assert.doesNotMatch(memory.output, /held/);
    const many = await workspace.run(
      "for n in $(seq 50); do sleep 0.5 & done 2>/dev/null; jobs -p | wc -l",
      options(),
    );
    assert.doesNotMatch(many.output, /^50$/m);
    await workspace.run("head -c 3000000 /dev/zero > big", options());
    assert.equal((await workspace.readFile("big", 1)).totalBytes, 1_048_576);
  });

  itRuns("end when they fill the workspace past its quota, and can then remove files", async () => {
    const tight = await make("local", { workspaceBytesMax: 5_000_000, measureEveryMs: 50 });
    const workspace = await tight.open("ses_tight");
    const filled = await workspace.run(
      "n=0; while true; do n=$((n+1)); head -c 100000 /dev/urandom > f$n; done",
      options(),
    );
    assert.match(filled.output, /over its quota/);
    await assert.rejects(workspace.writeFile("a", bytes("a")), refused(/over its quota/));
    const removed = await workspace.run("sleep 0.3; rm f*; echo free", options());
    assert.equal(removed.output, "free\n");
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("are refused in a folder that does not exist or leads out", async (workspace) => {
    await assert.rejects(workspace.run("pwd", { ...options(), cwd: "nowhere" }), refused(/does not exist/));
    await assert.rejects(workspace.run("pwd", { ...options(), cwd: "../x" }), refused(/must not contain/));
  });

  itRuns(
    "end, and their folder goes, when the session's workspace is removed",
    async (workspace, sessionId) => {
      await workspace.run("mkdir shut && touch shut/x && chmod 0 shut", options());
      const run = workspace.run("echo > started; sleep 300", options());
      await untilStarted(workspace);
      await sandboxes.remove(sessionId);
      assert.match((await run).output, /ended/);
      await assert.rejects(lstat(folderOf(sessionId)));
    },
  );
});
