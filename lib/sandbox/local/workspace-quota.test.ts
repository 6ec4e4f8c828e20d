import assert from "node:assert/strict";
import { link, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createDiskFloor } from "#lib/disk/disk-floor.ts";
import { joinBytes } from "#lib/disk/file-name.ts";
import { bytes, makeSandboxFixture, options, refused, untilStarted } from "../sandbox-fixture.ts";
import { measureFolder } from "./walk-folder.ts";

const { dataDir, make, itRuns, remove } = await makeSandboxFixture();
after(remove);

const MEBIBYTE = 1_048_576;
const WITHOUT_LIMITS = { bytesMax: Number.POSITIVE_INFINITY, entriesMax: Number.POSITIVE_INFINITY };

describe("the size of a workspace", () => {
  it("has files and folders whose names are not UTF-8, long links, and the whole size of sparse files", async () => {
    const folder = join(dataDir, "measured");
    await mkdir(folder);
    const measure = () => measureFolder(folder, WITHOUT_LIMITS);
    const grown = async (change: () => Promise<unknown>) => {
      const before = await measure();
      await change();
      const { bytes: size, entries } = await measure();
      return { bytes: size - before.bytes, entries: entries - before.entries };
    };
    const inner = joinBytes(folder, Buffer.from([0xff]));
    assert.equal((await grown(() => mkdir(inner))).entries, 1);
    const hidden = await grown(() =>
      writeFile(joinBytes(inner, Buffer.from([0x61, 0xfe])), Buffer.alloc(MEBIBYTE)),
    );
    assert.equal(hidden.entries, 1);
    assert.ok(hidden.bytes >= MEBIBYTE);
    const links = await grown(() => symlink("x".repeat(4_000), join(folder, "link")));
    assert.equal(links.entries, 1);
    assert.ok(links.bytes > 0);
    const sparse = await grown(async () => {
      await writeFile(join(folder, "sparse"), "");
      await truncate(join(folder, "sparse"), 10 * MEBIBYTE);
    });
    assert.ok(sparse.bytes >= 10 * MEBIBYTE);
  });

  it("has the content of a file with several names once", async () => {
    const folder = join(dataDir, "linked");
    await mkdir(folder);
    await writeFile(join(folder, "file"), Buffer.alloc(MEBIBYTE));
    for (let nth = 0; nth < 20; nth++) await link(join(folder, "file"), join(folder, `name-${nth}`));
    const { bytes: size, entries } = await measureFolder(folder, WITHOUT_LIMITS);
    assert.equal(entries, 21);
    assert.ok(size > MEBIBYTE && size < 2 * MEBIBYTE, `${size} bytes`);
  });
});

describe("a workspace with a folder that cannot be measured", () => {
  itRuns("says so, instead of naming the quota of bytes", async (workspace) => {
    const name = "d".repeat(200);
    const made = await workspace.run(
      `mkdir top && cd top && for n in $(seq 30); do mkdir ${name} && cd ${name}; done`,
      options(),
    );
    assert.match(made.output, /has a folder that cannot be measured \(its path is too long/);
    assert.doesNotMatch(made.output, /over its quota of \d+ bytes/);
    await assert.rejects(
      workspace.writeFile("file", bytes("x")),
      refused(/a folder that cannot be measured/),
    );
    assert.match((await workspace.run("rm -r top", options())).output, /it is within its quota again/);
    await workspace.writeFile("file", bytes("x"));
  });
});

describe("a workspace over its quota", () => {
  /** Opens a workspace of 8 MiB that is not measured while a command runs. */
  const openTight = async (sessionId: string, limits = {}) =>
    (await make("local", { workspaceBytesMax: 8 * MEBIBYTE, measureEveryMs: 600_000, ...limits })).open(
      sessionId,
    );

  for (const [how, command] of [
    ["reserves space", "for n in $(seq 12); do fallocate -l 1M f$n || head -c 1M /dev/zero > f$n; done"],
    ["makes sparse files", "for n in $(seq 12); do truncate -s 1M f$n; done"],
    ["uses names that are not UTF-8", "for n in $(seq 12); do head -c 1M /dev/zero > $'f\\xff'$n; done"],
    [
      "hides files in a folder whose name is not UTF-8",
      "mkdir $'\\xfe'; ln -s $'\\xfe/f1' f1; for n in $(seq 12); do head -c 1M /dev/zero > $'\\xfe'/f$n; done",
    ],
  ] as const)
    itRuns(`can only shrink, whether a command ${how}`, async () => {
      const workspace = await openTight(
        `ses_${how
          .toLowerCase()
          .replaceAll(/[^a-z]/g, "")
          .slice(0, 20)}`,
      );
      assert.match(
        (await workspace.run(command, options())).output,
        /over its quota of 8388608 bytes; remove files/,
      );
      await assert.rejects(workspace.writeFile("a", bytes("a")), refused(/over its quota/));
      const program = {
        runtime: "bash",
        files: [{ path: "s", bytes: bytes("echo ran") }],
        script: "s",
        args: [],
      } as const;
      await assert.rejects(workspace.runProgram(program, options()), refused(/over its quota/));
      const written = await workspace.run(
        "for f in f*; do echo more >> $f; head -c 9000 /dev/zero >> $f; done; echo on",
        options(),
      );
      assert.match(written.output, /File too large/);
      assert.match(
        written.output,
        /^on\n\[this command could only remove files, .*; it still is: remove more\]$/m,
      );
      const removed = await workspace.run("rm -r f* $'\\xfe' 2>/dev/null; ls | wc -l", options());
      assert.match(removed.output, /it is within its quota again\]$/);
      await workspace.writeFile("a", bytes("a"));
      assert.equal((await workspace.run("echo b > b; cat b", options())).output, "b\n");
    });

  itRuns("cannot grow by the number of its files either", async () => {
    const workspace = await openTight("ses_entries", { workspaceEntriesMax: 50 });
    await workspace.run("for n in $(seq 60); do ln -s $n l$n; done", options());
    const more = await workspace.run("n=0; while true; do n=$((n+1)); mkfifo p$n; done", options());
    assert.match(more.output, /\[ended: the workspace is over its quota of 50 files and folders/);
    await workspace.run("rm l* p*", options());
    await workspace.writeFile("a", bytes("a"));
  });

  itRuns("is measured at once when a command writes more than it may still hold", async () => {
    const workspace = await openTight("ses_fast");
    const result = await workspace.run("head -c 100M /dev/zero > f; sleep 300", options(60_000));
    assert.match(result.output, /\[ended: the workspace is over its quota/);
  });

  itRuns("shows names that are not UTF-8, and reads and replaces such files", async () => {
    const workspace = await openTight("ses_names");
    await workspace.run(
      "mkdir $'d\\xff' && echo inner > $'d\\xff/f\\xfe' && echo new > $'line\\nbreak'",
      options(),
    );
    const listed = await workspace.list("", { recursive: true, limit: 10 });
    assert.deepEqual(
      listed.map(({ path }) => path),
      ["d\\xff", "line\\x0abreak", "d\\xff/f\\xfe"],
    );
    const { bytes: read } = await workspace.readFile("d\\xff/f\\xfe", 100);
    assert.equal(Buffer.from(read).toString(), "inner\n");
    await workspace.writeFile("d\\xff/f\\xfe", bytes("replaced"));
    const { output } = await workspace.run("cat $'f\\xfe'; ls | wc -l", { ...options(), cwd: "d\\xff" });
    assert.equal(output, "replaced1\n");
  });
});

describe("a disk with too little free space", () => {
  const openOn = async (freeBytesMin: number, sessionId: string) =>
    (await make("local", {}, { disk: createDiskFloor(dataDir, freeBytesMin) })).open(sessionId);
  const full = refused(/^the service's disk has \d+ MiB free, and \d+ MiB must stay free/);

  itRuns("refuses writes, commands and programs, and can still be read", async () => {
    await (await openOn(0, "ses_full")).writeFile("kept", bytes("kept"));
    const workspace = await openOn(2 ** 60, "ses_full");
    await assert.rejects(workspace.writeFile("a", bytes("a")), full);
    await assert.rejects(workspace.run("echo a", options()), full);
    const program = {
      runtime: "bash",
      files: [{ path: "s", bytes: bytes("") }],
      script: "s",
      args: [],
    } as const;
    await assert.rejects(workspace.runProgram(program, options()), full);
    assert.equal((await workspace.readFile("kept", 10)).totalBytes, 4);
    assert.deepEqual(
      (await workspace.list("", { recursive: true, limit: 5 })).map(({ path }) => path),
      ["kept"],
    );
  });

  itRuns("ends a running command", async () => {
    let freeBytesMin = 0;
    const disk = {
      findProblem: (size?: number) => createDiskFloor(dataDir, freeBytesMin).findProblem(size),
      check: async () => {},
    };
    const workspace = await (await make("local", { measureEveryMs: 20 }, { disk })).open("ses_filling");
    const running = workspace.run("echo > started; sleep 300", options(60_000));
    await untilStarted(workspace);
    freeBytesMin = 2 ** 60;
    assert.match((await running).output, /\[ended: the service's disk has \d+ MiB free/);
    freeBytesMin = 0;
    assert.equal((await workspace.run("ls", options())).output, "started\n");
  });
});
