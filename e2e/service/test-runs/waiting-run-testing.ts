import assert from "node:assert/strict";
import { eq } from "drizzle-orm";
import { testResults, testRuns } from "#db/schema/index.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { insertTestSession, startTestSite } from "#lib/browser/testing.ts";
import type { TestHosts, TestProcess } from "#lib/browser-host/testing.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import { playTestRun } from "#lib/test-runs/play-test-run.ts";
import { startTestRun } from "#lib/test-runs/start-test-run.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import { createEvidenceMemory } from "#lib/tools/browser/test-fixture.ts";

export type WaitingSite = Awaited<ReturnType<typeof openWaitingSite>>;

/** Starts a site whose answers wait until the test lets them go. */
export async function openWaitingSite() {
  let waiting: (() => void)[] = [];
  let visits = 0;
  const site = await startTestSite(async (_, response) => {
    visits += 1;
    await new Promise<void>((resolve) => waiting.push(resolve));
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Shop</title><h1>Shop</h1>");
  });
  const answer = () => {
    for (const each of waiting) each();
  };
  return {
    host: `127.0.0.1:${site.port}`,
    origin: site.origin,
    visits: () => visits,
    answer,
    forget() {
      [visits, waiting] = [0, []];
    },
    async close() {
      answer();
      await site.close();
    },
  };
}

/** The dependencies of test runs in a process that ends with `end`. */
export type TestPlayer = TestRunsDeps & { end: () => Promise<void> };

export const createPlayer = (
  hosts: TestHosts,
  opened: TestProcess,
  about: { name: string; sandbox: SandboxService },
): TestPlayer => ({
  db: hosts.db,
  log: hosts.log,
  logger: { warn() {}, debug() {} },
  sandbox: about.sandbox,
  browser: opened.service,
  openTestPlace: opened.openTestPlace,
  evidence: createEvidenceMemory(),
  jobs: { sendSoon() {} },
  owner: { name: about.name, isAlone: true },
  end: () => opened.close(false),
});

/** Stores a test run of a new session with these files. */
export async function startRun(from: TestRunsDeps, files: Record<string, string>) {
  const sessionId = await insertTestSession(from.db);
  const workspace = await from.sandbox.open(sessionId);
  for (const [path, text] of Object.entries(files)) await workspace.writeFile(path, Buffer.from(text));
  const started = await startTestRun(
    from,
    { sessionId, startedBy: "agent", requestId: null, runId: null, callId: null },
    {
      files: [],
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
  return { id: started.row.id, sessionId, workspace };
}

/** Plays a test run whose only test waits for its page, until it has opened the page. */
export async function startWaitingRun(from: TestRunsDeps, site: WaitingSite) {
  const run = await startRun(from, {
    "tests/shop.spec.ts": `import { expect, test } from "@playwright/test";
      test("the shop opens", async ({ page }) => {
        await page.goto("${site.origin}");
        await expect(page.getByRole("heading")).toHaveText("Shop");
      });`,
  });
  site.forget();
  const shutdown = new AbortController();
  const played = playTestRun(from, run.id, shutdown.signal);
  // A run that ends before must not keep the test waiting.
  const ended = played.then((outcome) => assert.fail(`the test run has ended: ${JSON.stringify(outcome)}`));
  await Promise.race([waitUntil(() => site.visits() === 1, "the test has opened the page"), ended]);
  ended.catch(() => {});
  return { ...run, played, shutdown };
}

export const readRun = async ({ db }: Pick<TestRunsDeps, "db">, id: string) =>
  (await db.select().from(testRuns).where(eq(testRuns.id, id)))[0];

export const readResults = ({ db }: Pick<TestRunsDeps, "db">, id: string) =>
  db.select().from(testResults).where(eq(testResults.testRunId, id));
