import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browserHosts, browsers } from "#db/schema/index.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { callOf } from "#lib/tools/browser/test-fixture.ts";
import {
  endListener,
  findListener,
  openTestHosts,
  TEST_HOST_TOKEN,
  type TestHosts,
  type TestProcess,
} from "./testing.ts";

/** `places-of-hosts.test.ts` has more sessions and places, without browsers. */
const SESSIONS = 6;
const PLACES = 1;

let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
let urls: string[];

before(async () => {
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${request.url}</title>`);
  });
  hosts = await openTestHosts([`127.0.0.1:${site.port}`]);
  urls = [await hosts.startRemote(PLACES), await hosts.startRemote(PLACES)];
});
after(async () => {
  await hosts?.close();
  await site?.close();
});

const openProcess = (known = urls) =>
  hosts.open({ waitMs: 600_000 }, { remote: { urls: known, token: TEST_HOST_TOKEN } });
const hold = ({ pages }: TestProcess, sessionId: string) => pages.hold(callOf(undefined, sessionId));

async function isWaiting(sessionId: string): Promise<boolean> {
  const [row] = await hosts.db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
  return row?.waitingSince != null;
}

test("the two hosts are known by their addresses, and none is started on this machine", async () => {
  const process = await openProcess();
  const rows = await hosts.db.select().from(browserHosts);
  assert.deepEqual(rows.map(({ home, url, places }) => [home, url, places]).sort(), [
    ...urls.map((url) => ["remote", url, PLACES]).sort(),
  ]);
  await process.close(true);
});

test(`${SESSIONS} sessions on two hosts of ${PLACES} places each get them in order of arrival; none is lost with a host`, async () => {
  const processes = [await openProcess(), await openProcess()];
  const processOf = (index: number) => processes[index % 2] as TestProcess;
  const arrived: string[] = [];
  const order: string[] = [];
  const releases = new Map<string, () => void>();
  const holding: Promise<void>[] = [];
  for (let index = 0; index < SESSIONS; index += 1) {
    const sessionId = await insertTestSession(hosts.db);
    arrived.push(sessionId);
    holding.push(
      hold(processOf(index), sessionId).then((release) => {
        order.push(sessionId);
        releases.set(sessionId, release);
      }),
    );
    await waitFor(() => (index < 2 * PLACES ? order.length > index : isWaiting(sessionId)), "the arrival");
  }
  const listHeld = () => hosts.db.select().from(browsers).where(eq(browsers.status, "ready"));
  const countOf = (rows: { hostId: string | null }[]) =>
    Object.values(Object.groupBy(rows, ({ hostId }) => hostId ?? "")).map((each) => each?.length);
  assert.deepEqual(countOf(await listHeld()), [PLACES, PLACES]);

  /** Gives the place of each session that has one to the next, until `count` sessions have had one. */
  async function proceed(count: number): Promise<void> {
    while (order.length < count) {
      const [next] = releases;
      if (next) {
        releases.delete(next[0]);
        next[1]();
      }
      const before = order.length;
      await waitFor(() => order.length > before, `session ${before + 1} of ${SESSIONS}`);
    }
  }
  await proceed(SESSIONS / 2);
  assert.deepEqual(order, arrived.slice(0, SESSIONS / 2));

  const [killed] = await hosts.db
    .select()
    .from(browserHosts)
    .where(eq(browserHosts.url, urls[0] ?? ""));
  assert.ok(killed);
  for (const { sessionId, hostId } of await listHeld()) if (hostId === killed.id) releases.delete(sessionId);
  await endListener(killed.url, "SIGKILL");
  // As if the lease had ended long ago.
  const leaseUntil = new Date(Date.now() - 60_000);
  await hosts.db.update(browserHosts).set({ leaseUntil }).where(eq(browserHosts.id, killed.id));
  await proceed(SESSIONS);
  await Promise.all(holding);
  assert.deepEqual(order, arrived);
  await Promise.all(processes.map((each) => each.close(true)));
});

test("a host that has started again at its address is another host, and what ran in the earlier one is lost at once", async () => {
  const [url = ""] = urls.slice(1);
  const process = await openProcess([url]);
  const sessionId = await insertTestSession(hosts.db);
  await process.service.navigate(sessionId, `${site.origin}/page`);
  const [before] = await hosts.db.select().from(browserHosts).where(eq(browserHosts.url, url));
  await endListener(url, "SIGKILL");
  await hosts.startRemote(PLACES, Number(new URL(url).port));
  await waitFor(
    async () => (await process.service.readStatus(sessionId)).status === "expired",
    "the end of the browser in the record",
  );
  const [now] = await hosts.db.select().from(browserHosts).where(eq(browserHosts.url, url));
  assert.notEqual(now?.id, before?.id);
  assert.match(await process.use(sessionId, "dom_query", {}), /page/);
  assert.deepEqual(process.warnings.filter((text) => text.includes("BROWSER_HOSTS")).length <= 1, true);
  await process.close(true);
});

test("hosts that cannot be used are named with the reason, and a retarget fails with a sentence", async () => {
  const own = await openTestHosts([`127.0.0.1:${site.port}`]);
  try {
    const remote = { urls: [urls[1] ?? "", "ws://127.0.0.1:1"], token: "x".repeat(32) };
    const { service } = await own.open({}, { remote });
    assert.match(
      service.describe().detail,
      /0 of 2 browser hosts of BROWSER_HOSTS can be used; 127\.0\.0\.1:\d+: it refuses the token: BROWSER_HOST_TOKEN .*; 127\.0\.0\.1:1: nothing listens there$/,
    );
    const sessionId = await insertTestSession(own.db);
    await service.retarget(sessionId, `${site.origin}/page`);
    const { lastError } = await waitFor(async () => {
      const record = await service.readStatus(sessionId);
      return record.lastError !== null && record;
    }, "the reason");
    assert.equal(lastError, "No browser host answers now; try again in a few seconds.");
  } finally {
    await own.close();
  }
});

test("a host whose connection ends meanwhile does not keep a session's browser from being closed", async () => {
  const two = [await hosts.startRemote(PLACES), await hosts.startRemote(PLACES)];
  const process = await openProcess(two);
  const sessionId = await insertTestSession(hosts.db);
  await process.service.navigate(sessionId, `${site.origin}/page`);
  const [{ url = "" } = {}] = await hosts.db
    .select({ url: browserHosts.url })
    .from(browserHosts)
    .innerJoin(browsers, eq(browsers.hostId, browserHosts.id))
    .where(eq(browsers.sessionId, sessionId));
  const other = two.find((each) => each !== url) ?? "";
  const pid = await findListener(other);
  assert.ok(pid);
  // It does not answer, and its connection ends while the call waits.
  globalThis.process.kill(pid, "SIGSTOP");
  const closing = process.service.closeSession(sessionId);
  await waitFor(
    async () => (await process.service.readStatus(sessionId)).status === "expired",
    "the end of the browser",
  );
  const reaping = process.service.reapIdle();
  await endListener(other, "SIGKILL");
  await Promise.all([closing, reaping]);
  await process.close(true);
});
