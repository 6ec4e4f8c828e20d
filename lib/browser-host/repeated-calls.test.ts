import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { annotations, evidence } from "#db/schema/index.ts";
import { recordAnnotation } from "#lib/annotation/record-annotation.ts";
import { createPerson, PILL, SUBMIT, takeControl } from "#lib/browser/overlay/overlay-testing.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { createEvidenceStore } from "#lib/evidence/evidence.ts";
import { downloadsIn } from "#lib/sandbox/store-download.ts";
import { createTestSandbox } from "#lib/tools/browser/test-fixture.ts";
import type { OpenBrowsersDeps } from "./service/open-hosted-browsers.ts";
import { openTestHosts, type TestHosts, type TestProcess } from "./testing.ts";

// A process of the service stores what a host sends, and ends before the host has its answer. The host repeats its call
// at another process.

let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
let staying: TestProcess;
const workspace = createTestSandbox();

before(async () => {
  site = await startTestSite(({ url }, response) => {
    if (url === "/report.csv") response.setHeader("content-disposition", "attachment").end("a,b");
    else
      response
        .setHeader("content-type", "text/html")
        .end('<title>Shop</title><h1>Shop</h1><a href="/report.csv">Report</a>');
  });
  hosts = await openTestHosts(["127.0.0.1"]);
  staying = await openProcess(() => {});
});
after(async () => {
  await hosts?.close();
  await site?.close();
});

/** @param onStored called when a call of a host was carried out, before it is answered. */
async function openProcess(onStored: () => unknown): Promise<TestProcess> {
  const { db, log } = hosts;
  const store = createEvidenceStore({ db, dataDir: undefined });
  const about: Partial<OpenBrowsersDeps> = {
    evidence: {
      async save(picture) {
        const pointer = await store.save(picture);
        await onStored();
        return pointer;
      },
    },
    async onAnnotation(sessionId, body, key) {
      const recorded = await recordAnnotation(
        { log },
        sessionId,
        JSON.parse(body),
        { count: 0, bytes: 0 },
        key,
      );
      await onStored();
      return recorded.ok ? { isStored: true } : { isStored: false, reason: "it was not stored" };
    },
    async downloads(sessionId) {
      const downloads = downloadsIn(await workspace.open(sessionId));
      return {
        ...downloads,
        async store(path, bytes) {
          const isStored = await downloads.store(path, bytes);
          await onStored();
          return isStored;
        },
      };
    },
  };
  return hosts.open({}, about);
}

/** Opens a process that ends as soon as it has stored something. A host calls the process that connected last. */
async function openEnding(): Promise<{ stored: Promise<void> }> {
  const { promise: stored, resolve } = Promise.withResolvers<void>();
  const ending: TestProcess = await openProcess(async () => {
    await ending.close(false);
    resolve();
  });
  return { stored };
}

async function openPage(): Promise<string> {
  const sessionId = await insertTestSession(hosts.db);
  await staying.service.navigate(sessionId, `${site.origin}/`);
  return sessionId;
}

test("a picture is stored once", async () => {
  const sessionId = await openPage();
  const { stored } = await openEnding();
  const shown = await staying.use(sessionId, "screenshot", {}, { runId: null });
  await stored;
  const rows = await hosts.db.select().from(evidence).where(eq(evidence.sessionId, sessionId));
  assert.equal(rows.length, 1);
  assert.ok(shown.includes(rows[0]?.id ?? ""), shown);
});

test("a submission of the annotation overlay is stored once", async () => {
  const sessionId = await openPage();
  const person = createPerson(await takeControl(staying.service, sessionId), sessionId);
  const isButton = async ({ x, y }: typeof PILL) =>
    (await staying.service.readCursor(sessionId, x, y)) === "pointer";
  await waitFor(() => isButton(PILL), "the overlay");
  const { stored } = await openEnding();
  await person.addComment({ x: 20, y: 40 }, "Larger");
  await waitFor(() => isButton(SUBMIT), "the submit button");
  await person.click(SUBMIT);
  await stored;
  // The overlay shows its button for comments again when it has the answer.
  await waitFor(async () => !(await isButton(SUBMIT)), "the answer");
  const rows = await hosts.db.select().from(annotations).where(eq(annotations.sessionId, sessionId));
  assert.equal(rows.length, 1);
});

test("a download is stored once", async () => {
  const sessionId = await openPage();
  const { stored } = await openEnding();
  const script = "await page.click('a')";
  const report = await staying.use(sessionId, "browser_execute", { script });
  assert.match(report, /downloads\/report\.csv/);
  await stored;
  assert.deepEqual([...workspace.files.keys()], ["downloads/report.csv"]);
});
