import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { programSuite } from "../program-suite-testing.ts";
import type { BoxCommand, VercelBox, VercelBoxes } from "./vercel-box.ts";
import { createVercelSandboxes } from "./vercel-sandboxes.ts";

// The boxes in these tests are folders of this machine. The shell scripts really run, but Vercel's API is replaced.

const box: VercelBox = {
  async runCommand({ cmd, args }): Promise<BoxCommand> {
    const child = spawn(cmd, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    const ended = once(child, "close").then(([code]) => ({ exitCode: (code as number | null) ?? 137 }));
    return {
      async *logs() {
        for await (const chunk of child.stdout) yield { data: String(chunk) };
        for await (const chunk of child.stderr) yield { data: String(chunk) };
      },
      wait: () => ended,
      kill: async () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"),
    };
  },
  readFileToBuffer: ({ path }) => readFile(path).catch(() => null),
  async writeFiles(files) {
    for (const { path, content } of files) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
  },
};

async function openSandboxes(t: TestContext, open: VercelBoxes["open"] = async () => box) {
  const root = await mkdtemp(join(tmpdir(), "boxes-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  const statuses: string[] = [];
  const removed: string[] = [];
  const sandboxes = createVercelSandboxes({
    boxes: { open, remove: async (sessionId) => void removed.push(sessionId) },
    limits: { writeBytesMax: 1_000, outputBytesMax: 200, floodBytesMax: 10_000 },
    onStartupStatus: async (_, status) => void statuses.push(status),
    root,
  });
  return { sandboxes, statuses, removed };
}
const text = (value: string) => new TextEncoder().encode(value);
const options = { timeoutMs: 10_000, signal: new AbortController().signal };

test("files are written, listed and read, and a large one is cut at the limit", async (t) => {
  const { sandboxes, statuses } = await openSandboxes(t);
  const workspace = await sandboxes.open("ses_one");
  await workspace.writeFile("notes/a b.md", text("0123456789"));
  await workspace.writeFile("first.txt", text("x"));
  assert.deepEqual(await workspace.list("", { recursive: true, limit: 10 }), [
    { path: "first.txt", type: "file", sizeBytes: 1 },
    { path: "notes", type: "directory", sizeBytes: 0 },
    { path: "notes/a b.md", type: "file", sizeBytes: 10 },
  ]);
  assert.equal((await workspace.list("", { recursive: false, limit: 1 })).length, 1);
  assert.deepEqual(await workspace.list("notes", { recursive: false, limit: 5 }), [
    { path: "notes/a b.md", type: "file", sizeBytes: 10 },
  ]);
  assert.deepEqual(
    (await workspace.list("", { recursive: true, limit: 10, closed: ["a", "notes"] })).map(
      ({ path }) => path,
    ),
    ["first.txt", "notes"],
  );
  const cut = await workspace.readFile("notes/a b.md", 4);
  assert.deepEqual([Buffer.from(cut.bytes).toString(), cut.totalBytes], ["0123", 10]);
  assert.equal(await sandboxes.open("ses_one"), workspace);
  assert.deepEqual(statuses, ["starting", "ready"]);
});

test("a path that does not exist or leads out of the workspace is refused with a sentence", async (t) => {
  const { sandboxes } = await openSandboxes(t);
  const workspace = await sandboxes.open("ses_one");
  await workspace.writeFile("folder/file", text("x"));
  await assert.rejects(workspace.readFile("nothing", 10), /path: nothing does not exist/);
  await assert.rejects(workspace.readFile("folder", 10), /path: folder is a folder/);
  await assert.rejects(workspace.list("folder/file", { recursive: false, limit: 1 }), /is not a folder/);
  await assert.rejects(workspace.readFile("../etc/passwd", 10), /must not contain "\.\."/);
  await assert.rejects(workspace.writeFile("big", new Uint8Array(1_001)), /at most 1000 bytes/);
});

test("links and special files are listed only on request", async (t) => {
  const { sandboxes } = await openSandboxes(t);
  const workspace = await sandboxes.open("ses_one");
  await workspace.writeFile("folder/file", text("x"));
  await workspace.run("ln -s /etc etc; ln -s file link; mkfifo pipe", { ...options, cwd: "folder" });
  const plain = await workspace.list("folder", { recursive: true, limit: 10 });
  assert.deepEqual(
    plain.map(({ path }) => path),
    ["folder/file"],
  );
  assert.deepEqual(await workspace.list("folder", { recursive: true, limit: 10, all: true }), [
    { path: "folder/etc", type: "link", sizeBytes: 0 },
    { path: "folder/file", type: "file", sizeBytes: 1 },
    { path: "folder/link", type: "link", sizeBytes: 0 },
    { path: "folder/pipe", type: "other", sizeBytes: 0 },
  ]);
});

test("a command runs in its folder and returns its exit code and both ends of a long output", async (t) => {
  const { sandboxes } = await openSandboxes(t);
  const workspace = await sandboxes.open("ses_one");
  await workspace.writeFile("sub/file.txt", text("x"));
  const listed = await workspace.run("ls; exit 3", { ...options, cwd: "sub" });
  assert.deepEqual([listed.output, listed.exitCode, listed.timedOut], ["file.txt\n", 3, false]);
  const long = await workspace.run("seq 1 500", options);
  assert.equal(long.truncated, true);
  assert.match(long.output, /^1\n.*500\n$/s);
});

test("a command is killed at its deadline, at a stop, and when its workspace is removed", async (t) => {
  const { sandboxes, removed } = await openSandboxes(t);
  const workspace = await sandboxes.open("ses_one");
  const late = await workspace.run("sleep 30", { ...options, timeoutMs: 100 });
  assert.deepEqual([late.timedOut, late.exitCode], [true, null]);
  assert.match(late.output, /ended at its deadline of 100 ms/);
  const stop = new AbortController();
  const stopped = workspace.run("sleep 30", { ...options, signal: stop.signal });
  stop.abort();
  assert.match((await stopped).output, /ended: the turn was stopped/);
  const running = workspace.run("echo begun; sleep 30", options);
  await sandboxes.remove("ses_one");
  assert.match((await running).output, /ended/);
  assert.deepEqual(removed, ["ses_one"]);
});

describe("programs in a box", () => {
  const sandboxes = createVercelSandboxes({
    boxes: { open: async () => box, remove: async () => {} },
    limits: { writeBytesMax: 100_000, outputBytesMax: 10_000, floodBytesMax: 1_000_000 },
    onStartupStatus: async () => {},
    root: mkdtempSync(join(tmpdir(), "boxes-")),
  });
  programSuite(() => sandboxes.open(`ses_${Math.random().toString(36).slice(2)}`), {
    isReadOnly: false,
    isConfined: false,
  });
});

test("a test run is refused, because a box cannot reach the service's proxy", async (t) => {
  const { sandboxes } = await openSandboxes(t);
  const workspace = await sandboxes.open("ses_one");
  await assert.rejects(
    workspace.runTests({ files: [], script: "", shown: [], proxyPort: 1 }, options),
    /test runs are not available on Vercel Sandbox/,
  );
});

test("a box that cannot be opened is an error, and the next call retries", async (t) => {
  let isUnavailable = true;
  const { sandboxes, statuses } = await openSandboxes(t, async () => {
    if (isUnavailable) throw new Error("no capacity");
    return box;
  });
  await assert.rejects(sandboxes.open("ses_one"), /no capacity/);
  isUnavailable = false;
  await sandboxes.open("ses_one");
  assert.deepEqual(statuses, ["starting", "error", "starting", "ready"]);
});
