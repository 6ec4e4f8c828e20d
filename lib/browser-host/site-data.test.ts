import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browserHosts, siteData } from "#db/schema/index.ts";
import { readBrowser } from "#lib/browser/store/browser-store.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { endListener, openTestHosts, type TestHosts, type TestProcess } from "./testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
let first: TestProcess;

before(async () => {
  site = await startTestSite((_request, response) => {
    response.writeHead(200, { "content-type": "text/html", "set-cookie": "login=yes; Path=/" });
    response.end("<title>Site</title><h1>Site</h1>");
  });
  hosts = await openTestHosts([`127.0.0.1:${site.port}`]);
  first = await hosts.open();
});
after(async () => {
  await hosts?.close();
  await site?.close();
});

const at = (path: string) => `${site.origin}${path}`;

test("logins outlive a host that was killed, and the agent and people are told", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, at("/login"));
  const script = "await page.evaluate(() => localStorage.setItem('token', 't-1'))";
  await first.use(sessionId, "browser_execute", { script });
  await waitFor(
    async () =>
      (await hosts.db.select().from(siteData).where(eq(siteData.sessionId, sessionId))).length === 2,
    "the stored site data",
  );
  const { hostId } = (await readBrowser(hosts.db, sessionId)) ?? assert.fail("no record");
  const [host] = await hosts.db
    .select()
    .from(browserHosts)
    .where(eq(browserHosts.id, hostId ?? ""));
  await endListener(host?.url ?? "", "SIGKILL");
  await waitFor(
    async () => (await first.service.readStatus(sessionId)).status === "expired",
    "the end of the browser in the record",
  );
  const look = "return page.evaluate(() => [document.cookie, localStorage.getItem('token')])";
  const result = await first.use(sessionId, "browser_execute", { script: look });
  assert.match(
    result,
    /^The browser was restarted and shows "\S+\/login" now; logins were restored, and what was/,
  );
  assert.match(result, /login=yes[\s\S]*t-1/);
  const again = await first.use(sessionId, "browser_execute", { script: look });
  assert.doesNotMatch(again, /restarted/);
  const { restartNotice } = await first.service.readStatus(sessionId);
  assert.match(restartNotice ?? "", /^The browser was restarted: logins were restored\./);
});
