import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { browserHosts } from "#db/schema/index.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { listenForLinks } from "#lib/host-link/listen-for-links.ts";
import { openLink } from "#lib/host-link/open-link.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import { createHost } from "./host/create-host.ts";
import type { HostCalls, ServiceCalls } from "./host-calls.ts";
import { openTestHosts, TEST_HOST_TOKEN, type TestHosts } from "./testing.ts";

// A host ends while the service is about to use it.

let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
/** The number of requests of the page `/held`, of which the first is never answered. */
let held = 0;

before(async () => {
  site = await startTestSite(({ url }, response) => {
    if (url === "/held" && ++held === 1) return;
    response.setHeader("content-type", "text/html").end("<title>Shop</title><h1>Shop</h1>");
  });
  hosts = await openTestHosts(["127.0.0.1"]);
});
after(async () => {
  await hosts?.close();
  await site?.close();
});

async function killHosts(): Promise<void> {
  for (const { id, url } of await hosts.db.select().from(browserHosts)) {
    process.kill(await hosts.findHostProcess(id), "SIGKILL");
    await waitFor(() => isRefused(url), "the end of the host");
  }
}

/** Whether nothing listens at a URL on loopback. A process that is being ended still resets connections. */
const isRefused = (url: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });

test("a page that a client has requested is opened at another host if the first one is killed meanwhile", async () => {
  const { service, close } = await hosts.open();
  const sessionId = await insertTestSession(hosts.db);
  await service.navigate(sessionId, `${site.origin}/shop`);
  const url = `${site.origin}/held`;
  await service.retarget(sessionId, url);
  await waitFor(() => held === 1, "the request of the page");
  await killHosts();
  await waitFor(async () => {
    const { status, lastNavigatedUrl } = await service.readStatus(sessionId);
    return status === "ready" && lastNavigatedUrl === url;
  }, "the page at another host");
  await close(true);
});

test("a browser starts at another host if the recorded one turns out to have ended", async () => {
  const other = await hosts.open();
  const first = await hosts.open();
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, `${site.origin}/shop`);
  await first.close(false);
  await killHosts();
  assert.deepEqual(await other.service.open(sessionId), { state: "ready" });
  await other.close(true);
});

test("a host that is about to end is not attached", async () => {
  const logger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
  const host = createHost({
    id: "bh_ending",
    launch: {},
    dataDir: hosts.dataDir,
    maxLive: 1,
    lingerMs: 0,
    isRemote: false,
    scripts: await createScriptRunner({ logger, isWarm: false, isUnconfinedAllowed: true }),
    logger,
    onIdle() {},
    onLost() {},
  });
  const listener = await listenForLinks({
    address: { host: "127.0.0.1", port: 0 },
    token: TEST_HOST_TOKEN,
    identity: { id: "bh_ending", places: 1 },
    onSocket: host.accept,
    onOtherVersion() {},
  });
  await host.close();
  const endpoint = { url: `ws://127.0.0.1:${listener.port}`, token: TEST_HOST_TOKEN };
  // The cast is safe: a host that refuses a process calls nothing of it.
  const link = await openLink<HostCalls, ServiceCalls>(endpoint, {} as never, logger);
  const settings = {
    allow: [],
    ownOrigin: { origin: "http://127.0.0.1:1", publicOrigins: [] },
    idleMs: 1_000,
    waitMs: 1_000,
    keepSpare: false,
    webdriver: true,
    scriptOrigin: "http://127.0.0.1:1",
  };
  await assert.rejects(link.call("attach", settings), {
    name: "LinkEndedError",
    message: "the browser host ends",
  });
  link.close("the test ends");
  await listener.close();
});
