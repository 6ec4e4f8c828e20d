import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HeadRun } from "./follow-up-store.ts";
import { placeFollowUp } from "./place-follow-up.ts";

const running: HeadRun = {
  id: "run_a",
  isClaimed: true,
  isParked: false,
  isStopping: false,
  isCollecting: false,
  attempt: 1,
  mode: "queue",
  origin: "external",
  isWaiting: false,
};
const place = (mode: "queue" | "steer" | "interrupt", head?: Partial<HeadRun>, origin?: "person") =>
  placeFollowUp({ mode, origin: origin ?? "external" }, head && { ...running, ...head });

describe("a follow-up of any mode", () => {
  test("starts when nothing is open", () => {
    for (const mode of ["queue", "steer", "interrupt"] as const)
      assert.deepEqual(place(mode), { kind: "starts" });
  });
});

describe("queue", () => {
  test("waits for the turns before it", () => {
    assert.deepEqual(place("queue", {}), { kind: "waits", interrupts: null });
  });
});

describe("steer", () => {
  const joins = { kind: "joins", runId: "run_a" };
  const waits = { kind: "waits", interrupts: null };

  test("joins the turn that runs, is about to start, or waits for a retry", () => {
    assert.deepEqual(place("steer", {}), joins);
    assert.deepEqual(place("steer", { isClaimed: false }), joins);
    assert.deepEqual(place("steer", { isClaimed: false, attempt: 2 }), joins);
  });

  test("is a queue where a program would speak into a person's turn; a person may steer any", () => {
    assert.deepEqual(place("steer", { origin: "person" }), waits);
    assert.deepEqual(place("steer", { origin: "person" }, "person"), joins);
    assert.deepEqual(place("steer", {}, "person"), joins);
  });

  test("is a queue where the turn has been told to stop", () => {
    assert.deepEqual(place("steer", { isStopping: true }), waits);
  });

  test("is a queue where the result of the turn is being collected, also for a person", () => {
    assert.deepEqual(place("steer", { isCollecting: true }), waits);
    assert.deepEqual(place("steer", { isCollecting: true }, "person"), waits);
  });
});

describe("interrupt", () => {
  test("ends the running turn and is the next", () => {
    assert.deepEqual(place("interrupt", {}), { kind: "waits", interrupts: "run_a" });
    assert.deepEqual(place("interrupt", { mode: "interrupt" }), { kind: "waits", interrupts: "run_a" });
  });

  test("overtakes and ends a turn that is about to start, or waits for a retry", () => {
    assert.deepEqual(place("interrupt", { isClaimed: false }), { kind: "overtakes", interrupts: "run_a" });
    assert.deepEqual(place("interrupt", { isClaimed: false, attempt: 3 }), {
      kind: "overtakes",
      interrupts: "run_a",
    });
  });

  test("overtakes a turn whose message waits without ending it: the message keeps its turn", () => {
    assert.deepEqual(place("interrupt", { isClaimed: false, isWaiting: true }), {
      kind: "overtakes",
      interrupts: null,
      spares: "run_a",
    });
    const claimed = place("interrupt", { isClaimed: true, isWaiting: true });
    assert.deepEqual(claimed, { kind: "waits", interrupts: "run_a" });
  });

  test("waits for an interrupt before it that has not begun, and ends one that waits for a retry", () => {
    const head = { isClaimed: false, mode: "interrupt" } as const;
    assert.deepEqual(place("interrupt", head), { kind: "waits", interrupts: null });
    assert.deepEqual(place("interrupt", { ...head, attempt: 2 }), { kind: "waits", interrupts: "run_a" });
  });
});
