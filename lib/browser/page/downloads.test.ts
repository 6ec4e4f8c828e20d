import assert from "node:assert/strict";
import { test } from "node:test";
import { insertTestSession, openTestBrowsers, startTestSite, waitFor } from "../testing.ts";

const CSV = { "content-type": "text/csv", "content-disposition": "attachment; filename=report.csv" };

test("downloads whose server stops sending fail with a reason, and allow further downloads", async (t) => {
  const site = await startTestSite((request, response) => {
    if (request.url === "/stalls") return void response.writeHead(200, CSV).write("a,b");
    if (request.url === "/whole") return void response.writeHead(200, CSV).end("a,b");
    const links = ["stalls", "stalls", "stalls", "whole"].map((path) => `<a href=/${path}>${path}</a>`);
    response.writeHead(200, { "content-type": "text/html" }).end(links.join(" "));
  });
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`], { downloadTimeoutMs: 1_500 });
  t.after(async () => {
    await harness.close();
    await site.close();
  });
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
  const live = await harness.browsers.ensure(sessionId);
  const page = live.page();
  // The downloads start in separate frames, because a new navigation of one frame would cancel the previous one.
  await page.evaluate(() => {
    for (const path of ["/stalls", "/stalls", "/stalls"]) {
      const frame = document.createElement("iframe");
      frame.src = path;
      document.body.append(frame);
    }
  });
  await waitFor(() => live.pendingDownloads() === 3, "three downloads in progress");
  await page.getByText("whole").click();
  const readDownloads = () =>
    live.activity.since(0).flatMap((entry) => (entry.kind === "download" ? [entry.download] : []));
  await waitFor(() => readDownloads().length === 4, "all four to end");
  const reasons = readDownloads().map(({ failure }) => failure);
  assert.deepEqual(reasons.toSorted(), [
    "3 other downloads were in progress",
    ...Array.from({ length: 3 }, () => "it was not complete after 1.5 s"),
  ]);
  await page.getByText("whole").click();
  await waitFor(() => harness.downloads.length === 1, "the download");
  assert.deepEqual(harness.downloads, [{ sessionId, name: "report.csv", text: "a,b" }]);
  await waitFor(() => live.pendingDownloads() === 0, "room for others");
});

test("a page that downloads its own data in a loop has at most three downloads at a time; the others fail", async (t) => {
  const site = await startTestSite((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Loop</title>");
  });
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`], {
    // Simulates a slow workspace.
    storeDownload: () => new Promise((resolve) => setTimeout(resolve, 1_000, "downloads/made.txt")),
  });
  t.after(async () => {
    await harness.close();
    await site.close();
  });
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
  const live = await harness.browsers.ensure(sessionId);
  await live.page().evaluate(async () => {
    for (let count = 0; count < 8; count += 1) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([`made ${count}`]));
      link.download = "made.txt";
      link.click();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const readFailures = () =>
    live.activity
      .since(0)
      .flatMap((entry) => (entry.kind === "download" ? [entry.download.failure ?? "stored"] : []));
  await waitFor(() => readFailures().length === 8, "all eight to end");
  assert.ok(readFailures().includes("3 other downloads were in progress"), readFailures().join());
  assert.ok(readFailures().includes("stored"));
  await waitFor(() => live.pendingDownloads() === 0, "room for others");
});
