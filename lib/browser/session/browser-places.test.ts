import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OpenTurn } from "#lib/session/store/run-store.ts";
import { createBrowserPlaces, orderForEnding, type PlaceTicket } from "./browser-places.ts";

/** Creates places. `moves` contains the positions in the queue that were reported to each session. */
function openPlaces(max: number, endUnused: (count: number) => Promise<void> = async () => {}) {
  const places = createBrowserPlaces({ max, endUnused, onError: (error) => assert.fail(String(error)) });
  const moves: Record<string, number[]> = {};
  const granted: string[] = [];
  const request = (name: string): PlaceTicket => {
    const ticket = places.request((position) => moves[name]?.push(position));
    moves[name] = [ticket.position()];
    ticket.granted.then(
      () => granted.push(name),
      () => {},
    );
    return ticket;
  };
  return { places, moves, granted, request };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("places", () => {
  test("are granted in order of arrival, and every change of position is reported", async () => {
    const { request, moves, granted } = openPlaces(1);
    const [one, two] = [request("one"), request("two")];
    request("three");
    one.release();
    await settle();
    assert.deepEqual(granted, ["one", "two"]);
    two.release();
    await settle();
    assert.deepEqual(granted, ["one", "two", "three"]);
    assert.deepEqual(moves, { one: [0], two: [1], three: [2, 1] });
  });

  test("a session that leaves the queue gets its error, and the others move up", async () => {
    const { request, moves, granted } = openPlaces(1);
    const one = request("one");
    const two = request("two");
    request("three");
    const error = new Error("stopped");
    two.release(error);
    await assert.rejects(two.granted, error);
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
    const { request, places } = openPlaces(2, async (count) => void counts.push(count));
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
