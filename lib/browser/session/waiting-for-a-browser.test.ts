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
let houses: TestBrowsers[] = [];

before(async () => {
  database = await openTestDatabase();
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${request.url}</title>`);
  });
});
afterEach(async () => {
  for (const house of houses) await house.close();
  houses = [];
});
after(async () => {
  await site.close();
  await database.close();
});

async function openHouse(over: Parameters<typeof openTestBrowsers>[1] = {}): Promise<TestBrowsers> {
  const house = await openTestBrowsers([`127.0.0.1:${site.port}`], { maxLive: 1, ...over }, database.db);
  houses.push(house);
  return house;
}

/** A session whose turn is open. */
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

const hasPosition = (house: TestBrowsers, sessionId: string, position: number) =>
  waitFor(
    async () => (await readPositions(house, sessionId)).at(-1) === position,
    `${sessionId} to hear of position ${position}`,
  );

test("who finds no place free waits as `creating`, hears its position, and gets a place in order of arrival", async () => {
  const house = await openHouse();
  const [first, second, third] = await Promise.all([0, 1, 2].map(() => insertSessionInTurn(house)));
  assert.ok(first && second && third);
  const release = await house.browsers.hold(first);
  const order: string[] = [];
  const hold = (sessionId: string) =>
    house.browsers.hold(sessionId).then((give) => {
      order.push(sessionId);
      return give;
    });
  const holdingSecond = hold(second);
  await hasPosition(house, second, 1);
  const holdingThird = hold(third);
  await hasPosition(house, third, 2);
  assert.equal((await house.browsers.readStatus(second)).status, "creating");
  assert.equal((await house.browsers.readStatus(third)).status, "creating");
  assert.equal(house.browsers.describe().live, 1);

  release();
  await endTurn(house, first);
  const releaseSecond = await holdingSecond;
  await statusIs(house, first, "expired");
  await hasPosition(house, third, 1);
  releaseSecond();
  await endTurn(house, second);
  (await holdingThird)();
  assert.deepEqual(order, [second, third]);
  assert.deepEqual(await readPositions(house, second), [1]);
  assert.deepEqual(await readPositions(house, third), [2, 1]);
});

test("a browser that a tool call uses or that a person watches is never taken", async () => {
  let now = new Date("2026-01-01T00:00:00Z");
  const house = await openHouse({ maxLive: 2, clock: () => now });
  const [used, watched, waiting] = await Promise.all([0, 1, 2].map(() => insertTestSession(house.db)));
  assert.ok(used && watched && waiting);
  const release = await house.browsers.hold(used);
  await house.browsers.ensure(watched);
  const stop = house.browsers.watch(watched, { onFrame() {} });
  now = new Date("2026-01-01T01:00:00Z");
  const holding = house.browsers.hold(waiting);
  await hasPosition(house, waiting, 1);
  assert.equal(await house.browsers.reapIdle(now), 0);
  assert.equal((await house.browsers.readStatus(used)).status, "ready");
  assert.equal((await house.browsers.readStatus(watched)).status, "ready");
  stop();
  (await holding)();
  assert.equal((await house.browsers.readStatus(used)).status, "ready");
  await statusIs(house, watched, "expired");
  release();
});

test("the browser of a parked turn stays up, however long it waits, until another session needs the place", async () => {
  let now = new Date("2026-01-01T00:00:00Z");
  const house = await openHouse({ clock: () => now });
  const [parked, waiting] = await Promise.all([insertSessionInTurn(house), insertTestSession(house.db)]);
  (await house.browsers.hold(parked))();
  await house.db.update(runs).set({ parkedAt: now }).where(eq(runs.sessionId, parked));
  now = new Date("2026-01-08T00:00:00Z");
  assert.equal(await house.browsers.reapIdle(now), 0);
  assert.equal((await house.browsers.readStatus(parked)).status, "ready");
  // A parked turn loses its browser even if it was used just now.
  (await house.browsers.hold(parked))();
  (await house.browsers.hold(waiting))();
  await statusIs(house, parked, "expired");
});

test("a turn keeps the page it has just used, until it has left it alone for 30 s", async () => {
  let now = new Date("2026-01-01T00:00:00Z");
  const house = await openHouse({ clock: () => now });
  const [busy, waiting] = await Promise.all([insertSessionInTurn(house), insertTestSession(house.db)]);
  (await house.browsers.hold(busy))();
  const holding = house.browsers.hold(waiting);
  await hasPosition(house, waiting, 1);
  assert.equal((await house.browsers.readStatus(busy)).status, "ready");
  now = new Date("2026-01-01T00:00:31Z");
  (await holding)();
  await statusIs(house, busy, "expired");
});

test("a stopped call leaves the line, and its session may wait again", async () => {
  const house = await openHouse();
  const [first, second] = await Promise.all([0, 1].map(() => insertSessionInTurn(house)));
  assert.ok(first && second);
  const release = await house.browsers.hold(first);
  const stop = new AbortController();
  const waiting = house.browsers.hold(second, stop.signal);
  await hasPosition(house, second, 1);
  stop.abort(new Error("the turn was stopped"));
  await assert.rejects(waiting, /the turn was stopped/);
  await statusIs(house, second, "expired");
  assert.equal((await house.browsers.readStatus(second)).lastError, null);

  const again = house.browsers.hold(second);
  await waitFor(async () => (await readPositions(house, second)).length === 2, "the second wait");
  release();
  await endTurn(house, first);
  (await again)();
});

test("a call that stops waiting does not take the place in line from the others of its session", async () => {
  const house = await openHouse();
  const [first, second] = await Promise.all([0, 1].map(() => insertSessionInTurn(house)));
  assert.ok(first && second);
  const release = await house.browsers.hold(first);
  const stop = new AbortController();
  const stopped = house.browsers.hold(second, stop.signal);
  const other = house.browsers.hold(second);
  await hasPosition(house, second, 1);
  stop.abort(new Error("stopped"));
  await assert.rejects(stopped, /stopped/);
  assert.equal((await house.browsers.readStatus(second)).status, "creating");
  release();
  await endTurn(house, first);
  (await other)();
});

test("a removed session leaves the line", async () => {
  const house = await openHouse();
  const [first, second, third] = await Promise.all([0, 1, 2].map(() => insertSessionInTurn(house)));
  assert.ok(first && second && third);
  await house.browsers.hold(first);
  const waiting = assert.rejects(house.browsers.hold(second), /ended while the session waited/);
  await hasPosition(house, second, 1);
  void house.browsers.hold(third).catch(() => {});
  await hasPosition(house, third, 2);
  await house.browsers.closeSession(second);
  await waiting;
  await hasPosition(house, third, 1);
});

test("after BROWSER_WAIT_MS a tool call and a navigation fail with a sentence", async () => {
  const house = await openHouse({ waitMs: 300 });
  const [first, second, third] = await Promise.all([0, 1, 2].map(() => insertSessionInTurn(house)));
  assert.ok(first && second && third);
  await house.browsers.hold(first);
  const sentence =
    /^no browser became free within 0\.3 s: all 1 are in use \(BROWSER_MAX_LIVE\); try again later$/;
  await assert.rejects(house.browsers.hold(second), { message: sentence });
  await statusIs(house, second, "error");
  await house.browsers.retarget(third, `${site.origin}/page`);
  await statusIs(house, third, "error");
  assert.match((await house.browsers.readStatus(third)).lastError ?? "", sentence);
});

test("a retarget waits for its place, too, and lands", async () => {
  const house = await openHouse();
  const [first, second] = await Promise.all([insertSessionInTurn(house), insertTestSession(house.db)]);
  const release = await house.browsers.hold(first);
  await house.browsers.retarget(second, `${site.origin}/wanted`);
  await hasPosition(house, second, 1);
  release();
  await endTurn(house, first);
  await waitFor(
    async () => (await house.browsers.readStatus(second)).lastNavigatedUrl === `${site.origin}/wanted`,
    "the page to be reached",
  );
});

test("a person's wish for the live page is answered while the session waits, and when no browser can be had", async () => {
  const house = await openHouse();
  const [first, second] = await Promise.all([insertSessionInTurn(house), insertTestSession(house.db)]);
  const release = await house.browsers.hold(first);
  assert.deepEqual(await house.browsers.open(second), { state: "waiting" });
  assert.deepEqual(await house.browsers.history(second, "reload"), { state: "waiting" });
  release();
  await endTurn(house, first);
  await statusIs(house, second, "ready");
  assert.deepEqual(await house.browsers.open(second), { state: "ready" });

  const broken = await openHouse({ launch: { executablePath: "/bin/false" } });
  const opening = await broken.browsers.open(await insertTestSession(broken.db));
  assert.equal(opening.state, "failed");
  assert.match(opening.state === "failed" ? opening.reason : "", /the browser ended at its start/);
});

test("a viewer has a browser started only while a turn is open and a place is free", async () => {
  const house = await openHouse();
  const [finished, inTurn, other] = await Promise.all([
    insertTestSession(house.db),
    insertSessionInTurn(house),
    insertSessionInTurn(house),
  ]);
  const stops = [finished, inTurn].map((sessionId) => house.browsers.watch(sessionId, { onFrame() {} }));
  await statusIs(house, inTurn, "ready");
  stops.push(house.browsers.watch(other, { onFrame() {} }));
  const status = async (sessionId: string) => (await house.browsers.readStatus(sessionId)).status;
  assert.deepEqual(await Promise.all([finished, inTurn, other].map(status)), ["idle", "ready", "idle"]);
  for (const stop of stops) stop();
});

test("a session's last picture outlasts its browser and a restart, and goes with the session", async () => {
  const house = await openHouse();
  const [first, second] = await Promise.all([insertTestSession(house.db), insertTestSession(house.db)]);
  assert.equal(await house.browsers.readPicture(first), undefined);
  await house.browsers.navigate(first, `${site.origin}/page`);
  (await house.browsers.hold(second))();
  await statusIs(house, first, "expired");
  const restarted = await house.restart();
  const picture = await restarted.readPicture(first);
  assert.deepEqual([...(picture?.bytes.subarray(0, 2) ?? [])], [0xff, 0xd8]);
  const times = await restarted.readPictureTimes([first, second]);
  assert.deepEqual([...times], [[first, picture?.takenAt]], "an empty page has no picture");
  const lastStatus = async (sessionId: string) =>
    (await house.log.read(sessionId, { after: 0, limit: 100 })).map(({ body }) => JSON.parse(body)).at(-1);
  const shown = { kind: "browser.status", status: "expired" };
  assert.partialDeepStrictEqual(await lastStatus(first), {
    ...shown,
    pictureTakenAt: picture?.takenAt.toISOString(),
  });
  assert.partialDeepStrictEqual(await lastStatus(second), { ...shown, pictureTakenAt: null });
});

test("a picture is kept once the page is left alone, so that a crash does not lose it", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  await house.browsers.navigate(sessionId, `${site.origin}/page`);
  (await house.browsers.hold(sessionId))();
  await waitFor(() => house.browsers.readPicture(sessionId), "the picture");
  assert.equal((await house.browsers.readStatus(sessionId)).status, "ready");
});

test("a caller that leases a place hears after `waitMs` that none became free, and leaves the line", async () => {
  const house = await openHouse({ waitMs: 300 });
  const holder = await insertSessionInTurn(house);
  const release = await house.browsers.hold(holder);
  await assert.rejects(
    house.browsers.lease(new AbortController().signal),
    /^Error: no browser became free within 0\.3 s: all 1 are in use \(BROWSER_MAX_LIVE\)/,
  );
  release();
  await endTurn(house, holder);
  const lease = await house.browsers.lease(new AbortController().signal);
  await lease.release();
});
