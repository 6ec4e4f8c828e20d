import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { browserHosts, browsers } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { enqueueSession, listPositions, takeNextInQueue } from "../store/queue-store.ts";
import { insertTestHost, insertTestSession, waitFor } from "../testing.ts";
import { type BrowserPlaces, createBrowserPlaces, type PlaceTicket } from "./browser-places.ts";

const SESSIONS = 40;
const PLACES = 4;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let db: Database;
/** Hosts look at the queue every second while sessions wait, so these sessions leave before the database is closed. */
const leaveQueues: (() => void)[] = [];
const errors: unknown[] = [];

before(async () => {
  database = await openTestDatabase();
  db = database.db;
});
after(async () => {
  for (const leaveQueue of leaveQueues) leaveQueue();
  // An error that follows the end of the last test comes from the closed database.
  assert.deepEqual(errors.splice(0), []);
  await database.close();
});

type Host = { id: string; places: BrowserPlaces; tickets: Map<string, PlaceTicket> };

/** The places of hosts that share a database. `order` has the sessions in the order in which they got a place. */
async function openHosts(
  count: number,
  fields: Partial<typeof browserHosts.$inferInsert> = { home: "remote" },
) {
  const hosts = new Map<string, Host>();
  const order: string[] = [];
  const moves: [sessionId: string, position: number][] = [];
  const holders = new Map<string, Host>();

  function request(host: Host, sessionId: string): PlaceTicket {
    const ticket = host.places.request(sessionId, (position) => moves.push([sessionId, position]));
    host.tickets.set(sessionId, ticket);
    ticket.granted.then(
      () => {
        order.push(sessionId);
        holders.set(sessionId, host);
      },
      () => {},
    );
    return ticket;
  }

  async function open(): Promise<Host> {
    const id = await insertTestHost(db);
    await db.update(browserHosts).set(fields).where(eq(browserHosts.id, id));
    const places = createBrowserPlaces({
      max: PLACES,
      endUnused: async () => 0,
      async takeNext() {
        const next = await takeNext(id);
        if (!next) return undefined;
        const isOurs = next.from === id;
        if (!isOurs) {
          hosts
            .get(next.from ?? "")
            ?.tickets.get(next.sessionId)
            ?.release();
          // The caller repeats its call at this host, when this host has kept the place.
          setImmediate(() => request(host, next.sessionId));
        }
        return { sessionId: next.sessionId, isOurs };
      },
      listPositions: () => listPositions(db, id),
      seekElsewhere(wanted) {
        for (const other of hosts.values()) if (other !== host) void other.places.offer(wanted);
      },
      onError: (error) => errors.push(error),
    });
    const host: Host = { id, places, tickets: new Map() };
    leaveQueues.push(() => {
      for (const ticket of host.tickets.values()) ticket.release();
    });
    hosts.set(id, host);
    return host;
  }
  const opened = await Promise.all(Array.from({ length: count }, open));

  /** A session begins to start its browser at a host. */
  async function arrive(host: Host): Promise<string> {
    const sessionId = await insertTestSession(db);
    await db.insert(browsers).values({ sessionId, status: "creating", hostId: host.id });
    const ticket = request(host, sessionId);
    if (ticket.isWaiting()) {
      await enqueueSession(db, host.id, sessionId);
      ticket.enlist();
    }
    return sessionId;
  }

  function leave(sessionId: string): void {
    holders.get(sessionId)?.tickets.get(sessionId)?.release();
    holders.delete(sessionId);
  }
  return { opened, order, moves, holders, arrive, leave };
}

const takeNext = (hostId: string, change: string = crypto.randomUUID()) =>
  takeNextInQueue(db, hostId, change);

const isWaiting = async (sessionId: string) =>
  (await db.select().from(browsers).where(eq(browsers.sessionId, sessionId)))[0]?.waitingSince != null;

test(`${SESSIONS} sessions on two hosts of ${PLACES} places each get them in order of arrival, also those of a host that ends`, async () => {
  const { opened, order, holders, arrive, leave } = await openHosts(2);
  const [first, second] = opened as [Host, Host];
  const arrived: string[] = [];
  // When all places are taken, most sessions arrive at one host.
  for (let index = 0; index < SESSIONS; index += 1) {
    const isFirst = index < 2 * PLACES ? index < PLACES : index % 4 !== 0;
    arrived.push(await arrive(isFirst ? first : second));
  }
  for (let count = order.length; count < SESSIONS; count += 1) {
    // After half of the sessions, one host ends with the sessions that have its places.
    if (count === SESSIONS / 2)
      for (const [sessionId, holder] of holders) if (holder === first) holders.delete(sessionId);
    const [next] = holders.keys();
    assert.ok(next);
    leave(next);
    await waitFor(() => order.length > count, `session ${count + 1}`);
  }
  assert.deepEqual(order, arrived);
});

test("sessions that arrive within one millisecond get places in order of arrival", async () => {
  const { opened, arrive } = await openHosts(1);
  const [host] = opened as [Host];
  for (let index = 0; index < PLACES; index += 1) await arrive(host);
  const waiting = [await arrive(host), await arrive(host)].sort().reverse();
  for (const [index, sessionId] of waiting.entries())
    await db
      .update(browsers)
      .set({ waitingSince: sql`${`2026-01-01 00:00:00.00000${index + 1}+00`}::timestamptz` })
      .where(eq(browsers.sessionId, sessionId));
  assert.equal((await takeNext(host.id))?.sessionId, waiting[0]);
});

test("a session waits for its own host if no process of its machine can reach the other one", async () => {
  const { opened, order, arrive, leave } = await openHosts(2, { home: "local", machine: "here" });
  const [here, there] = opened as [Host, Host];
  await db.update(browserHosts).set({ machine: "there" }).where(eq(browserHosts.id, there.id));
  const held = [];
  for (let index = 0; index < PLACES; index += 1) held.push(await arrive(here));
  const waiting = await arrive(here);
  assert.equal(await there.places.offer(1), 1);
  assert.equal(await takeNext(there.id), undefined);
  assert.equal(await isWaiting(waiting), true);
  leave(held[0] ?? "");
  await waitFor(() => order.includes(waiting), "a place of its own host");

  const next = await arrive(here);
  await db.update(browserHosts).set({ relayUrl: "http://10.0.0.2" }).where(eq(browserHosts.id, there.id));
  await there.places.offer(1);
  await waitFor(() => order.includes(next), "a place of a host that others reach through a relay");
});

test("a host that is about to end takes over no session, and a session in a sandbox of its own stays there", async () => {
  const { opened, arrive } = await openHosts(1);
  const [first] = opened as [Host];
  const second = { id: await insertTestHost(db) };
  for (let index = 0; index < PLACES; index += 1) await arrive(first);
  const waiting = await arrive(first);
  const change = (host: { id: string }, fields: Partial<typeof browserHosts.$inferInsert>) =>
    db.update(browserHosts).set(fields).where(eq(browserHosts.id, host.id));
  await change(second, { home: "remote", places: 0 });
  assert.equal(await takeNext(second.id), undefined);
  await change(second, { places: PLACES, protocol: 2 });
  assert.equal(await takeNext(second.id), undefined);
  await change(second, { protocol: 1 });
  await change(first, { home: "sandbox" });
  assert.equal(await takeNext(second.id), undefined);
  await change(first, { home: "remote" });
  assert.deepEqual(await takeNext(second.id), { sessionId: waiting, from: first.id });
  assert.equal(await takeNext(first.id), undefined);
});

test("a host whose connection ended before the answer gets the same session again, and its place", async () => {
  const { opened, arrive } = await openHosts(1);
  const [first] = opened as [Host];
  // A host that takes sessions only when the test says so.
  const second = { id: await insertTestHost(db) };
  await db.update(browserHosts).set({ home: "remote" }).where(eq(browserHosts.id, second.id));
  for (let index = 0; index < PLACES; index += 1) await arrive(first);
  const [oldest, next] = [await arrive(first), await arrive(first)];
  assert.deepEqual(await takeNext(second.id, "a change"), { sessionId: oldest, from: first.id });
  assert.deepEqual(await takeNext(second.id, "a change"), { sessionId: oldest, from: null });
  assert.equal(await isWaiting(next), true);
  assert.deepEqual(await takeNext(first.id), { sessionId: next, from: first.id });
});

test("positions are those in the queue of all hosts, and change when sessions of another host leave it", async () => {
  const { opened, moves, arrive, leave } = await openHosts(2);
  const [first, second] = opened as [Host, Host];
  const held: string[] = [];
  for (const host of [first, second])
    for (let index = 0; index < PLACES; index += 1) held.push(await arrive(host));
  const one = await arrive(first);
  const two = await arrive(second);
  const three = await arrive(first);
  const movesOf = (sessionId: string) =>
    moves.flatMap(([id, position]) => (id === sessionId ? [position] : []));
  await waitFor(() => movesOf(three).length > 0, "the position of the last session");
  assert.deepEqual([one, two, three].map(movesOf), [[1], [2], [3]]);
  first.tickets.get(one)?.release();
  await db.update(browsers).set({ waitingSince: null }).where(eq(browsers.sessionId, one));
  await waitFor(() => movesOf(two).length > 1 && movesOf(three).length > 1, "the next positions");
  assert.deepEqual([movesOf(two).at(-1), movesOf(three).at(-1)], [1, 2]);
  for (const sessionId of held) leave(sessionId);
});
