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
import { createVercelSandboxes } from "#lib/sandbox/vercel/vercel-sandboxes.ts";
import { playTestRun } from "#lib/test-runs/play-test-run.ts";
import { startTestRun } from "#lib/test-runs/start-test-run.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import { createEvidenceMemory } from "#lib/tools/browser/test-fixture.ts";

// Test runs of a deployment on functions: in the session's Vercel Sandbox, with the Chromium and the proxy of its host.

let visits = 0;
let release = () => {};
let site: Awaited<ReturnType<typeof startTestSite>>;
let standIn: StandInWithSnapshot;
let hosts: TestHosts;
before(async () => {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  site = await startTestSite(async (request, response) => {
    if (request.url === "/held") {
      visits += 1;
      await held;
    }
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Shop</title><h1>Shop</h1>");
  });
  standIn = await startWithSnapshot();
  hosts = await openTestHosts([`127.0.0.1:${site.port}`]);
});
after(async () => {
  await hosts?.close();
  await standIn?.close();
  await site?.close();
});

test("a test run goes on in the box while no function follows it, and another function stores its results", async () => {
  const { connection, snapshotId } = standIn;
  const boxes = createVercelBoxes({ connection, source: { snapshotId }, network: "public" });
  const sessionId = await insertTestSession(hosts.db);
  /** Opens the dependencies of test runs in a new function. */
  const openFunction = async (name: string): Promise<TestRunsDeps & { end: () => Promise<void> }> => {
    const opened = await hosts.openBoxed(boxes);
    const sandbox = createVercelSandboxes({
      boxes,
      limits: sandboxLimits,
      onStartupStatus: async () => {},
      readStartupStatus: async () => undefined,
    });
    return {
      db: hosts.db,
      log: hosts.log,
      logger: { warn() {}, debug() {} },
      sandbox,
      browser: opened.service,
      evidence: createEvidenceMemory(),
      jobs: { sendSoon() {} },
      owner: { name, isAlone: true },
      end: () => opened.close(false),
    };
  };
  const first = await openFunction("first");
  const workspace = await first.sandbox.open(sessionId);
  await workspace.writeFile(
    "tests/shop.spec.ts",
    Buffer.from(`import { expect, test } from "@playwright/test";
      test("the shop opens", async ({ page }) => {
        await page.goto("${site.origin}/held");
        await expect(page.getByRole("heading")).toHaveText("Shop");
      });`),
  );
  const input = {
    files: ["tests/shop.spec.ts"],
    against: ["control" as const],
    variant: null,
    grep: null,
    retries: 0,
    baseUrl: null,
    viewport: "desktop" as const,
    timeoutSeconds: 120,
  };
  const started = await startTestRun(
    first,
    { sessionId, startedBy: "agent", requestId: null, runId: null, callId: null },
    input,
  );
  assert.ok(started.ok);
  const { id } = started.row;
  const shutdown = new AbortController();
  // The function ends when the page is held in the middle of the test.
  const played = playTestRun(first, id, shutdown.signal);
  await waitUntil(() => visits === 1, "the test has opened the page");
  shutdown.abort(new Error("the function ends"));
  await assert.rejects(played, /the function ends/);
  await first.end();
  release();

  const second = await openFunction("second");
  assert.deepEqual(await playTestRun(second, id, new AbortController().signal), { status: "ended" });
  const results = await hosts.db.select().from(testResults).where(eq(testResults.testRunId, id));
  const [row] = await hosts.db.select().from(testRuns).where(eq(testRuns.id, id));
  assert.deepEqual([row?.status, row?.problem, row?.attempt], ["passed", null, 1], JSON.stringify(results));
  assert.deepEqual(
    results.map(({ titles, status }) => [titles, status]),
    [[["the shop opens"], "passed"]],
  );
  assert.equal(visits, 1, "the test was not run again");
});
