import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { requests, runs } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let harnesses: TestBrowsers[] = [];

before(async () => {
  database = await openTestDatabase();
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${request.url}</title>`);
  });
});
afterEach(async () => {
  for (const harness of harnesses) await harness.close();
  harnesses = [];
});
after(async () => {
  await site.close();
  await database.close();
});

async function openHarness(over: Parameters<typeof openTestBrowsers>[1] = {}): Promise<TestBrowsers> {
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`], { maxLive: 1, ...over }, database.db);
  harnesses.push(harness);
  return harness;
}

/** Creates a session with an open turn. */
async function insertSessionInTurn({ db }: TestBrowsers): Promise<string> {
  const sessionId = await insertTestSession(db);
  const about = { sessionId, origin: "person" } as const;
  const requestId = `req_${sessionId}`;
  await db.insert(requests).values({ ...about, id: requestId, position: 1, mode: "queue", bodyHash: "none" });
  await db.insert(runs).values({ ...about, id: `run_${sessionId}`, requestId, attempt: 1, state: "running" });
  return sessionId;
}

const endTurn = ({ db }: TestBrowsers, sessionId: string) =>
  db.update(runs).set({ state: "succeeded", endedAt: new Date() }).where(eq(runs.sessionId, sessionId));

async function readPositions({ log }: TestBrowsers, sessionId: string): Promise<number[]> {
  const stored = await log.read(sessionId, { after: 0, limit: 1_000 });
  const events = stored.map(({ body }) => JSON.parse(body) as DomainEvent);
  return events.flatMap((event) => (event.kind === "browser.waiting" ? [event.position] : []));
}

const statusIs = ({ browsers }: TestBrowsers, sessionId: string, status: string) =>
  waitFor(async () => (await browsers.readStatus(sessionId)).status === status, `status ${status}`);

const hasPosition = (harness: TestBrowsers, sessionId: string, position: number) =>
  waitFor(
    async () => (await readPositions(harness, sessionId)).at(-1) === position,
    `${sessionId} to hear of position ${position}`,
  );

test("a session without a free place waits as `creating`, gets its position, and then a place in order of arrival", async () => {
  const harness = await openHarness();
  const [first, second, third] = await Promise.all([0, 1, 2].map(() => insertSessionInTurn(harness)));
  assert.ok(first && second && third);
  const release = await harness.browsers.hold(first);
  const order: string[] = [];
  const hold = (sessionId: string) =>
    harness.browsers.hold(sessionId).then((give) => {
      order.push(sessionId);
      return give;
    });
  const holdingSecond = hold(second);
  await hasPosition(harness, second, 1);
  const holdingThird = hold(third);
  await hasPosition(harness, third, 2);
  assert.equal((await harness.browsers.readStatus(second)).status, "creating");
  assert.equal((await harness.browsers.readStatus(third)).status, "creating");
  assert.equal(harness.browsers.describe().live, 1);

  release();
  await endTurn(harness, first);
  const releaseSecond = await holdingSecond;
  await statusIs(harness, first, "expired");
  await hasPosition(harness, third, 1);
  releaseSecond();
  await endTurn(harness, second);
  (await holdingThird)();
  assert.deepEqual(order, [second, third]);
  assert.deepEqual(await readPositions(harness, second), [1]);
  assert.deepEqual(await readPositions(harness, third), [2, 1]);
});

test("a browser that a tool call uses or a person watches is never ended for another session", async () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const harness = await openHarness({ maxLive: 2, clockMs: () => now });
  const [used, watched, waiting] = await Promise.all([0, 1, 2].map(() => insertTestSession(harness.db)));
  assert.ok(used && watched && waiting);
  const release = await harness.browsers.hold(used);
  await harness.browsers.ensure(watched);
  const stop = harness.browsers.watch(watched, { onFrame() {} });
  now = Date.parse("2026-01-01T01:00:00Z");
  const holding = harness.browsers.hold(waiting);
  await hasPosition(harness, waiting, 1);
  assert.equal(await harness.browsers.reapIdle(), 0);
  assert.equal((await harness.browsers.readStatus(used)).status, "ready");
  assert.equal((await harness.browsers.readStatus(watched)).status, "ready");
  stop();
  (await holding)();
  assert.equal((await harness.browsers.readStatus(used)).status, "ready");
  await statusIs(harness, watched, "expired");
  release();
});

test("the browser of a parked turn keeps running until another session needs the place", async () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const harness = await openHarness({ clockMs: () => now });
  const [parked, waiting] = await Promise.all([insertSessionInTurn(harness), insertTestSession(harness.db)]);
  (await harness.browsers.hold(parked))();
  await harness.db
    .update(runs)
    .set({ parkedAt: new Date(now) })
    .where(eq(runs.sessionId, parked));
  now = Date.parse("2026-01-08T00:00:00Z");
  assert.equal(await harness.browsers.reapIdle(), 0);
  assert.equal((await harness.browsers.readStatus(parked)).status, "ready");
  // The browser of a parked turn is ended for a waiting session even if it was used just now.
  (await harness.browsers.hold(parked))();
  (await harness.browsers.hold(waiting))();
  await statusIs(harness, parked, "expired");
});

test("a turn keeps its browser until it has not used it for 30 s", async () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const harness = await openHarness({ clockMs: () => now });
  const [busy, waiting] = await Promise.all([insertSessionInTurn(harness), insertTestSession(harness.db)]);
  (await harness.browsers.hold(busy))();
  const holding = harness.browsers.hold(waiting);
  await hasPosition(harness, waiting, 1);
  assert.equal((await harness.browsers.readStatus(busy)).status, "ready");
  now = Date.parse("2026-01-01T00:00:31Z");
  (await holding)();
  await statusIs(harness, busy, "expired");
});

test("a stopped call leaves the queue, and its session may wait again", async () => {
  const harness = await openHarness();
  const [first, second] = await Promise.all([0, 1].map(() => insertSessionInTurn(harness)));
  assert.ok(first && second);
  const release = await harness.browsers.hold(first);
  const stop = new AbortController();
  const waiting = harness.browsers.hold(second, stop.signal);
  await hasPosition(harness, second, 1);
  stop.abort(new Error("the turn was stopped"));
  await assert.rejects(waiting, /the turn was stopped/);
  await statusIs(harness, second, "expired");
  assert.equal((await harness.browsers.readStatus(second)).lastError, null);

  const again = harness.browsers.hold(second);
  await waitFor(async () => (await readPositions(harness, second)).length === 2, "the second wait");
  release();
  await endTurn(harness, first);
  (await again)();
});

test("a call that stops waiting does not cost its session's other calls their position", async () => {
  const harness = await openHarness();
  const [first, second] = await Promise.all([0, 1].map(() => insertSessionInTurn(harness)));
  assert.ok(first && second);
  const release = await harness.browsers.hold(first);
  const stop = new AbortController();
  const stopped = harness.browsers.hold(second, stop.signal);
  const other = harness.browsers.hold(second);
  await hasPosition(harness, second, 1);
  stop.abort(new Error("stopped"));
  await assert.rejects(stopped, /stopped/);
  assert.equal((await harness.browsers.readStatus(second)).status, "creating");
  release();
  await endTurn(harness, first);
  (await other)();
});

test("a removed session leaves the queue", async () => {
  const harness = await openHarness();
  const [first, second, third] = await Promise.all([0, 1, 2].map(() => insertSessionInTurn(harness)));
  assert.ok(first && second && third);
  await harness.browsers.hold(first);
  const waiting = assert.rejects(harness.browsers.hold(second), /ended while the session waited/);
  await hasPosition(harness, second, 1);
  void harness.browsers.hold(third).catch(() => {});
  await hasPosition(harness, third, 2);
  await harness.browsers.closeSession(second);
  await waiting;
  await hasPosition(harness, third, 1);
});

test("after BROWSER_WAIT_MS a tool call and a navigation fail with a sentence", async () => {
  const harness = await openHarness({ waitMs: 300 });
  const [first, second, third] = await Promise.all([0, 1, 2].map(() => insertSessionInTurn(harness)));
  assert.ok(first && second && third);
  await harness.browsers.hold(first);
  const sentence =
    /^no browser became free within 0\.3 s: all 1 are in use \(BROWSER_MAX_LIVE\); try again later$/;
  await assert.rejects(harness.browsers.hold(second), { message: sentence });
  await statusIs(harness, second, "error");
  await harness.browsers.retarget(third, `${site.origin}/page`);
  await statusIs(harness, third, "error");
  assert.match((await harness.browsers.readStatus(third)).lastError ?? "", sentence);
});

test("a retarget waits for its place, too, and lands", async () => {
  const harness = await openHarness();
  const [first, second] = await Promise.all([insertSessionInTurn(harness), insertTestSession(harness.db)]);
  const release = await harness.browsers.hold(first);
  await harness.browsers.retarget(second, `${site.origin}/wanted`);
  await hasPosition(harness, second, 1);
  release();
  await endTurn(harness, first);
  await waitFor(
    async () => (await harness.browsers.readStatus(second)).lastNavigatedUrl === `${site.origin}/wanted`,
    "the page to be reached",
  );
});

test("a person's request for the live page is answered while the session waits, and when no browser can start", async () => {
  const harness = await openHarness();
  const [first, second] = await Promise.all([insertSessionInTurn(harness), insertTestSession(harness.db)]);
  const release = await harness.browsers.hold(first);
  assert.deepEqual(await harness.browsers.open(second), { state: "waiting" });
  assert.deepEqual(await harness.browsers.history(second, "reload"), { state: "waiting" });
  release();
  await endTurn(harness, first);
  await statusIs(harness, second, "ready");
  assert.deepEqual(await harness.browsers.open(second), { state: "ready" });

  const broken = await openHarness({ launch: { executablePath: "/bin/false" } });
  const opening = await broken.browsers.open(await insertTestSession(broken.db));
  assert.equal(opening.state, "failed");
  assert.match(opening.state === "failed" ? opening.reason : "", /the browser ended at its start/);
});

test("a viewer starts a browser only while a turn is open and a place is free", async () => {
  const harness = await openHarness();
  const [finished, inTurn, other] = await Promise.all([
    insertTestSession(harness.db),
    insertSessionInTurn(harness),
    insertSessionInTurn(harness),
  ]);
  const stops = [finished, inTurn].map((sessionId) => harness.browsers.watch(sessionId, { onFrame() {} }));
  await statusIs(harness, inTurn, "ready");
  stops.push(harness.browsers.watch(other, { onFrame() {} }));
  const status = async (sessionId: string) => (await harness.browsers.readStatus(sessionId)).status;
  assert.deepEqual(await Promise.all([finished, inTurn, other].map(status)), ["idle", "ready", "idle"]);
  for (const stop of stops) stop();
});

test("a session's last picture survives its browser and a restart, and is removed with the session", async () => {
  const harness = await openHarness();
  const [first, second] = await Promise.all([insertTestSession(harness.db), insertTestSession(harness.db)]);
  assert.equal(await harness.browsers.readPicture(first), undefined);
  await harness.browsers.navigate(first, `${site.origin}/page`);
  (await harness.browsers.hold(second))();
  await statusIs(harness, first, "expired");
  const restarted = await harness.restart();
  const picture = await restarted.readPicture(first);
  assert.deepEqual([...(picture?.bytes.subarray(0, 2) ?? [])], [0xff, 0xd8]);
  const times = await restarted.readPictureTimes([first, second]);
  assert.deepEqual([...times], [[first, picture?.takenAt]], "an empty page has no picture");
  const lastStatus = async (sessionId: string) =>
    (await harness.log.read(sessionId, { after: 0, limit: 100 })).map(({ body }) => JSON.parse(body)).at(-1);
  const shown = { kind: "browser.status", status: "expired" };
  assert.partialDeepStrictEqual(await lastStatus(first), {
    ...shown,
    pictureTakenAt: picture?.takenAt.toISOString(),
  });
  assert.partialDeepStrictEqual(await lastStatus(second), { ...shown, pictureTakenAt: null });
});

test("a picture is stored once the page is unused, so that a crash does not lose it", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/page`);
  (await harness.browsers.hold(sessionId))();
  await waitFor(() => harness.browsers.readPicture(sessionId), "the picture");
  assert.equal((await harness.browsers.readStatus(sessionId)).status, "ready");
});

test("leasing a place fails after `waitMs` without a free place, and the caller leaves the queue", async () => {
  const harness = await openHarness({ waitMs: 3_000 });
  const holder = await insertSessionInTurn(harness);
  const release = await harness.browsers.hold(holder);
  await assert.rejects(
    harness.browsers.lease(new AbortController().signal),
    /^Error: no browser became free within 3 s: all 1 are in use \(BROWSER_MAX_LIVE\)/,
  );
  release();
  await endTurn(harness, holder);
  const lease = await harness.browsers.lease(new AbortController().signal);
  await lease.release();
});
