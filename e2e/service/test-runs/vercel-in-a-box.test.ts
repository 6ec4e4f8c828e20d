import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { testResults, testRuns } from "#db/schema/index.ts";
import {
  type StandInWithSnapshot,
  startWithSnapshot,
} from "#e2e/fixtures/vercel-sandbox/start-with-snapshot.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { insertTestSession, startTestSite } from "#lib/browser/testing.ts";
import { openTestHosts, type TestHosts } from "#lib/browser-host/testing.ts";
import { sandboxLimits } from "#lib/sandbox/sandbox-limits.ts";
import { createVercelBoxes } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import { runBoxScript } from "#lib/sandbox/vercel/run-box-script.ts";
import type { VercelBoxes } from "#lib/sandbox/vercel/vercel-box.ts";
import { createVercelSandboxes } from "#lib/sandbox/vercel/vercel-sandboxes.ts";
import { playTestRun } from "#lib/test-runs/play-test-run.ts";
import { startTestRun } from "#lib/test-runs/start-test-run.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import { createEvidenceMemory } from "#lib/tools/browser/test-fixture.ts";

// Test runs of a deployment on functions: in the session's Vercel Sandbox, with the Chromium and the proxy of its host.

/** Requests of pages that a test has opened and that wait for their answers. */
let waiting: (() => void)[] = [];
let visits = 0;
let site: Awaited<ReturnType<typeof startTestSite>>;
let standIn: StandInWithSnapshot;
let hosts: TestHosts;
let boxes: VercelBoxes;
before(async () => {
  site = await startTestSite(async (_, response) => {
    visits += 1;
    await new Promise<void>((resolve) => waiting.push(resolve));
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Shop</title><h1>Shop</h1>");
  });
  standIn = await startWithSnapshot();
  const { connection, snapshotId } = standIn;
  boxes = createVercelBoxes({ connection, source: { snapshotId }, network: "public" });
  hosts = await openTestHosts([`127.0.0.1:${site.port}`]);
});
after(async () => {
  for (const answer of waiting) answer();
  await hosts?.close();
  await standIn?.close();
  await site?.close();
});

/** Opens the dependencies of test runs in a new function. */
async function openFunction(name: string): Promise<TestRunsDeps & { end: () => Promise<void> }> {
  const opened = await hosts.openBoxed(boxes);
  return {
    db: hosts.db,
    log: hosts.log,
    logger: { warn() {}, debug() {} },
    sandbox: createVercelSandboxes({
      boxes,
      limits: sandboxLimits,
      onStartupStatus: async () => {},
      readStartupStatus: async () => undefined,
    }),
    browser: opened.service,
    evidence: createEvidenceMemory(),
    jobs: { sendSoon() {} },
    owner: { name, isAlone: true },
    end: () => opened.close(false),
  };
}

/** Starts a test run whose only test waits for its page, and waits until it has opened the page. */
async function startWaitingRun(from: TestRunsDeps) {
  const sessionId = await insertTestSession(hosts.db);
  const workspace = await from.sandbox.open(sessionId);
  await workspace.writeFile(
    "tests/shop.spec.ts",
    Buffer.from(`import { expect, test } from "@playwright/test";
      test("the shop opens", async ({ page }) => {
        await page.goto("${site.origin}");
        await expect(page.getByRole("heading")).toHaveText("Shop");
      });`),
  );
  const started = await startTestRun(
    from,
    { sessionId, startedBy: "agent", requestId: null, runId: null, callId: null },
    {
      files: ["tests/shop.spec.ts"],
      against: ["control"],
      variant: null,
      grep: null,
      retries: 0,
      baseUrl: null,
      viewport: "desktop",
      timeoutSeconds: 120,
    },
  );
  assert.ok(started.ok);
  const { id } = started.row;
  [visits, waiting] = [0, []];
  const shutdown = new AbortController();
  const played = playTestRun(from, id, shutdown.signal);
  await waitUntil(() => visits === 1, "the test has opened the page");
  return { id, sessionId, played, shutdown };
}

const readRun = async (id: string) => (await hosts.db.select().from(testRuns).where(eq(testRuns.id, id)))[0];

test("a test run continues in the box while no function follows it, and another function stores its results", async () => {
  const first = await openFunction("first");
  const { id, played, shutdown } = await startWaitingRun(first);
  shutdown.abort(new Error("the function ends"));
  await assert.rejects(played, /the function ends/);
  await first.end();
  for (const answer of waiting) answer();

  const second = await openFunction("second");
  assert.deepEqual(await playTestRun(second, id, new AbortController().signal), { status: "ended" });
  const results = await hosts.db.select().from(testResults).where(eq(testResults.testRunId, id));
  const row = await readRun(id);
  assert.deepEqual([row?.status, row?.problem, row?.attempt], ["passed", null, 1], JSON.stringify(results));
  assert.deepEqual(
    results.map(({ titles, status }) => [titles, status]),
    [[["the shop opens"], "passed"]],
  );
  assert.equal(visits, 1, "the test was not run again");
});

test("a function call that has to end leaves the test run to the next one", async () => {
  const from = await openFunction("short");
  const { id, played, shutdown } = await startWaitingRun(from);
  shutdown.abort(new Error("the function ends"));
  await assert.rejects(played, /the function ends/);
  assert.deepEqual(await playTestRun(from, id, new AbortController().signal, 1), { status: "later" });
  for (const answer of waiting) answer();
  assert.deepEqual(await playTestRun(from, id, new AbortController().signal), { status: "ended" });
  assert.deepEqual([(await readRun(id))?.status, visits], ["passed", 1]);
});

test("a test run that is cancelled ends its processes in the box", async () => {
  const from = await openFunction("cancelling");
  const { id, sessionId, played } = await startWaitingRun(from);
  const { box } = await boxes.open(sessionId);
  const pid = (await runBoxScript(box, "cat .programs/tests-*/pid", [])).trim();
  const isAlive = async () =>
    (await runBoxScript(box, 'kill -0 "$1" 2> /dev/null && echo yes || true', [pid])).trim() === "yes";
  assert.equal(await isAlive(), true);
  await hosts.db.update(testRuns).set({ cancelRequestedAt: new Date() }).where(eq(testRuns.id, id));
  assert.deepEqual(await played, { status: "ended" });
  assert.equal((await readRun(id))?.status, "cancelled");
  await waitUntil(async () => !(await isAlive()), "the processes have ended");
  assert.equal((await runBoxScript(box, "ls .programs", [])).includes("tests-"), false);
});
