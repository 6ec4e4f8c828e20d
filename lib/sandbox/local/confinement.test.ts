import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, lstat, open, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";
import { after, describe } from "node:test";
import { setTimeout } from "node:timers/promises";
import { closeInheritedDescriptors } from "#lib/isolation/inherited-descriptors.ts";
import { LOW_PRIORITY } from "#lib/isolation/low-priority.ts";
import { bytes, makeSandboxFixture, options, readText, refused, untilStarted } from "../sandbox-fixture.ts";

const { dataDir, make, sandboxes, folderOf, itRuns, remove } = await makeSandboxFixture();
after(remove);

// The service does the same when it starts.
closeInheritedDescriptors();
const isFiltered = /system calls filtered: yes/.test(sandboxes.describe().isolation);

/** System calls: name, numbers (x64, arm64), arguments, and the expected result. Most are forbidden to commands. */
const CALLS: [name: string, x64: number, arm64: number, args: string, result: string][] = [
  ["getpid", 39, 172, "", "allowed"],
  ["keyctl", 250, 219, "0, -3, 0", "EPERM"],
  ["add_key", 248, 217, "0, 0, 0, 0, -3", "EPERM"],
  ["ptrace", 101, 117, "0, 0, 0, 0", "EPERM"],
  ["process_vm_readv", 310, 270, "1, 0, 0, 0, 0, 0", "EPERM"],
  ["bpf", 321, 280, "0, 0, 0", "EPERM"],
  ["userfaultfd", 323, 282, "1", "EPERM"],
  ["perf_event_open", 298, 241, "0, 0, -1, -1, 0", "EPERM"],
  ["unshare", 272, 97, "0x10000000", "EPERM"],
  ["setns", 308, 268, "0, 0", "EPERM"],
  ["mount", 165, 40, "0, 0, 0, 0, 0", "EPERM"],
  ["fsopen", 430, 430, "0, 0", "EPERM"],
  ["finit_module", 313, 273, "0, 0, 0", "EPERM"],
  ["kexec_load", 246, 104, "0, 0, 0, 0", "EPERM"],
  ["open_by_handle_at", 304, 265, "0, 0, 0", "EPERM"],
  ["clone with a user namespace", 56, 220, "0x10000011, 0, 0, 0, 0", "EPERM"],
  ["clone3", 435, 435, "0, 0", "ENOSYS"],
  ["io_uring_setup", 425, 425, "1, 0", "ENOSYS"],
  ["memfd_secret", 447, 447, "0", "ENOSYS"],
  ["fallocate, which reserves space without writing", 285, 47, "1, 0, 0, 1048576", "EOPNOTSUPP"],
  ["a request that does the same", 16, 29, "1, 0x40305828, 0", "EPERM"],
  ["a vsock, which network namespaces do not isolate", 41, 198, "40, 1, 0", "EAFNOSUPPORT"],
  ["the kernel's ciphers", 41, 198, "38, 5, 0", "EAFNOSUPPORT"],
  ["an IPv4 socket", 41, 198, "2, 1, 0", "allowed"],
  ["shared memory that is not measured", 29, 194, "0, 100000000, 0x3ff", "EPERM"],
  ["a call of x32", 0x40000000 + 39, 0x40000000 + 172, "", "ENOSYS"],
];
const EXPECTED_RESULTS = CALLS.map(([name, , , , result]) => `${name}: ${result}`);
/** A Perl script that makes each call and prints its result. */
const SYSTEM_CALLS = [
  "use Errno; $| = 1;",
  ...CALLS.map(([name, x64, arm64, args]) => {
    const call = [process.arch === "x64" ? x64 : arm64, args].filter((each) => each !== "").join(", ");
    const print = String.raw`my @names = grep { $!{$_} } qw(EPERM ENOSYS EAFNOSUPPORT EOPNOTSUPP); print "${name.replace("'", String.raw`\x27`)}: ", ($got == -1 ? ($names[0] // "error $!") : "allowed"), "\n";`;
    return `{ my $got = syscall(${call}); ${print} }`;
  }),
]
  .join(" ")
  .replaceAll("kernel's", String.raw`kernel\x27s`);

/**
 * A program for x64 that gets its process id through `int 0x80`, a call of 32-bit x86. It returns the id as its exit
 * code.
 */
const CALL_OF_I386 = Buffer.concat([
  // Header of an ELF file with one segment, at 0x400000.
  Buffer.from("7f454c46020101000000000000000000", "hex"),
  Buffer.from("02003e00010000007800400000000000", "hex"),
  Buffer.from("40000000000000000000000000000000", "hex"),
  Buffer.from("00000000400038000100000000000000", "hex"),
  Buffer.from("0100000005000000000000000000000000004000000000000000400000000000", "hex"),
  Buffer.from("8d000000000000008d000000000000000010000000000000", "hex"),
  // mov eax, 20; int 0x80; mov edi, eax; mov eax, 60; syscall
  Buffer.from("b814000000cd8089c7b83c0000000f05", "hex"),
  Buffer.alloc(5),
]);

describe("commands", () => {
  itRuns("return their output in order, and their exit code", async (workspace) => {
    const result = await workspace.run("echo one; echo two >&2; echo three; exit 3", options());
    assert.equal(result.output, "one\ntwo\nthree\n");
    assert.equal(result.exitCode, 3);
    assert.equal(result.timedOut, false);
  });

  itRuns("share files with writeFile and readFile", async (workspace) => {
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

  itRuns("cannot see the host's environment, files or processes", async (workspace) => {
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

  itRuns("see no path of the machine in the arguments of any process", async () => {
    // The folder can be reached by the command's user, so it is not mounted at another place first.
    await chmod(dataDir, 0o711);
    const service = await make("local");
    const workspace = await service.open("ses_arguments");
    const { output } = await workspace.run(
      "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n'; readlink /proc/[0-9]*/cwd /proc/[0-9]*/root",
      options(),
    );
    await service.close();
    await chmod(dataDir, 0o700);
    assert.match(output, /^bwrap$/m);
    assert.ok(!output.includes(dataDir) && !output.includes("ses_arguments"), output);
  });

  itRuns("have a lower priority than the service", async (workspace) => {
    const { output } = await workspace.run("nice; cat /proc/self/autogroup", options());
    const [niceness, autogroup = ""] = output.trim().split("\n");
    assert.equal(niceness, String(getPriority() + LOW_PRIORITY));
    // A kernel without autogroups has no such file.
    if (!/No such file/.test(autogroup)) assert.match(autogroup, new RegExp(`nice ${LOW_PRIORITY}$`));
  });

  itRuns("cannot write outside the workspace and their own /tmp", async (workspace) => {
    const { output } = await workspace.run(
      "for path in /x /usr/x /etc/x /dev/x; do touch $path 2>/dev/null && echo wrote $path; done; touch /tmp/x && echo tmp",
      options(),
    );
    assert.equal(output, "tmp\n");
    assert.equal((await workspace.run("ls /tmp", options())).output, "");
  });

  itRuns("reach no network, not even this machine's loopback", async (workspace) => {
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

  itRuns("cannot see the workspace of another session", async (workspace, sessionId) => {
    const other = await sandboxes.open("ses_other");
    await other.writeFile("private.txt", bytes("private"));
    const { output } = await workspace.run(
      "ls /workspace/.. /workspace; cat ../ses_other/private.txt",
      options(),
    );
    assert.doesNotMatch(output, /^private$/m);
    assert.ok((await stat(folderOf(sessionId))).isDirectory());
  });

  itRuns("cannot create a link that leads the service out of the workspace", async (workspace) => {
    await workspace.run("ln -s /etc/hostname name; ln -s / root; mkfifo pipe; ln -s name again", options());
    for (const path of ["name", "root/etc/hostname", "again"]) {
      await assert.rejects(workspace.readFile(path, 100), refused(/leads out|does not exist/));
    }
    await assert.rejects(workspace.readFile("pipe", 100), refused(/not a regular file/));
  });

  itRuns("are killed at their deadline with all processes that they started", async (workspace) => {
    const result = await workspace.run(
      "echo begun; (sleep 300 &) ; setsid sleep 300 & sleep 300",
      options(3_000),
    );
    assert.equal(result.timedOut, true);
    assert.equal(result.signal, "SIGKILL");
    assert.match(result.output, /begun\n\[ended at its deadline of 3000 ms\]/);
  });

  itRuns("leave no process running when they end", async (workspace) => {
    const result = await workspace.run("(sleep 0.2; touch late) & echo done", options());
    assert.equal(result.output, "done\n");
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
    // A surviving command would add a beat every few milliseconds.
    for (let before = -1, now = await beats(); before !== now; now = await beats()) {
      before = now;
      await setTimeout(100);
    }
  });

  itRuns("end when the turn is stopped", async (workspace) => {
    const controller = new AbortController();
    const run = workspace.run("echo > started; sleep 300", { timeoutMs: 60_000, signal: controller.signal });
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

  itRuns("are killed when they flood", async () => {
    const strict = await make("local", { floodBytesMax: 1_000_000 });
    const result = await (await strict.open("ses_flood")).run("yes", options());
    assert.match(result.output, /ended: more than 1000000 bytes of output/);
  });

  itRuns("cannot exceed their limits of memory, processes and file size", async () => {
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

  itRuns("are killed when they exceed the workspace's quota, and can then remove files", async () => {
    const tight = await make("local", { workspaceBytesMax: 5_000_000, measureEveryMs: 50 });
    const workspace = await tight.open("ses_tight");
    const filled = await workspace.run(
      "n=0; while true; do n=$((n+1)); head -c 100000 /dev/urandom > f$n; done",
      options(),
    );
    assert.match(filled.output, /over its quota/);
    await assert.rejects(workspace.writeFile("a", bytes("a")), refused(/over its quota/));
    const removed = await workspace.run("sleep 0.3; rm f*; echo free", options());
    assert.match(
      removed.output,
      /^free\n\[this command could only remove files, .*; it is within its quota again\]$/,
    );
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("are killed when deleted files that are still open exceed the quota", async () => {
    const tight = await make("local", { workspaceBytesMax: 5_000_000, measureEveryMs: 50 });
    const workspace = await tight.open("ses_unlinked");
    for (const hold of [
      "exec 3>f; rm f; while true; do head -c 100000 /dev/zero >&3; done",
      // A file in /tmp is in memory and has its own limit. It does not count towards the workspace's quota.
      "exec 4>/tmp/f; rm /tmp/f; head -c 6000000 /dev/zero >&4; exec 3>f; rm f; while true; do head -c 100000 /dev/zero >&3; done",
      // Half of the bytes are in a file that still has its name.
      "head -c 4000000 /dev/zero > kept; exec 3>f; rm f; while true; do head -c 100000 /dev/zero >&3; done",
    ]) {
      const result = await workspace.run(hold, options(60_000));
      assert.match(result.output, /\[ended: the workspace is over its quota of 5000000 bytes/);
      assert.equal((await workspace.run("rm -f kept; ls", options())).output, "");
    }
    await workspace.run("exec 4>/tmp/f; rm /tmp/f; head -c 6000000 /dev/zero >&4; sleep 1", options());
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("are killed when they create too many files, and can then remove them", async () => {
    const few = await make("local", { workspaceEntriesMax: 5_000, measureEveryMs: 50 });
    const workspace = await few.open("ses_files");
    const created = await workspace.run(
      "for n in $(seq 100); do mkdir d$n; (cd d$n; seq 2000 | xargs touch); done; sleep 300",
      options(240_000),
    );
    assert.match(created.output, /\[ended: the workspace is over its quota of 5000 files and folders/);
    await assert.rejects(workspace.writeFile("a", bytes("a")), refused(/over its quota of 5000 files/));
    assert.match(
      (await workspace.run("rm -r d*; ls", options(240_000))).output,
      /^\[this command could only remove files, .*; it is within its quota again\]$/,
    );
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("are killed when they write too much, even if they remove it", async () => {
    const tight = await make("local", { commandWriteBytesMax: 20_000_000 });
    const workspace = await tight.open("ses_writes");
    const result = await workspace.run("while true; do head -c 1000000 /dev/zero > f; done", options(60_000));
    assert.match(result.output, /\[ended: the command wrote more than 19 MiB to disk\]/);
  });

  itRuns("have 64 MiB in /tmp, and as much in /dev/shm", async (workspace) => {
    for (const folder of ["/tmp", "/dev/shm"]) {
      const script = `head -c 80000000 /dev/zero > ${folder}/f; echo $?; stat -c %s ${folder}/f; rm ${folder}/f`;
      const { output } = await workspace.run(script, options());
      assert.match(output, /No space left on device/);
      assert.match(output, /^1\n67108864$/m, folder);
    }
  });

  itRuns("get a note if they exceeded the quota just before they ended", async () => {
    const tight = await make("local", {
      workspaceBytesMax: 5_000_000,
      measureEveryMs: 600_000,
      watchEveryMs: 600_000,
    });
    const workspace = await tight.open("ses_quick");
    const result = await workspace.run("head -c 6000000 /dev/zero > f", options());
    assert.equal(result.exitCode, 0);
    assert.match(result.output, /\[the workspace is over its quota of 5000000 bytes; remove files: .*\]/);
    assert.match((await workspace.run("rm f", options())).output, /it is within its quota again/);
  });

  itRuns(
    "are killed when their processes together use too much memory, and the workspace remains usable",
    async () => {
      const tight = await make("local", { commandMemoryBytesMax: 200 * 1_048_576 });
      const workspace = await tight.open("ses_hogs");
      // `tail` keeps input without a line break in memory.
      const hog = "(head -c 60000000 /dev/zero; sleep 300) | tail &";
      const result = await workspace.run(`for n in 1 2 3 4 5; do ${hog} done; wait`, options(120_000));
      assert.match(
        result.output,
        /\[ended: the processes of the command used more than 200 MiB of memory together\]/,
      );
      assert.equal((await workspace.run("echo on", options())).output, "on\n");
    },
  );

  itRuns("are killed when unnamed files in memory take too much of it", async () => {
    const tight = await make("local", { commandMemoryBytesMax: 200 * 1_048_576 });
    const workspace = await tight.open("ses_memfd");
    const script =
      "import os, time; f = os.memfd_create('f'); [os.write(f, b'x' * 1048576) for n in range(250)]; print('held'); time.sleep(300)";
    const python = await workspace.run("command -v python3", options());
    if (python.exitCode !== 0) return;
    const result = await workspace.run(`python3 -c "${script}"`, options(60_000));
    assert.match(result.output, /\[ended: the processes of the command used more than 200 MiB of memory/);
  });

  itRuns("are charged only once for memory that they share with their children", async () => {
    const tight = await make("local", { commandMemoryBytesMax: 200 * 1_048_576 });
    const workspace = await tight.open("ses_shared");
    const result = await workspace.run(
      "x=$(head -c 60000000 /dev/zero | tr '\\0' x); for n in 1 2 3 4 5; do (sleep 1) & done; wait; echo fine",
      options(120_000),
    );
    assert.equal(result.output, "fine\n");
  });

  itRuns("cannot make system calls that expose the kernel or other processes", async (workspace) => {
    if (!isFiltered) return;
    // Perl is part of the base system, and can make system calls by number.
    const { output } = await workspace.run(
      `perl -e '${SYSTEM_CALLS}' && grep Seccomp: /proc/self/status`,
      options(),
    );
    assert.deepEqual(output.trim().split("\n"), [...EXPECTED_RESULTS, "Seccomp:\t2"]);
  });

  itRuns("are killed when they make a system call of 32-bit x86", async (workspace) => {
    if (!isFiltered || process.arch !== "x64") return;
    await workspace.writeFile("call32", CALL_OF_I386);
    const result = await workspace.run("chmod +x call32; ./call32; echo $?", options());
    // 159 is the exit code after SIGSYS, 139 that after SIGSEGV, by which a kernel without calls of 32-bit x86 ends the
    // program. If the call were allowed, the exit code would be a process id.
    assert.match(result.output, /^(bash: .*(Bad system call|Segmentation fault).*\n)?(159|139)\n$/);
  });

  itRuns("cannot create namespaces, with or without the filter", async (workspace) => {
    const tries = ["--user", "--user --net", "--user --mount", "--pid --fork", "--mount"];
    const { output } = await workspace.run(
      tries.map((each) => `unshare ${each} echo made 2>&1`).join("; "),
      options(),
    );
    assert.doesNotMatch(output, /^made$/m);
    assert.match(output, /unshare failed/);
  });

  itRuns("inherit no file descriptor of the service", async (workspace) => {
    const held = await open(join(dataDir, "held"), "w");
    const { output } = await workspace.run("readlink /proc/$$/fd/*; true", options());
    await held.close();
    const [input = "", standard = "", error = "", ...rest] = output.trim().split("\n");
    assert.deepEqual([input, rest], ["/dev/null", []]);
    assert.match(standard, /^(socket|pipe):/);
    assert.equal(error, standard);
  });

  itRuns("run as a user that no other session and no account has", async () => {
    if (process.getuid?.() !== 0) return;
    const read = async (service: typeof sandboxes, sessionId: string) => {
      const workspace = await service.open(sessionId);
      return Number((await workspace.run("id -u; touch mine", options())).output.trim());
    };
    const service = await make("local");
    const [own, others] = [await read(service, "ses_own"), await read(service, "ses_others")];
    assert.notEqual(own, others);
    assert.equal((await stat(folderOf("ses_own"))).uid, own);
    assert.equal((await stat(join(folderOf("ses_own"), "mine"))).uid, own);
    const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":")[2]);
    assert.ok(!accounts.includes(String(own)));
    await service.close();
    // The session keeps its user after a restart of the service.
    const again = await make("local");
    assert.equal(await read(again, "ses_own"), own);
    // A session whose folder was removed gets another user.
    await again.remove("ses_own");
    assert.notEqual(await read(again, "ses_own"), own);
    await again.close();
  });

  itRuns("can use files that an earlier version of the service gave to another user", async () => {
    if (process.getuid?.() !== 0) return;
    const service = await make("local");
    const workspace = await service.open("ses_older");
    await workspace.run("mkdir -p a/b && echo old > a/b/file && ln -s /etc/hostname link", options());
    await service.close();
    for (const path of [".", "a", "a/b", "a/b/file"])
      await chown(join(folderOf("ses_older"), path), 65_533, 65_533);
    const later = await make("local");
    const reopened = await later.open("ses_older");
    assert.equal((await reopened.run("echo new >> a/b/file; cat a/b/file", options())).output, "old\nnew\n");
    assert.equal((await stat("/etc/hostname")).uid, 0);
    await later.close();
  });

  itRuns("are described with their limits and how these are enforced", async () => {
    assert.match(
      sandboxes.describe().detail,
      /enforced by the kernel: 1024 MiB of memory a process, 256 processes, .*; measured while a command runs: 2048 MiB of memory and 4096 MiB of writes a command, 512 MiB and 50000 files of workspace, removed files/,
    );
  });

  itRuns("are refused in a folder that does not exist or is outside of the workspace", async (workspace) => {
    await assert.rejects(workspace.run("pwd", { ...options(), cwd: "nowhere" }), refused(/does not exist/));
    await assert.rejects(workspace.run("pwd", { ...options(), cwd: "../x" }), refused(/must not contain/));
  });

  itRuns(
    "are killed when the session's workspace is removed with its folder",
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
