import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "./apply-event.ts";
import { findFollowUp } from "./find-follow-up.ts";
import type { SessionState } from "./session-state.ts";
import { event, started, usage } from "./testing.ts";

const ended = (fields: object): SessionState =>
  applyEvent(started, event(5, { kind: "run.completed", usage, ...fields }));
const find = (state: SessionState) => findFollowUp(state, state.runs[0] ?? assert.fail("no run"));

test("a failed turn can be tried again with its own message, a stopped one continues", () => {
  assert.deepEqual(find(ended({ outcome: "errored", error: "500" })), {
    kind: "retry",
    text: "Look at the page",
    attachments: [],
  });
  assert.deepEqual(find(ended({ outcome: "cancelled" })), {
    kind: "continue",
    text: "Continue.",
    attachments: [],
  });
});

test("there is nothing to send while the session works, for viewers, and without the message", () => {
  const failed = ended({ outcome: "errored", error: "500" });
  assert.equal(find(started), undefined);
  assert.equal(find({ ...failed, role: "view" }), undefined);
  assert.equal(find({ ...failed, messages: [] }), undefined);
  const willRetry = { runId: "run_2", attempt: 2, delayMs: 1_000 };
  assert.equal(find(ended({ outcome: "errored", error: "500", willRetry })), undefined);
});

test("a failed turn is tried again with the files of its message", () => {
  const file = {
    type: "attachment" as const,
    path: "uploads/a.png",
    mediaType: "image/png",
    sizeBytes: 1,
    evidenceId: null,
  };
  const failed = ended({ outcome: "errored", error: "500" });
  const messages = failed.messages.map((message) => ({ ...message, parts: [file] }));
  assert.deepEqual(find({ ...failed, messages }), {
    kind: "retry",
    text: "",
    attachments: ["uploads/a.png"],
  });
});
