import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { insertTestSession, openTestBrowsers, startTestSite, type TestBrowsers } from "../testing.ts";

/**
 * JavaScript that blocks the page for 500 ms. During this time, the test starts a navigation. The dialog then opens
 * when the browser is about to show the next page.
 */
const BUSY = "for (const end = Date.now() + 500; Date.now() < end; );";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;

before(async () => {
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>${request.url}</title><input id=field>`);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`], {
    navigationTimeoutMs: 10_000,
  });
});
after(async () => {
  await harness.close();
  await site.close();
});

for (const opening of ["alert('hello')", "confirm('sure?')", "prompt('name?')"]) {
  for (const host of ["127.0.0.1", "localhost"]) {
    test(`${opening} during a navigation does not prevent it from reaching a page of ${host}`, async () => {
      const sessionId = await insertTestSession(harness.db);
      const { browsers } = harness;
      await browsers.navigate(sessionId, `http://127.0.0.1:${site.port}/first`);
      const page = (await browsers.ensure(sessionId)).page();
      await page.evaluate(`void setTimeout(() => { ${BUSY} ${opening}; })`);
      const next = `http://${host}:${site.port}/next`;
      assert.deepEqual(await browsers.navigate(sessionId, next), { landed: true, url: next });
      assert.equal(await page.title(), "/next");
      await page.fill("#field", "typed", { timeout: 5_000 });
      await browsers.closeSession(sessionId);
    });
  }
}
