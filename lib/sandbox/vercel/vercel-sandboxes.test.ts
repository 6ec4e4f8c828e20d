import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import type { StartupStatus } from "#db/schema/unions.ts";
import {
  startVercelSandbox,
  type VercelSandboxStandIn,
} from "#e2e/fixtures/vercel-sandbox/start-vercel-sandbox.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { programSuite } from "../program-suite-testing.ts";
import { BROWSER_HOST_PORT, createVercelBoxes } from "./create-vercel-boxes.ts";
import { createVercelSandboxes } from "./vercel-sandboxes.ts";

// The boxes in these tests are folders of this machine behind a stand-in for Vercel's API, which Vercel's SDK calls.

let standIn: VercelSandboxStandIn;
before(async () => {
  // The SDK looks for the name of a coding agent once, at its first call.
  process.env.AI_AGENT = "some-agent";
  standIn = await startVercelSandbox();
});
after(async () => {
  delete process.env.AI_AGENT;
  await standIn.close();
});

type BoxesOptions = Parameters<typeof createVercelBoxes>[0];
const smallLimits = { writeBytesMax: 1_000, outputBytesMax: 200, floodBytesMax: 10_000 };

function createSandboxes(boxesOptions: BoxesOptions = {}, limits = smallLimits) {
  const statuses: StartupStatus[] = [];
  const sandboxes = createVercelSandboxes({
    boxes: createVercelBoxes({ connection: standIn.connection, ...boxesOptions }),
    limits,
    onStartupStatus: async (_, status) => void statuses.push(status),
    readStartupStatus: async () => statuses.at(-1),
  });
  return { sandboxes, statuses };
}

let sessions = 0;
/** Opens the workspace of a new session. */
async function openWorkspace(t: TestContext, boxesOptions?: BoxesOptions) {
  const created = createSandboxes(boxesOptions);
  const sessionId = `ses_box${++sessions}`;
  const name = sessionId.replace("ses_", "agent-ses-");
  const workspace = await created.sandboxes.open(sessionId);
  t.after(() => created.sandboxes.remove(sessionId));
  return { ...created, sessionId, name, workspace };
}
const text = (value: string) => new TextEncoder().encode(value);
const options = { timeoutMs: 10_000, signal: new AbortController().signal };

test("a listing with more text than a limit is refused", async (t) => {
  const { workspace } = await openWorkspace(t);
  const command = `name=$(printf '%0240d' 0); path=.; for each in 1 2 3 4 5 6 7 8 9 10; do path=$path/$name; done
mkdir -p "$path" && cd "$path" && seq 2000 | xargs touch`;
  assert.equal((await workspace.run(command, options)).exitCode, 0);
  await assert.rejects(
    workspace.list("", { recursive: true, limit: 5_000 }),
    /WorkspaceError: path: .* too long/,
  );
  assert.equal((await workspace.list("", { recursive: false, limit: 5 })).length, 1);
});

test("files are written, listed and read, and a large one is cut at the limit", async (t) => {
  const { sandboxes, statuses, sessionId, workspace } = await openWorkspace(t);
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
  assert.equal(await sandboxes.open(sessionId), workspace);
  assert.deepEqual(statuses, ["starting", "ready"]);
});

test("a path that does not exist or leads out of the workspace is refused with a sentence", async (t) => {
  const { workspace } = await openWorkspace(t);
  await workspace.writeFile("folder/file", text("x"));
  await assert.rejects(workspace.readFile("nothing", 10), /path: nothing does not exist/);
  await assert.rejects(workspace.readFile("folder", 10), /path: folder is a folder/);
  await assert.rejects(workspace.list("folder/file", { recursive: false, limit: 1 }), /is not a folder/);
  await assert.rejects(workspace.readFile("../etc/passwd", 10), /must not contain "\.\."/);
  await assert.rejects(workspace.writeFile("big", new Uint8Array(1_001)), /at most 1000 bytes/);
});

test("parts of files are read, and changes expect a version", async (t) => {
  const { workspace } = await openWorkspace(t);
  const first = await workspace.writeFile("a/b.txt", text("0123456789"), "absent");
  const whole = { offset: 0, limitBytes: 100 };
  const read = await workspace.readPart("a/b.txt", { offset: 2, limitBytes: 3 });
  assert.equal(Buffer.from(read.bytes).toString(), "234");
  assert.deepEqual(read.file, first);
  assert.equal((await workspace.readPart("a/b.txt", { offset: 0, limitBytes: 0 })).file.sizeBytes, 10);
  await assert.rejects(workspace.writeFile("a/b.txt", text("x"), "absent"), { reason: "changed" });
  const second = await workspace.writeFile("a/b.txt", text("two"), { version: first.version });
  assert.notEqual(second.version, first.version);
  for (const refused of [
    () => workspace.writeFile("a/b.txt", text("x"), { version: first.version }),
    () => workspace.remove("a/b.txt", { version: first.version }),
    () => workspace.writeFile("new/c.txt", text("x"), "any"),
  ])
    await assert.rejects(refused, { reason: "changed" });
  const races = ["one", "two", "three"].map((content) =>
    workspace.writeFile("race.txt", text(content), "absent"),
  );
  const outcomes = (await Promise.allSettled(races)).map(({ status }) => status).sort();
  assert.deepEqual(outcomes, ["fulfilled", "rejected", "rejected"]);
  await assert.rejects(workspace.remove("a"), /a is a folder that is not empty/);
  await workspace.remove("a/b.txt", { version: second.version });
  await assert.rejects(workspace.readPart("a/b.txt", whole), { reason: "missing" });
  await assert.rejects(workspace.remove("a/b.txt"), { reason: "missing" });
  await workspace.remove("a");
  const entries = await workspace.list("", { recursive: true, limit: 9, times: true });
  assert.deepEqual(
    entries.map(({ path, modifiedAtMs = 0 }) => [path, Math.abs(modifiedAtMs - Date.now()) < 600_000]),
    [["race.txt", true]],
  );
  await workspace.run("ln -s /etc/hostname out", options);
  await workspace.remove("out");
  assert.equal((await workspace.run("test -e /etc/hostname", options)).exitCode, 0);
});

test("links and special files are listed only on request", async (t) => {
  const { workspace } = await openWorkspace(t);
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
  const { workspace } = await openWorkspace(t);
  await workspace.writeFile("sub/file.txt", text("x"));
  const listed = await workspace.run("ls; exit 3", { ...options, cwd: "sub" });
  assert.deepEqual([listed.output, listed.exitCode, listed.timedOut], ["file.txt\n", 3, false]);
  const long = await workspace.run("seq 1 500", options);
  assert.equal(long.truncated, true);
  assert.match(long.output, /^1\n.*500\n$/s);
});

test("a command is killed at its deadline, at a stop, and when its workspace is removed", async (t) => {
  const { sandboxes, sessionId, name, workspace } = await openWorkspace(t);
  const late = await workspace.run("sleep 30", { ...options, timeoutMs: 100 });
  assert.deepEqual([late.timedOut, late.exitCode], [true, null]);
  assert.match(late.output, /ended at its deadline of 100 ms/);
  const stop = new AbortController();
  const stopped = workspace.run("sleep 30", { ...options, signal: stop.signal });
  stop.abort();
  assert.match((await stopped).output, /ended: the turn was stopped/);
  const running = workspace.run("echo begun; sleep 30", options);
  await waitUntil(() => standIn.commandsOf(name).length === 4, "the command has started");
  const removed = sandboxes.remove(sessionId);
  assert.match((await running).output, /ended/);
  await removed;
  assert.ok(!standIn.boxNames().includes(name));
});

describe("programs in a box", () => {
  const limits = { writeBytesMax: 100_000, outputBytesMax: 10_000, floodBytesMax: 1_000_000 };
  programSuite(() => createSandboxes({}, limits).sandboxes.open(`ses_program${++sessions}`), {
    isReadOnly: false,
    isConfined: false,
  });
});

test("a box that cannot be opened is an error, and the next call retries", async (t) => {
  const { sandboxes, statuses } = createSandboxes();
  standIn.failNext({ method: "POST", path: /^\/v3\/sandboxes$/, status: 402, code: "no_capacity" });
  await assert.rejects(sandboxes.open("ses_retried"), /402/);
  await sandboxes.open("ses_retried");
  t.after(() => sandboxes.remove("ses_retried"));
  assert.deepEqual(statuses, ["starting", "error", "starting", "ready"]);
});

test("a new box has its port, one kept snapshot and no network, and the SDK does not name a coding agent", async (t) => {
  const { name } = await openWorkspace(t);
  const { creation, networkPolicy } = standIn.readBox(name);
  assert.deepEqual(creation.ports, [BROWSER_HOST_PORT]);
  assert.deepEqual([creation.persistent, creation.keepLastSnapshots], [true, { count: 1 }]);
  assert.deepEqual(networkPolicy, { mode: "deny-all" });
  assert.deepEqual(
    standIn.requests.filter(({ userAgent }) => !/^vercel\/sandbox\/[\d.]+ \(/.test(userAgent)),
    [],
  );
});

test("a box starts from a snapshot or an image, and says that the snapshot is gone", async (t) => {
  const image = await openWorkspace(t, { source: { image: "my-image:v1" }, network: "public" });
  assert.equal(standIn.readBox(image.name).creation.image, "my-image:v1");
  const { networkPolicy } = standIn.readBox(image.name);
  assert.ok("allow" in networkPolicy && networkPolicy.subnets?.deny?.includes("10.0.0.0/8"));
  await image.workspace.writeFile("made", text("x"));
  await standIn.expire(image.name);
  const snapshotId = standIn.snapshotIds().at(-1) ?? "";
  const source = { snapshotId };
  const copy = await openWorkspace(t, { source });
  assert.equal((await copy.workspace.list("", { recursive: true, limit: 5 })).length, 1);
  await standIn.expireSnapshot(snapshotId);
  const { sandboxes } = createSandboxes({ source });
  await assert.rejects(
    sandboxes.open("ses_late"),
    new RegExp(`its snapshot ${snapshotId} \\(VERCEL_SANDBOX_SNAPSHOT\\) does not exist any more`),
  );
});

test("two creators at once and a lost answer of a creation lead to one box", async (t) => {
  const processes = [createSandboxes(), createSandboxes()];
  t.after(() => processes[0]?.sandboxes.remove("ses_shared"));
  const [first, second] = await Promise.all(processes.map(({ sandboxes }) => sandboxes.open("ses_shared")));
  await first?.writeFile("file", text("x"));
  assert.equal((await second?.list("", { recursive: false, limit: 5 }))?.length, 1);
  standIn.failNext({ method: "POST", path: /^\/v3\/sandboxes$/, status: 502, isApplied: true });
  const { name } = await openWorkspace(t);
  assert.ok(standIn.boxNames().includes(name));
});

test("a stopped box resumes with its files, and the hook is called", async (t) => {
  const resumed: string[] = [];
  const { workspace, name, sessionId } = await openWorkspace(t, {
    onResume: async (id, box) => void resumed.push(id, String(box.routes.length)),
  });
  await workspace.writeFile("file", text("kept"));
  await standIn.expire(name);
  assert.equal((await workspace.run("cat file", options)).output, "kept");
  assert.deepEqual(resumed, [sessionId, "1"]);
});

test("a box whose snapshot is gone is replaced, and the agent is told that the files are lost", async (t) => {
  const { sandboxes, sessionId, name, workspace } = await openWorkspace(t);
  assert.equal(workspace.note, undefined);
  await workspace.writeFile("file", text("lost"));
  await standIn.expire(name);
  await standIn.expireSnapshot(standIn.snapshotIds().at(-1) ?? "");
  await sandboxes.close();
  const again = await sandboxes.open(sessionId);
  assert.match(again.note ?? "", /its files are gone/);
  assert.deepEqual(await again.list("", { recursive: true, limit: 5 }), []);
});

test("the session of a box is extended for a command that needs more time than is left", async (t) => {
  const { workspace, name } = await openWorkspace(t);
  const before = standIn.readBox(name).timeoutMs;
  await workspace.run("true", options);
  assert.equal(standIn.readBox(name).timeoutMs, before);
  await workspace.run("true", { ...options, timeoutMs: before });
  assert.ok(standIn.readBox(name).timeoutMs >= before + 60_000);
  standIn.failNext({ path: /\/extend-timeout$/, status: 400, code: "too_long" });
  assert.equal((await workspace.run("echo ran", { ...options, timeoutMs: 86_400_000 })).output, "ran\n");
});

test("removing a box deletes its snapshots; a failure is reported, and a missing box is none", async (t) => {
  const { sandboxes, sessionId, name, workspace } = await openWorkspace(t);
  await workspace.writeFile("file", text("secret"));
  await standIn.expire(name);
  const kept = standIn.snapshotIds().at(-1) ?? "";
  standIn.failNext({ method: "GET", path: new RegExp(`/${name}$`), status: 403, code: "forbidden" });
  await assert.rejects(sandboxes.remove(sessionId), /403/);
  standIn.failNext({ method: "DELETE", path: new RegExp(`/${name}$`), status: 502, isApplied: true });
  await sandboxes.remove(sessionId);
  assert.ok(!standIn.boxNames().includes(name));
  assert.ok(!standIn.snapshotIds().includes(kept));
  await sandboxes.remove(sessionId);
});
