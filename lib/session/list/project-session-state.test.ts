import assert from "node:assert/strict";
import { test } from "node:test";
import type { LastRun, OpenRun } from "./list-store.ts";
import { projectSessionState } from "./project-session-state.ts";

const open = (fields: Partial<OpenRun>): OpenRun => ({
  state: "running",
  attempt: 1,
  isCompacting: false,
  question: null,
  waitsFor: null,
  exhausted: null,
  ...fields,
});
const last = (fields: Partial<LastRun>): LastRun => ({
  state: "succeeded",
  error: null,
  pageError: null,
  deliverable: null,
  awaitsGo: false,
  ...fields,
});

test("a session's state is one word with a reason; a failed or unfinished turn is never done", () => {
  const cases: [OpenRun | undefined, LastRun | undefined, string, string | null][] = [
    [undefined, undefined, "ready", null],
    [open({ state: "pending" }), undefined, "starting", null],
    [open({}), undefined, "working", null],
    [open({ isCompacting: true }), undefined, "compacting", null],
    [open({ question: "Which colour?" }), undefined, "waiting", "Which colour?"],
    [open({ question: "Which colour?", waitsFor: "person" }), undefined, "waiting", "Which colour?"],
    [open({ waitsFor: "person" }), undefined, "waiting", "A tool call waits for approval."],
    [open({ waitsFor: "control" }), undefined, "waiting", "A person has control of the browser."],
    [open({ waitsFor: "budget", exhausted: "Used up." }), undefined, "waiting", "Used up."],
    [open({ waitsFor: "agents" }), undefined, "working", null],
    [open({ state: "pending", attempt: 2 }), last({ state: "errored", error: "busy" }), "retrying", "busy"],
    [undefined, last({}), "done", null],
    [undefined, last({ awaitsGo: true }), "waiting", "The plan waits for a go-ahead."],
    [open({}), last({ awaitsGo: true }), "working", null],
    [undefined, last({ state: "errored", error: "no key", awaitsGo: true }), "failed", "no key"],
    [undefined, last({ deliverable: { status: "ready", error: null } }), "done", null],
    [undefined, last({ deliverable: { status: "failed", error: "cut off" } }), "no_result", "cut off"],
    [
      undefined,
      last({ pageError: "shop.example was not found" }),
      "page_error",
      "shop.example was not found",
    ],
    [undefined, last({ state: "errored", error: "no key" }), "failed", "no key"],
    [undefined, last({ state: "cancelled" }), "stopped", null],
    [open({}), last({ state: "errored", error: "no key" }), "working", null],
  ];
  for (const [openRun, lastRun, state, stateReason] of cases)
    assert.deepEqual(projectSessionState(openRun, lastRun), { state, stateReason });
});
