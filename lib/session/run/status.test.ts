import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RUN_STATES } from "#db/schema/unions.ts";
import { titleOf } from "../creation/create-session.ts";
import { newDeliveryId, newId, SESSION_ID_PATTERN } from "../new-id.ts";
import {
  isCompacting,
  projectDeliverable,
  projectOutcome,
  projectRequestStatus,
  projectTurnState,
} from "./status.ts";

describe("request status", () => {
  test("follows the newest run, and is running while a retry is pending", () => {
    const of = (attempt: number) =>
      RUN_STATES.map((state) => `${state} → ${projectRequestStatus({ state, attempt })}`);
    const ended = ["succeeded → completed", "errored → completed", "cancelled → completed"];
    assert.deepEqual(of(1), ["pending → pending", "running → running", ...ended]);
    assert.deepEqual(of(2), ["pending → running", "running → running", ...ended]);
  });
});

test("turnState is running while a run is open", () => {
  assert.deepEqual(
    [0, 1, 20].map((openRuns) => projectTurnState(openRuns)),
    ["idle", "running", "running"],
  );
});

test("turnState is compacting while the running run compacts, and only then", () => {
  const of = (state: (typeof RUN_STATES)[number]) =>
    projectTurnState(1, isCompacting({ state, isCompacting: true }));
  assert.deepEqual(RUN_STATES.map(of), ["running", "compacting", "running", "running", "running"]);
  assert.equal(projectTurnState(1, isCompacting({ state: "running", isCompacting: false })), "running");
  assert.equal(projectTurnState(0, true), "idle");
});

test("a run has an outcome once it has ended", () => {
  assert.deepEqual(
    RUN_STATES.map((state) => projectOutcome({ state })),
    [null, null, "succeeded", "errored", "cancelled"],
  );
});

describe("a deliverable", () => {
  const row = {
    runId: "run_a",
    sessionId: "ses_a",
    createdAt: new Date(),
    value: null,
    error: null,
    rawText: null,
    violations: null,
  };

  test("is pending without a row or with a pending row", () => {
    assert.deepEqual(projectDeliverable("run_a", undefined), { runId: "run_a", status: "pending" });
    assert.deepEqual(projectDeliverable("run_a", { ...row, status: "pending" }), {
      runId: "run_a",
      status: "pending",
    });
  });

  test("that is ready has only its value", () => {
    const ready = projectDeliverable("run_a", { ...row, status: "ready", value: { a: null } });
    assert.deepEqual(ready, { runId: "run_a", status: "ready", value: { a: null } });
  });

  test("that failed has its error, and the raw text if there is one", () => {
    const failed = { ...row, status: "failed", error: "refused" } as const;
    assert.deepEqual(projectDeliverable("run_a", failed), {
      runId: "run_a",
      status: "failed",
      error: "refused",
    });
    assert.deepEqual(projectDeliverable("run_a", { ...failed, rawText: "{" }), {
      runId: "run_a",
      status: "failed",
      error: "refused",
      rawText: "{",
    });
  });
});

describe("ids", () => {
  test("have their prefix and 24 characters of lowercase base32", () => {
    const ids = Array.from({ length: 1_000 }, () => newId("ses"));
    assert.equal(new Set(ids).size, 1_000);
    for (const id of ids) assert.match(id, /^ses_[a-z2-7]{24}$/);
    for (const id of ids) assert.match(id, SESSION_ID_PATTERN);
    assert.match(newDeliveryId(), /^whd-[0-9a-f-]{36}$/);
  });
});

describe("the title of a session", () => {
  const title = (text: string) => titleOf([{ role: "user", parts: [{ type: "text", text }] }]);

  test("is the first non-blank line of the task", () => {
    assert.equal(title("\n  Look at this \nand that"), "Look at this");
    assert.equal(title(""), "Untitled session");
    const messages = [
      { role: "user" as const, parts: [{ type: "text" as const, text: "first" }] },
      { role: "user" as const, parts: [{ type: "text" as const, text: "last" }] },
      { role: "assistant" as const, parts: [{ type: "text" as const, text: "answer" }] },
    ];
    assert.equal(titleOf(messages), "last");
  });

  test("is cut at 120 characters, never inside a surrogate pair", () => {
    assert.equal(title("x".repeat(120)).length, 120);
    assert.equal(title("x".repeat(121)), `${"x".repeat(119)}…`);
    const cut = title(`${"x".repeat(118)}😀😀`);
    assert.ok(cut.isWellFormed());
    assert.ok(cut.length <= 120);
  });
});
