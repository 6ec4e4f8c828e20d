import assert from "node:assert/strict";
import { test } from "node:test";
import { createEndpointPace } from "./endpoint-pace.ts";

function openPace(perMinute: number) {
  const clock = { at: 1_000_000 };
  return { clock, pace: createEndpointPace(perMinute, () => clock.at) };
}

test("the attempts of ten seconds begin at once, the others one by one in order of arrival", () => {
  const { clock, pace } = openPace(60);
  const waits = Array.from({ length: 15 }, (_, index) => pace.reserve("a.example", `whd-${index}`));
  assert.deepEqual(waits, [...Array(11).fill(0), 1_000, 2_000, 3_000, 4_000]);
  clock.at += 1_000;
  assert.equal(pace.reserve("a.example", "whd-11"), 0, "its slot has come");
  assert.equal(pace.reserve("a.example", "whd-13"), 2_000, "asking again keeps the slot");
  assert.equal(pace.reserve("a.example", "whd-late"), 4_000, "a later delivery comes last");
});

test("every delivery of a backlog begins exactly once, and the rate is not exceeded", () => {
  const { clock, pace } = openPace(600);
  const began = clock.at;
  const waiting = new Set(Array.from({ length: 1_000 }, (_, index) => `whd-${index}`));
  while (waiting.size > 0) {
    for (const id of waiting) if (pace.reserve("a.example", id) === 0) waiting.delete(id);
    clock.at += 50;
  }
  const seconds = (clock.at - began) / 1_000;
  // 101 attempts begin at once, then 10 per second.
  assert.ok(seconds >= 89.9 && seconds <= 90.1, `${seconds} s`);
});

test("hosts do not slow each other down, and a wait is at most five minutes", () => {
  const { clock, pace } = openPace(1);
  assert.equal(pace.reserve("a.example", "whd-1"), 0);
  assert.equal(pace.reserve("b.example", "whd-2"), 0);
  for (let index = 3; index < 20; index++) pace.reserve("a.example", `whd-${index}`);
  assert.equal(pace.reserve("a.example", "whd-20"), 300_000);
  clock.at += 300_000;
  assert.equal(pace.reserve("a.example", "whd-20"), 300_000, "it goes on waiting");
  clock.at += 3_600_000;
  assert.equal(pace.reserve("a.example", "whd-20"), 0);
});

test("with 0, there is no limit", () => {
  const { pace } = openPace(0);
  for (let index = 0; index < 10_000; index++) assert.equal(pace.reserve("a.example", `whd-${index}`), 0);
});

test("above 10,000 hosts or slots, those that are no longer needed are forgotten", () => {
  const { clock, pace } = openPace(1);
  const reserve = (host: string) => {
    pace.reserve(host, `${host}-first`);
    return pace.reserve(host, `${host}-second`);
  };
  for (let index = 0; index < 10_001; index++) reserve(`${index}.example`);
  assert.deepEqual(pace.entries(), { hosts: 10_001, slots: 10_001 });
  reserve("next.example");
  assert.equal(pace.entries().slots, 10_002, "all of them are still waiting");
  // The second deliveries were never attempted after their time, so they must be gone.
  clock.at += 3_600_000;
  assert.equal(reserve("last.example"), 50_000);
  assert.deepEqual(pace.entries(), { hosts: 1, slots: 1 });
});
