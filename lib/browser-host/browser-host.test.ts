import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browserHosts } from "#db/schema/index.ts";
import { listAlive, listDescendants } from "#e2e/crash/processes.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { openTestHosts, type TestHosts, type TestProcess } from "./testing.ts";

let loads = 0;
let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
let first: TestProcess;

before(async () => {
  site = await startTestSite((request, response) => {
    if (request.url === "/form") loads += 1;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Form</title><h1>Form</h1><input id=name aria-label=Name><p id=out></p>
      <script>name.oninput = () => {}; document.title = "Form " + (1 + Number(sessionStorage.n ?? 0));</script>`);
  });
  hosts = await openTestHosts(["127.0.0.1"]);
  first = await hosts.open();
});
after(async () => {
  await hosts?.close();
  await site?.close();
});

const at = (path: string) => `${site.origin}${path}`;

test("a host is started with the first browser; tools, scripts, helpers and pictures work through it", async () => {
  assert.deepEqual(await hosts.db.select().from(browserHosts), []);
  const sessionId = await insertTestSession(hosts.db);
  assert.deepEqual(await first.service.navigate(sessionId, at("/form")), { landed: true, url: at("/form") });
  assert.match(await first.use(sessionId, "dom_query", {}), /textbox "Name"/);
  const script = "await page.fill('#name', 'Ada'); return [await page.greet('Ada'), page.url()];";
  assert.match(await first.use(sessionId, "browser_execute", { script }), /hello Ada/);
  assert.match(await first.use(sessionId, "screenshot", {}), /Evidence [\s\S]*\[image\]/);
  const status = await first.service.readStatus(sessionId);
  assert.deepEqual([status.status, status.currentUrl], ["ready", at("/form")]);
  const [host] = await hosts.db.select().from(browserHosts);
  assert.equal(host?.home, "local");
});

test("a second process works on the same page, and a page stays while no process is connected", async () => {
  const sessionId = await insertTestSession(hosts.db);
  loads = 0;
  await first.service.navigate(sessionId, at("/form"));
  await first.use(sessionId, "browser_execute", { script: "await page.fill('#name', 'half')" });
  const second = await hosts.open();
  assert.match(
    await second.use(sessionId, "browser_execute", { script: "return page.inputValue('#name')" }),
    /half/,
  );
  await Promise.all([first.close(false), second.close(false)]);
  first = await hosts.open();
  assert.match(
    await first.use(sessionId, "browser_execute", { script: "return page.inputValue('#name')" }),
    /half/,
  );
  assert.equal(loads, 1);
});

test("frames reach viewers of every process", async () => {
  const sessionId = await insertTestSession(hosts.db);
  const second = await hosts.open();
  await first.service.navigate(sessionId, at("/form"));
  const frames = { first: 0, second: 0 };
  const stop = [
    first.service.watch(sessionId, { onFrame: () => (frames.first += 1) }),
    second.service.watch(sessionId, { onFrame: () => (frames.second += 1) }),
  ];
  await waitFor(() => frames.first > 0 && frames.second > 0, "frames at both processes");
  for (const each of stop) each();
  await second.close(false);
});

test("pages reach the demo of every process, and nothing else of any", async () => {
  const serve = () =>
    startTestSite((request, response) =>
      response.setHeader("content-type", "text/html").end(`<title>${request.url}</title>`),
    );
  const own = [await serve(), await serve()];
  const second = await hosts.open({ origin: own[0]?.origin });
  const third = await hosts.open({ origin: own[1]?.origin });
  const sessionId = await insertTestSession(hosts.db);
  for (const { origin } of own) {
    const demo = `${origin}/demo`;
    assert.deepEqual(await second.service.navigate(sessionId, demo), { landed: true, url: demo });
    const refused = await third.service.navigate(sessionId, `${origin}/api/health`);
    assert.match(refused.landed ? "landed" : refused.reason, /this service's own pages are not for/);
  }
  await Promise.all([second.close(false), third.close(false), ...own.map((each) => each.close())]);
});

test("a call that is repeated by a later epoch gets the first result, and an earlier epoch is refused", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, at("/form"));
  const script = "return page.evaluate(() => (window.runs = (window.runs ?? 0) + 1))";
  const about = { runId: "run_a", callId: "call_a" };
  assert.match(
    await first.use(sessionId, "browser_execute", { script }, { ...about, epoch: 1 }),
    /Result: 1/,
  );
  const second = await hosts.open();
  assert.match(
    await second.use(sessionId, "browser_execute", { script }, { ...about, epoch: 2 }),
    /Result: 1/,
  );
  await assert.rejects(
    first.use(sessionId, "browser_execute", { script }, { ...about, callId: "call_b", epoch: 1 }),
    /another process plays this run now/,
  );
  await second.close(false);
});

test("when the host is killed, its browsers expire at once, and the next use starts another host", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, at("/form"));
  const [host] = await hosts.db.select().from(browserHosts);
  assert.ok(host);
  const pid = await hosts.findHostProcess(host.id);
  const children = listDescendants(pid);
  assert.ok(children.some(({ name }) => /chrom/i.test(name)));
  process.kill(pid, "SIGKILL");
  await waitFor(
    async () => (await first.service.readStatus(sessionId)).status === "expired",
    "the end of the browser in the record",
  );
  assert.match(await first.use(sessionId, "dom_query", {}), /textbox "Name"/);
  const rows = await hosts.db.select().from(browserHosts).where(eq(browserHosts.id, host.id));
  assert.deepEqual(rows, []);
  await waitFor(() => listAlive(children).length === 0, "the end of the host's processes", 30_000);
});
