import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { testRuns } from "#db/schema/index.ts";
import {
  type StandInWithSnapshot,
  startWithSnapshot,
} from "#e2e/fixtures/vercel-sandbox/start-with-snapshot.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { insertTestSession } from "#lib/browser/testing.ts";
import { openTestHosts, type TestHosts } from "#lib/browser-host/testing.ts";
import { sandboxLimits } from "#lib/sandbox/sandbox-limits.ts";
import type { CommandResult } from "#lib/sandbox/sandbox-service.ts";
import { createVercelBoxes } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import { probeBubblewrap } from "#lib/sandbox/vercel/image-record.ts";
import { runBoxScript } from "#lib/sandbox/vercel/run-box-script.ts";
import type { VercelBoxes } from "#lib/sandbox/vercel/vercel-box.ts";
import { createVercelSandboxes } from "#lib/sandbox/vercel/vercel-sandboxes.ts";
import { playTestRun } from "#lib/test-runs/play-test-run.ts";
import {
  createPlayer,
  openWaitingSite,
  readResults,
  readRun,
  startWaitingRun,
  type WaitingSite,
} from "./waiting-run-testing.ts";

// Test runs of a deployment on functions: in the session's Vercel Sandbox, with the Chromium and the proxy of its host.

let site: WaitingSite;
let standIn: StandInWithSnapshot;
let hosts: TestHosts;
let boxes: VercelBoxes;
before(async () => {
  site = await openWaitingSite();
  standIn = await startWithSnapshot();
  const { connection, snapshotId } = standIn;
  boxes = createVercelBoxes({ connection, source: { snapshotId }, network: "public" });
  hosts = await openTestHosts([site.host]);
});
after(async () => {
  site?.answer();
  await hosts?.close();
  await standIn?.close();
  await site?.close();
});

/** Opens the dependencies of test runs in a new function. */
async function openFunction(name: string) {
  const sandbox = createVercelSandboxes({
    boxes,
    limits: sandboxLimits,
    onStartupStatus: async () => {},
    readStartupStatus: async () => undefined,
  });
  return createPlayer(hosts, await hosts.openBoxed(boxes), { name, sandbox });
}

test("a test run continues in the box while no function follows it, and another function stores its results", async () => {
  const first = await openFunction("first");
  const { id, played, shutdown } = await startWaitingRun(first, site);
  shutdown.abort(new Error("the function ends"));
  await assert.rejects(played, /the function ends/);
  await first.end();
  site.answer();

  const second = await openFunction("second");
  assert.deepEqual(await playTestRun(second, id, new AbortController().signal), { status: "ended" });
  const results = await readResults(hosts, id);
  const row = await readRun(hosts, id);
  assert.deepEqual([row?.status, row?.problem, row?.attempt], ["passed", null, 1], JSON.stringify(results));
  assert.deepEqual(
    results.map(({ titles, status }) => [titles, status]),
    [[["the shop opens"], "passed"]],
  );
  assert.equal(site.visits(), 1, "the test was not run again");
});

test("a function call that has to end leaves the test run to the next one", async () => {
  const from = await openFunction("short");
  const { id, played, shutdown } = await startWaitingRun(from, site);
  shutdown.abort(new Error("the function ends"));
  await assert.rejects(played, /the function ends/);
  assert.deepEqual(await playTestRun(from, id, new AbortController().signal, 1), { status: "later" });
  site.answer();
  assert.deepEqual(await playTestRun(from, id, new AbortController().signal), { status: "ended" });
  assert.deepEqual([(await readRun(hosts, id))?.status, site.visits()], ["passed", 1]);
});

test("a test run that is cancelled ends its processes in the box", async () => {
  const from = await openFunction("cancelling");
  const { id, sessionId, played } = await startWaitingRun(from, site);
  const { box } = await boxes.open(sessionId);
  const pid = (await runBoxScript(box, "cat .programs/tests-*/pid", [])).trim();
  const isAlive = async () =>
    (await runBoxScript(box, 'kill -0 "$1" 2> /dev/null && echo yes || true', [pid])).trim() === "yes";
  assert.equal(await isAlive(), true);
  await hosts.db.update(testRuns).set({ cancelRequestedAt: new Date() }).where(eq(testRuns.id, id));
  assert.deepEqual(await played, { status: "ended" });
  assert.equal((await readRun(hosts, id))?.status, "cancelled");
  await waitUntil(async () => !(await isAlive()), "the processes have ended");
  assert.equal((await runBoxScript(box, "ls .programs", [])).includes("tests-"), false);
});

/**
 * Bubblewrap that works only as root. If the tests do not run as root, it works only through sudo, and does not become
 * another user.
 */
const BWRAP_OF_ROOT = `#!/bin/bash
[ -n "$SUDO_USER" ] || exit 1
[ "$(id -u)" = 0 ] && exec /usr/bin/bwrap "$@"
options=()
while [ "$1" != setpriv ] && [ $# -gt 0 ]; do options+=("$1"); shift; done
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
shift
exec /usr/bin/bwrap "\${options[@]}" "$@"
`;

describe("where bubblewrap works as root only", () => {
  before(() => standIn.install("bwrap", BWRAP_OF_ROOT));
  after(() => standIn.install("bwrap", '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n'));

  test("tests run through sudo as the user of the box, and are continued by another function", async () => {
    const first = await openFunction("first of sudo");
    const { id, sessionId, played, shutdown } = await startWaitingRun(first, site);
    const { box } = await boxes.open(sessionId);
    assert.equal(await probeBubblewrap(box), "sudo");
    shutdown.abort(new Error("the function ends"));
    await assert.rejects(played, /the function ends/);
    site.answer();
    const second = await openFunction("second of sudo");
    assert.deepEqual(await playTestRun(second, id, new AbortController().signal), { status: "ended" });
    const row = await readRun(hosts, id);
    assert.deepEqual([row?.status, row?.problem, site.visits()], ["passed", null, 1]);
    // The files of the tests belong to the user of the box, not to root.
    const owners = await runBoxScript(box, 'stat -c %u . "$1"', ["sandbox/test-results/report.jsonl"]);
    const [home, report] = owners.trim().split("\n");
    assert.equal(report, home);
  });

  test("tests that take too long are ended at their limit", async () => {
    const { sandbox } = await openFunction("late");
    const workspace = await sandbox.open(await insertTestSession(hosts.db));
    const script = "/run/wait.mjs";
    const program = {
      files: [{ path: script, bytes: Buffer.from("setInterval(() => {}, 1_000);") }],
      ...{ script, packages: [], shown: [], proxyPort: 9 },
    };
    let result: CommandResult | undefined;
    const signal = new AbortController().signal;
    const ended = workspace.runTests(program, { timeoutMs: 1_000, signal }).then((each) => {
      result = each;
    });
    // Long before the function gives them up.
    await waitUntil(() => result !== undefined, "the tests have ended", 40_000);
    await ended;
    assert.deepEqual([result?.timedOut, result?.exitCode], [true, null]);
  });
});
