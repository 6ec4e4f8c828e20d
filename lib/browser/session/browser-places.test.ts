import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OpenTurn } from "#lib/session/store/run-store.ts";
import { createBrowserPlaces, type PlaceTicket } from "./browser-places.ts";
import { orderForEnding } from "./unused-browsers.ts";

/**
 * Creates places, whose queue has the sessions in `queue`, first those of another host. `moves` contains the positions in
 * the queue that were reported to each session, `sought` the numbers of places that other hosts were asked for.
 */
function openPlaces(
  max: number,
  endUnused: (count: number) => Promise<number> = async () => 0,
  others: string[] = [],
) {
  const queue = others.map((sessionId) => ({ sessionId, isOurs: false }));
  const sought: number[] = [];
  /** The sessions that have left the queue. `takeNext` may still return them. */
  const left = new Set<string>();
  const places = createBrowserPlaces({
    max,
    endUnused,
    takeNext: async () => queue.shift(),
    listPositions: async () =>
      queue
        .filter(({ sessionId }) => !left.has(sessionId))
        .map(({ sessionId }, index) => [sessionId, index + 1]),
    seekElsewhere: (count) => void sought.push(count),
    onError: (error) => assert.fail(String(error)),
  });
  const moves: Record<string, number[]> = {};
  const granted: string[] = [];
  const request = (name: string, sessionId: string | undefined = name): PlaceTicket => {
    const ticket = places.request(sessionId, (position) => moves[name]?.push(position));
    moves[name] = [];
    ticket.granted.then(
      () => granted.push(name),
      () => left.add(name),
    );
    if (ticket.isWaiting() && sessionId !== undefined) {
      queue.push({ sessionId, isOurs: true });
      ticket.enlist();
    }
    return ticket;
  };
  return { places, moves, granted, sought, request };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("places", () => {
  test("are granted in order of arrival, and every change of position is reported", async () => {
    const { request, moves, granted } = openPlaces(1);
    const [one, two] = [request("one"), request("two")];
    request("three");
    await settle();
    one.release();
    await settle();
    assert.deepEqual(granted, ["one", "two"]);
    two.release();
    await settle();
    assert.deepEqual(granted, ["one", "two", "three"]);
    assert.deepEqual(moves, { one: [], two: [1], three: [2, 1] });
  });

  test("a session that leaves the queue gets its error, and the others move up", async () => {
    const { request, moves, granted } = openPlaces(1);
    const one = request("one");
    const two = request("two");
    request("three");
    await settle();
    const error = new Error("stopped");
    two.release(error);
    await assert.rejects(two.granted, error);
    await settle();
    assert.deepEqual(moves.three, [2, 1]);
    one.release();
    one.release();
    two.release();
    await settle();
    assert.deepEqual(granted, ["one", "three"]);
  });

  test("a newcomer does not overtake a session that waits for a browser to end", async () => {
    const ended = Promise.withResolvers<void>();
    const held: PlaceTicket[] = [];
    const { request, granted, places } = openPlaces(1, async () => {
      await ended.promise;
      held.shift()?.release();
      return 1;
    });
    held.push(request("one"));
    assert.equal(places.hasRoom(), false);
    request("two");
    request("three");
    ended.resolve();
    await settle();
    assert.deepEqual(granted, ["one", "two"]);
  });

  test("a browser is ended only while a session waits", async () => {
    const counts: number[] = [];
    const { request, places } = openPlaces(2, async (count) => {
      counts.push(count);
      return 0;
    });
    request("one");
    request("two");
    places.recheck();
    await settle();
    assert.deepEqual(counts, []);
    const three = request("three");
    await settle();
    assert.deepEqual(counts, [1]);
    places.recheck();
    await settle();
    assert.deepEqual(counts, [1, 1]);
    three.release();
    places.recheck();
    await settle();
    assert.deepEqual(counts, [1, 1]);
  });

  test("other hosts are asked only while no browser of this host can be ended", async () => {
    let unused = 1;
    const held: PlaceTicket[] = [];
    const { request, places, granted, sought } = openPlaces(1, async () => {
      if (unused === 0) return 0;
      unused -= 1;
      held.shift()?.release();
      return 1;
    });
    held.push(request("one"));
    request("two");
    await settle();
    assert.deepEqual([granted, sought], [["one", "two"], []]);
    request("three");
    await settle();
    assert.deepEqual(sought, [1]);
    assert.equal(places.hasRoom(), false);
  });

  test("a place is kept for a session of another host, which has waited longer than those of this host", async () => {
    const { request, places, granted } = openPlaces(1, async () => 0, ["elsewhere"]);
    const one = request("one");
    request("two");
    one.release();
    await settle();
    assert.deepEqual(granted, ["one"]);
    assert.equal(places.hasRoom(), false);
    const ticket = request("elsewhere");
    assert.deepEqual([ticket.isHandedOver, ticket.isWaiting()], [true, false]);
    ticket.release();
    await settle();
    assert.deepEqual(granted, ["one", "elsewhere", "two"]);
  });

  test("a host with a free place offers it, and ends unused browsers only while no session waits here", async () => {
    const counts: number[] = [];
    const endUnused = async (count: number) => counts.push(count);
    const { places, request } = openPlaces(2, endUnused, ["a", "b"]);
    request("one");
    assert.equal(await places.offer(1), 1);
    await settle();
    assert.deepEqual(counts, []);
    assert.equal(request("a").isHandedOver, true);
    assert.equal(await places.offer(3), 1);
    assert.deepEqual(counts, [3]);
    request("waits here");
    await settle();
    assert.equal(await places.offer(3), 0);
  });

  test("a lease gets a place of this host when it is the first", async () => {
    const { places, request, granted } = openPlaces(1);
    const one = request("one");
    const lease = places.request(undefined, () => {});
    request("two");
    one.release();
    await lease.granted;
    lease.release();
    await settle();
    assert.deepEqual(granted, ["one", "two"]);
  });
});

test("browsers without an open turn are ended first, then those of parked turns, then the longest idle; one just used by a turn stays", () => {
  const browser = (name: string, turn: OpenTurn | undefined, idleMs: number) => ({ name, turn, idleMs });
  const ordered = orderForEnding(
    [
      browser("turn, idle for 40 s", "open", 40_000),
      browser("turn, just used", "open", 1_000),
      browser("parked, just used", "parked", 500),
      browser("no turn, just used", undefined, 0),
      browser("turn, idle for 90 s", "open", 90_000),
      browser("no turn, idle", undefined, 5_000),
      browser("parked, idle", "parked", 700_000),
    ],
    30_000,
  );
  assert.deepEqual(
    ordered.map(({ name }) => name),
    [
      "no turn, idle",
      "no turn, just used",
      "parked, idle",
      "parked, just used",
      "turn, idle for 90 s",
      "turn, idle for 40 s",
    ],
  );
});
