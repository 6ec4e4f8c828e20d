import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HeadRun } from "../store/follow-up-store.ts";
import { routeFollowUp } from "./route-follow-up.ts";

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
  isExternal: true,
  excludesTools: false,
  asksPerson: false,
};
const place = (mode: "queue" | "steer" | "interrupt", head?: Partial<HeadRun>, origin?: "person") =>
  routeFollowUp({ mode, origin: origin ?? "external" }, head && { ...running, ...head });

describe("a follow-up of any mode", () => {
  test("starts when no run is open", () => {
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

  test("is queued if a program would steer a person's turn; a person may steer any turn", () => {
    assert.deepEqual(place("steer", { origin: "person" }), waits);
    assert.deepEqual(place("steer", { origin: "person" }, "person"), joins);
    assert.deepEqual(place("steer", {}, "person"), joins);
  });

  test("of a person is queued if the turn lacks tools because no person started it, unless it asks the person", () => {
    const lacking = { excludesTools: true };
    assert.deepEqual(place("steer", lacking, "person"), waits);
    assert.deepEqual(
      place("steer", { ...lacking, origin: "person" }, "person"),
      waits,
      "a retry lacks them too",
    );
    assert.deepEqual(place("steer", { ...lacking, isExternal: false }, "person"), joins);
    assert.deepEqual(place("steer", { ...lacking, asksPerson: true }, "person"), joins);
    assert.deepEqual(place("steer", lacking), joins, "a program's message gets no more tools");
    const deployment = { mode: "steer", origin: "person", deploymentExcludes: true } as const;
    assert.deepEqual(routeFollowUp(deployment, running), waits);
    assert.deepEqual(routeFollowUp(deployment, { ...running, isExternal: false }), joins);
    assert.deepEqual(routeFollowUp({ ...deployment, origin: "external" }, running), joins);
  });

  test("is queued if the turn is stopping", () => {
    assert.deepEqual(place("steer", { isStopping: true }), waits);
  });

  test("is queued while the result of the turn is collected, also for a person", () => {
    assert.deepEqual(place("steer", { isCollecting: true }), waits);
    assert.deepEqual(place("steer", { isCollecting: true }, "person"), waits);
  });
});

describe("interrupt", () => {
  test("stops the running turn and is next", () => {
    assert.deepEqual(place("interrupt", {}), { kind: "waits", interrupts: "run_a" });
    assert.deepEqual(place("interrupt", { mode: "interrupt" }), { kind: "waits", interrupts: "run_a" });
  });

  test("overtakes and stops a turn that is about to start or waits for a retry", () => {
    assert.deepEqual(place("interrupt", { isClaimed: false }), { kind: "overtakes", interrupts: "run_a" });
    assert.deepEqual(place("interrupt", { isClaimed: false, attempt: 3 }), {
      kind: "overtakes",
      interrupts: "run_a",
    });
  });

  test("overtakes a turn whose message is queued without stopping it", () => {
    assert.deepEqual(place("interrupt", { isClaimed: false, isWaiting: true }), {
      kind: "overtakes",
      interrupts: null,
      overtaken: "run_a",
    });
    const claimed = place("interrupt", { isClaimed: true, isWaiting: true });
    assert.deepEqual(claimed, { kind: "waits", interrupts: "run_a" });
  });

  test("waits for an earlier interrupt that has not begun, and stops one that waits for a retry", () => {
    const head = { isClaimed: false, mode: "interrupt" } as const;
    assert.deepEqual(place("interrupt", head), { kind: "waits", interrupts: null });
    assert.deepEqual(place("interrupt", { ...head, attempt: 2 }), { kind: "waits", interrupts: "run_a" });
  });
});
