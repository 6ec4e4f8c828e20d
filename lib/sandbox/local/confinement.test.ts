import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe } from "node:test";
import { setTimeout } from "node:timers/promises";
import { bytes, makeSandboxFixture, options, readText, refused, untilStarted } from "../sandbox-fixture.ts";

const { dataDir, make, sandboxes, folderOf, itRuns, remove } = await makeSandboxFixture();
after(remove);

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
      import { createSandboxService } from ${JSON.stringify(import.meta.resolve("../create-sandbox-service.ts"))};
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

  itRuns("end when files that have no name any more take them past the quota", async () => {
    const tight = await make("local", { workspaceBytesMax: 5_000_000, measureEveryMs: 50 });
    const workspace = await tight.open("ses_unlinked");
    for (const hold of [
      "exec 3>f; rm f; while true; do head -c 100000 /dev/zero >&3; done",
      // A file in /tmp is memory of a size of its own, and no business of the workspace's quota.
      "exec 4>/tmp/f; rm /tmp/f; head -c 6000000 /dev/zero >&4; exec 3>f; rm f; while true; do head -c 100000 /dev/zero >&3; done",
      // Half of it keeps its name.
      "head -c 4000000 /dev/zero > kept; exec 3>f; rm f; while true; do head -c 100000 /dev/zero >&3; done",
    ]) {
      const result = await workspace.run(hold, options(60_000));
      assert.match(result.output, /\[ended: the workspace is over its quota of 5000000 bytes/);
      assert.equal((await workspace.run("rm -f kept; ls", options())).output, "");
    }
    await workspace.run("exec 4>/tmp/f; rm /tmp/f; head -c 6000000 /dev/zero >&4; sleep 1", options());
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("end when they make more files than a workspace may have, and can then remove them", async () => {
    const few = await make("local", { workspaceEntriesMax: 5_000, measureEveryMs: 50 });
    const workspace = await few.open("ses_files");
    const made = await workspace.run(
      "for n in $(seq 100); do mkdir d$n; (cd d$n; seq 2000 | xargs touch); done; sleep 300",
      options(240_000),
    );
    assert.match(made.output, /\[ended: the workspace is over its quota of 5000 files and folders/);
    await assert.rejects(workspace.writeFile("a", bytes("a")), refused(/over its quota of 5000 files/));
    assert.equal((await workspace.run("rm -r d*; ls", options(240_000))).output, "");
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("end when they write without end, whatever they remove", async () => {
    const tight = await make("local", { commandWriteBytesMax: 20_000_000 });
    const workspace = await tight.open("ses_writes");
    const result = await workspace.run("while true; do head -c 1000000 /dev/zero > f; done", options(60_000));
    assert.match(result.output, /\[ended: the command wrote more than 19 MiB to disk\]/);
  });

  itRuns("that exceed the quota in the moment before they end are told so", async () => {
    const tight = await make("local", { workspaceBytesMax: 5_000_000, measureEveryMs: 600_000 });
    const workspace = await tight.open("ses_quick");
    const result = await workspace.run("head -c 6000000 /dev/zero > f", options());
    assert.equal(result.exitCode, 0);
    assert.match(result.output, /\[the workspace is over its quota of 5000000 bytes; remove files\]/);
    assert.equal((await workspace.run("rm f", options())).output, "");
  });

  itRuns(
    "end when their processes use too much memory together, and the workspace can still be used",
    async () => {
      const tight = await make("local", { commandMemoryBytesMax: 200 * 1_048_576 });
      const workspace = await tight.open("ses_hogs");
      // Input without a line break stays in the memory of `tail`.
      const hog = "(head -c 60000000 /dev/zero; sleep 300) | tail &";
      const result = await workspace.run(`for n in 1 2 3 4 5; do ${hog} done; wait`, options(120_000));
      assert.match(
        result.output,
        /\[ended: the processes of the command used more than 200 MiB of memory together\]/,
      );
      assert.equal((await workspace.run("echo on", options())).output, "on\n");
    },
  );

  itRuns("end when files in memory that have no name take too much of it", async () => {
    const tight = await make("local", { commandMemoryBytesMax: 200 * 1_048_576 });
    const workspace = await tight.open("ses_memfd");
    const script =
      "import os, time; f = os.memfd_create('f'); [os.write(f, b'x' * 1048576) for n in range(250)]; print('held'); time.sleep(300)";
    const has = await workspace.run("command -v python3", options());
    if (has.exitCode !== 0) return;
    const result = await workspace.run(`python3 -c "${script}"`, options(60_000));
    assert.match(result.output, /\[ended: the processes of the command used more than 200 MiB of memory/);
  });

  itRuns("share memory with their children at no cost", async () => {
    const tight = await make("local", { commandMemoryBytesMax: 200 * 1_048_576 });
    const workspace = await tight.open("ses_shared");
    const result = await workspace.run(
      "x=$(head -c 60000000 /dev/zero | tr '\\0' x); for n in 1 2 3 4 5; do (sleep 1) & done; wait; echo fine",
      options(120_000),
    );
    assert.equal(result.output, "fine\n");
  });

  itRuns("are described with the limits that hold, and how", async () => {
    assert.match(
      sandboxes.describe().detail,
      /enforced by the kernel: 1024 MiB of memory a process, 256 processes, .*; measured while a command runs: 2048 MiB of memory and 4096 MiB of writes a command, 512 MiB and 50000 files of workspace, removed files/,
    );
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
