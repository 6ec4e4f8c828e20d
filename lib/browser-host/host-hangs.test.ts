import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eq, sql } from "drizzle-orm";
import { browserHosts, browsers } from "#db/schema/index.ts";
import { listAlive, listDescendants } from "#e2e/crash/processes.ts";
import { startLinkRelay } from "#e2e/fixtures/start-link-relay.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { LEASE_MS } from "./service/host-store.ts";
import { findListener, openTestHosts, TEST_HOST_TOKEN, type TestHosts, type TestProcess } from "./testing.ts";

// A host that is stopped or cut off does not notice that it counts as lost. Each test has a host of its own.

let site: Awaited<ReturnType<typeof startTestSite>>;
/** Requests of pages, with their query. */
const clicks: string[] = [];
const all: TestHosts[] = [];

before(async () => {
  site = await startTestSite(({ url = "" }, response) => {
    if (url.startsWith("/click")) clicks.push(url);
    response.setHeader("content-type", "text/html").end("<title>Shop</title><h1>Shop</h1>");
  });
});
after(async () => {
  await Promise.all(all.map((hosts) => hosts.close()));
  await site.close();
});

const countOf = (name: string) => clicks.filter((each) => each === `/click?${name}`).length;
const clickAlways = (name: string) =>
  `for (;;) { await page.evaluate(() => fetch('/click?${name}').then(() => {})); await page.waitForTimeout(100); }`;

async function open(): Promise<TestHosts> {
  const hosts = await openTestHosts(["127.0.0.1"]);
  all.push(hosts);
  return hosts;
}

/** Opens a page, and starts a script of a run that clicks until it is ended. */
async function startClicking(hosts: TestHosts, process: TestProcess, name: string) {
  const sessionId = await insertTestSession(hosts.db);
  await process.service.navigate(sessionId, `${site.origin}/`);
  const call = { runId: `run_${name}`, callId: `call_${name}`, epoch: 1 };
  const input = { script: clickAlways(name), timeoutMs: 120_000 };
  const ended = process.use(sessionId, "browser_execute", input, call).catch((error: Error) => error.message);
  await waitFor(() => countOf(name) > 1, "the script to click");
  return { sessionId, ended };
}

/** Lets the lease of the session's host end long ago, and waits until the session's next call has another host. */
async function takeOver({ db }: TestHosts, process: TestProcess, sessionId: string): Promise<void> {
  const [before] = await db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
  assert.ok(before?.hostId);
  await db.update(browserHosts).set({ leaseUntil: sql`now() - interval '20 seconds'` });
  await waitFor(
    () =>
      process
        .use(sessionId, "dom_query", {})
        .then((text) => /Shop/.test(text))
        .catch(() => false),
    "the page at another host",
  );
  const [row] = await db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
  assert.notEqual(row?.hostId, before.hostId);
}

describe("a lost host", { concurrency: true }, () => {
  test("that was stopped clicks no more when it continues, and its Chromium ends", async () => {
    const hosts = await open();
    const service = await hosts.open();
    const { sessionId } = await startClicking(hosts, service, "stopped");
    const [host] = await hosts.db.select().from(browserHosts);
    assert.ok(host);
    const pid = await hosts.findHostProcess(host.id);
    const children = listDescendants(pid);
    process.kill(pid, "SIGSTOP");
    const stoppedAtMs = performance.now();
    await takeOver(hosts, service, sessionId);
    const before = countOf("stopped");
    // The lease that the host itself knows has ended, too.
    await waitFor(() => performance.now() - stoppedAtMs > LEASE_MS, "the end of the lease");
    process.kill(pid, "SIGCONT");
    await waitFor(() => listAlive(children).length === 0, "the end of the old Chromium and script");
    assert.ok(countOf("stopped") <= before + 1, "at most the request that was on its way arrives");
    const [row] = await hosts.db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
    assert.equal(row?.status, "ready");
  });

  test("that was cut off from the service ends its scripts", async () => {
    const hosts = await open();
    const starter = await hosts.open();
    await starter.service.navigate(await insertTestSession(hosts.db), `${site.origin}/`);
    const [host] = await hosts.db.select().from(browserHosts);
    assert.ok(host);
    const relay = await startLinkRelay(host.url);
    await hosts.db.update(browserHosts).set({ url: relay.url });
    const service = await hosts.open();
    await starter.close(false);
    const { sessionId, ended } = await startClicking(hosts, service, "cut");
    const pid = await hosts.findHostProcess(host.id);
    relay.cut();
    assert.match(await ended, /connection to the browser ended while the call ran/);
    await takeOver(hosts, service, sessionId);
    // The host itself ends the script, although its process and the page go on.
    await waitFor(async () => {
      const before = countOf("cut");
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return countOf("cut") === before;
    }, "the end of the clicks");
    process.kill(pid, 0);
    await relay.close();
  });
});

test("a host that hangs gets no new session, although it has the lowest load", async () => {
  const hosts = await open();
  const urls = [await hosts.startRemote(2), await hosts.startRemote(2)];
  const service = await hosts.open({}, { remote: { urls, token: TEST_HOST_TOKEN } });
  const navigate = async () => {
    const sessionId = await insertTestSession(hosts.db);
    const outcome = await service.service.navigate(sessionId, `${site.origin}/`);
    const [row] = await hosts.db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
    return { landed: outcome.landed, hostId: row?.hostId };
  };
  const { hostId } = await navigate();
  const hanging = (await hosts.db.select().from(browserHosts)).find(({ id }) => id !== hostId);
  const pid = await findListener(hanging?.url ?? "");
  assert.ok(pid);
  process.kill(pid, "SIGSTOP");
  try {
    assert.deepEqual(await navigate(), { landed: true, hostId });
  } finally {
    process.kill(pid, "SIGCONT");
  }
});
