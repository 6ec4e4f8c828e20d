import assert from "node:assert/strict";
import { test } from "node:test";
import { insertTestSession, openTestBrowsers, startTestSite, waitFor } from "../testing.ts";

const CSV = { "content-type": "text/csv", "content-disposition": "attachment; filename=report.csv" };

test("downloads that stop in the middle end with a reason, and make room for others", async (t) => {
  const site = await startTestSite((request, response) => {
    if (request.url === "/stalls") return void response.writeHead(200, CSV).write("a,b");
    if (request.url === "/whole") return void response.writeHead(200, CSV).end("a,b");
    const links = ["stalls", "stalls", "stalls", "whole"].map((path) => `<a href=/${path}>${path}</a>`);
    response.writeHead(200, { "content-type": "text/html" }).end(links.join(" "));
  });
  const house = await openTestBrowsers([`127.0.0.1:${site.port}`], { downloadTimeoutMs: 1_500 });
  t.after(async () => {
    await house.close();
    await site.close();
  });
  const sessionId = await insertTestSession(house.db);
  await house.browsers.navigate(sessionId, `${site.origin}/`);
  const live = await house.browsers.ensure(sessionId);
  const page = live.page();
  // Frames of their own, because a new navigation of the page would end the one before it.
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
  await waitFor(() => house.downloads.length === 1, "the download");
  assert.deepEqual(house.downloads, [{ sessionId, name: "report.csv", text: "a,b" }]);
  await waitFor(() => live.pendingDownloads() === 0, "room for others");
});
