import assert from "node:assert/strict";
import { test } from "node:test";
import { countMostAtOneHost, findOvertakings, listWaits, type QueueChange } from "./find-overtakings.ts";

/** Builds the changes of sessions: `[session, time, status, host, since]`. */
function record(...entries: [string, number, string, string | null, number | null][]): QueueChange[] {
  const before = new Map<string, QueueChange>();
  return entries.map(([sessionId, atMs, status, host, sinceMs]) => {
    const old = before.get(sessionId);
    const change: QueueChange = {
      sessionId,
      atMs,
      status,
      host,
      sinceMs,
      oldStatus: old?.status ?? null,
      oldHost: old?.host ?? null,
      oldSinceMs: old?.sinceMs ?? null,
    };
    before.set(sessionId, change);
    return change;
  });
}

const waits = (sessionId: string, atMs: number) => [
  [sessionId, atMs, "creating", "one", null] as const,
  [sessionId, atMs + 1, "creating", "one", atMs + 1] as const,
];
const all = (...entries: (readonly [string, number, string, string | null, number | null])[]) =>
  record(...entries.map((each) => [...each] as [string, number, string, string | null, number | null]));

test("sessions that get places in order of arrival overtake no other", () => {
  const changes = all(
    ...waits("a", 0),
    ...waits("b", 1_000),
    ["a", 2_000, "creating", "two", null],
    ["a", 2_500, "ready", "two", null],
    ["b", 3_000, "creating", "one", null],
  );
  assert.deepEqual(findOvertakings(changes), []);
  assert.deepEqual(
    listWaits(changes).map(({ sessionId, endedAtMs, isTaken }) => [sessionId, endedAtMs, isTaken]),
    [
      ["a", 2_000, true],
      ["b", 3_000, true],
    ],
  );
});

test("a session that gets a place before one that had waited for longer is found", () => {
  const changes = all(
    ...waits("a", 0),
    ...waits("b", 1_000),
    ["b", 2_000, "creating", "two", null],
    ["a", 3_000, "creating", "one", null],
  );
  assert.deepEqual(findOvertakings(changes), ["b got a place before a, which had waited for longer"]);
});

test("a session that starts without waiting while another one waits is found", () => {
  const changes = all(
    ...waits("a", 0),
    ["b", 1_000, "creating", "two", null],
    ["b", 2_000, "ready", "two", null],
    ["a", 3_000, "creating", "one", null],
  );
  assert.deepEqual(findOvertakings(changes), ["b got a place without waiting, while a waited"]);
});

test("a session whose host is lost is not overtaken until it waits at another host", () => {
  const changes = all(
    ...waits("a", 0),
    ...waits("b", 1_000),
    ["a", 1_500, "expired", null, 1],
    ["b", 2_000, "creating", "two", null],
    ["a", 3_000, "creating", "two", 1],
    ["a", 4_000, "creating", "two", null],
  );
  assert.deepEqual(findOvertakings(changes), []);
});

test("a session that never gets a place is overtaken by the next one", () => {
  const changes = all(...waits("a", 0), ...waits("b", 1_000), ["b", 2_000, "creating", "one", null]);
  assert.equal(findOvertakings(changes).length, 1);
});

test("the browsers of a host are counted until they end or move", () => {
  const changes = all(
    ["a", 0, "ready", "one", null],
    ["b", 1, "ready", "one", null],
    ["c", 2, "ready", "two", null],
    ["a", 3, "expired", null, null],
    ["d", 4, "ready", "one", null],
  );
  assert.equal(countMostAtOneHost(changes), 2);
});
