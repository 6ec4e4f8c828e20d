import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { testRuns } from "#db/schema/index.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { openTestHosts, TEST_HOST_TOKEN, type TestHosts } from "#lib/browser-host/testing.ts";
import { createSandboxService } from "#lib/sandbox/create-sandbox-service.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import { playTestRun } from "#lib/test-runs/play-test-run.ts";
import { openTestService } from "../testing.ts";
import { playTurn } from "../variants/variants-testing.ts";
import { runAndWait, write } from "./test-runs-testing.ts";
import {
  createPlayer,
  openWaitingSite,
  readResults,
  readRun,
  startRun,
  startWaitingRun,
  type WaitingSite,
} from "./waiting-run-testing.ts";

// Test runs of a deployment whose browser hosts are on other machines: the workspaces are in another folder than that of
// the host, and the service has no Chromium.

let site: WaitingSite;
let hosts: TestHosts;
let url: string;
let folder: string;
let sandbox: SandboxService;
before(async () => {
  site = await openWaitingSite();
  hosts = await openTestHosts([site.host]);
  url = await hosts.startRemote(2);
  folder = await mkdtemp(join(tmpdir(), "workspaces-"));
  sandbox = await createSandboxService({
    kind: "local",
    dataDir: folder,
    onStartupStatus: async () => {},
    logger: { info() {}, warn() {} },
  });
});
after(async () => {
  site?.answer();
  await sandbox?.close();
  await hosts?.close();
  await site?.close();
  await rm(folder, { recursive: true, force: true });
});

const openProcess = async (name: string) =>
  createPlayer(hosts, await hosts.open({}, { remote: { urls: [url], token: TEST_HOST_TOKEN } }), {
    name,
    sandbox,
  });

const play = (from: Parameters<typeof playTestRun>[0], id: string) =>
  playTestRun(from, id, new AbortController().signal);

test("the agent of a service without a Chromium runs tests at its hosts", async () => {
  const service = await openTestService({
    BROWSER_HOSTS: await hosts.startRemote(1),
    BROWSER_HOST_TOKEN: TEST_HOST_TOKEN,
  });
  const content = `import { expect, test } from "@playwright/test";
    test("counts", () => expect(1 + 1).toBe(2));`;
  const { results } = await playTurn(service, [write("tests/count.spec.ts", content), ...runAndWait()]);
  assert.match(results.at(-1) ?? "", /1 passed/);
  await service.close();
});

/** Lists the copies of workspaces at the host. */
async function listCopies(): Promise<string[]> {
  const own = join(hosts.dataDir, "remote-0");
  const [tests] = (await readdir(own)).filter((name) => name.startsWith("tests-"));
  return tests === undefined ? [] : readdir(join(own, tests, "workspaces"));
}

test("tests run at the host with the files of the workspace, and what they write is brought back", async () => {
  const from = await openProcess("plain");
  const { id, workspace } = await startRun(from, {
    "lib/greeting.ts": `export const GREETING = "Shop";`,
    "tests/list.txt": "one\n",
    "tests/shop.spec.ts": `import { appendFileSync, writeFileSync } from "node:fs";
      import { expect, test } from "@playwright/test";
      import { GREETING } from "../lib/greeting";
      test("the page greets", async ({ page }) => {
        await page.setContent("<h1>" + GREETING + "</h1>");
        await expect(page.getByRole("heading")).toHaveText("Shop");
        appendFileSync("tests/list.txt", "two\\n");
        writeFileSync("made.txt", "made");
      });
      test("the page is red", async ({ page }) => {
        await page.setContent("<h1>Shop</h1>");
        await expect(page.getByRole("heading")).toHaveText("Red", { timeout: 100 });
      });`,
  });
  assert.deepEqual(await play(from, id), { status: "ended" });
  const results = await readResults(hosts, id);
  const row = await readRun(hosts, id);
  assert.deepEqual([row?.status, row?.problem, row?.attempt], ["failed", null, 1]);
  assert.deepEqual(
    results.map(({ titles, status }) => [titles[0], status]).sort(),
    [
      ["the page greets", "passed"],
      ["the page is red", "failed"],
    ],
    JSON.stringify(results),
  );
  const kept = results.flatMap(({ attachments }) => attachments);
  assert.ok(kept.some(({ mediaType, evidenceId }) => mediaType === "image/png" && evidenceId !== null));
  const read = async (path: string) => String((await workspace.readFile(path, 1_000)).bytes);
  assert.deepEqual([await read("tests/list.txt"), await read("made.txt")], ["one\ntwo\n", "made"]);
  assert.match(await read("test-results/report.jsonl"), /"type":"begin"/);
  assert.deepEqual(await listCopies(), []);
});

test("a test run continues at the host while the service restarts, and the next process stores its results", async () => {
  const first = await openProcess("first");
  const { id, played, shutdown } = await startWaitingRun(first, site);
  shutdown.abort(new Error("the service is shutting down"));
  await assert.rejects(played, /shutting down/);
  await first.end();
  site.answer();
  const second = await openProcess("second");
  assert.deepEqual(await play(second, id), { status: "ended" });
  const row = await readRun(hosts, id);
  assert.deepEqual([row?.status, row?.problem, row?.attempt], ["passed", null, 1]);
  assert.equal(site.visits(), 1, "the test was not run again");
});

test("a test run whose connection was lost is continued, and the attempt counts", async () => {
  const from = await openProcess("cut off");
  const { id, played } = await startWaitingRun(from, site);
  await from.end();
  assert.deepEqual(await played, { status: "later" });
  assert.deepEqual((await readRun(hosts, id))?.attempt, 1);
  site.answer();
  const next = await openProcess("connected");
  assert.deepEqual(await play(next, id), { status: "ended" });
  const row = await readRun(hosts, id);
  assert.deepEqual([row?.status, row?.attempt, site.visits()], ["passed", 2, 1]);
});

test("a test run that is cancelled ends at the host, and its files are removed there", async () => {
  const from = await openProcess("cancelling");
  const { id, played } = await startWaitingRun(from, site);
  assert.equal((await listCopies()).length, 1);
  await hosts.db.update(testRuns).set({ cancelRequestedAt: new Date() }).where(eq(testRuns.id, id));
  assert.deepEqual(await played, { status: "ended" });
  assert.equal((await readRun(hosts, id))?.status, "cancelled");
  await waitUntil(async () => (await listCopies()).length === 0, "the files are removed");
});
