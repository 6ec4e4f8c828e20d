import assert from "node:assert/strict";
import { test } from "node:test";
import { insertTestSession, openTestBrowsers, startTestSite, waitFor } from "../testing.ts";

test("a page that opens windows endlessly gets eight pages at most, and the session stays usable", async (t) => {
  const site = await startTestSite((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<title>Popups</title>");
  });
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`]);
  t.after(async () => {
    await harness.close();
    await site.close();
  });
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
  const live = await harness.browsers.ensure(sessionId);
  let opened = 0;
  live.context.on("page", () => {
    opened += 1;
  });
  await live.page().evaluate(() => {
    for (let count = 0; count < 10; count += 1) open("about:blank");
  });
  await waitFor(() => opened === 10 && live.context.pages().length === 8, "the windows to be eight");
  const { landed } = await harness.browsers.navigate(sessionId, `${site.origin}/after`);
  assert.equal(landed, true);
});
