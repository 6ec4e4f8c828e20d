import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "./apply-event.ts";
import { createSessionState } from "./session-state.ts";
import { AT, event, message, snapshot, started, usage } from "./testing.ts";
import { buildTimeline } from "./timeline.ts";

test("an event that the snapshot already contains changes nothing", () => {
  const state = createSessionState(snapshot);
  assert.equal(applyEvent(state, event(3, { kind: "run.started", attempt: 1, origin: "person" })), state);
});

test("a call without a result is unknown once its run has ended", () => {
  let state = applyEvent(
    started,
    event(5, {
      kind: "tool.call",
      messageId: "msg_2",
      toolCallId: "call_1",
      toolName: "screenshot",
      input: {},
    }),
  );
  state = applyEvent(state, event(6, { kind: "run.completed", outcome: "cancelled", usage }));
  assert.equal(state.toolCalls.call_1?.state, "unknown");
});

test("an attempt that is retried leaves no deliverable", () => {
  const pending = { runId: "run_1", status: "pending" as const };
  const begun = applyEvent(started, event(5, { kind: "deliverable.pending", deliverable: pending }));
  assert.deepEqual(begun.deliverables, [pending]);
  const willRetry = { runId: "run_2", attempt: 2, delayMs: 2_000 };
  const failed = applyEvent(
    begun,
    event(6, { kind: "run.completed", outcome: "errored", error: "overloaded", usage, willRetry }),
  );
  assert.deepEqual([failed.deliverables, failed.runs.at(-1)?.state], [[], "pending"]);
});

test("a steering message leaves the queue when it is read, and is marked as such", () => {
  const waiting = {
    ...started,
    queue: [
      {
        requestId: "req_2",
        mode: "steer" as const,
        text: "Left",
        attachments: [],
        annotations: [],
        author: null,
        createdAt: AT,
      },
    ],
  };
  const steer = { ...message("msg_5", 5, "user", "Left"), requestId: "req_2" };
  const placed = applyEvent(waiting, event(5, { kind: "message.completed", message: steer }));
  const read = applyEvent(
    placed,
    event(6, { kind: "turn.steered", steerRequestId: "req_2", messageIds: ["msg_5"] }),
  );
  assert.deepEqual([read.queue, read.steers, read.turnState], [[], ["req_2"], "running"]);
  assert.deepEqual(
    buildTimeline(read).flatMap((item) => (item.type === "user" ? [[item.text, item.isSteer]] : [])),
    [
      ["Look at the page", false],
      ["Left", true],
    ],
  );
});

test("a report replaces its earlier version and comes first", () => {
  const report = (id: string, title: string, version = 1) => ({
    id,
    title,
    version,
    url: `/s/ses_a/reports/${id}`,
    counts: { critical: 0, serious: 0, moderate: 0, minor: 0, info: 0 },
    createdAt: AT,
  });
  const published = [report("rep_1", "Audit"), report("rep_2", "Copy"), report("rep_3", "Audit", 2)];
  const state = published.reduce(
    (before, each, index) => applyEvent(before, event(5 + index, { kind: "report.published", report: each })),
    started,
  );
  assert.deepEqual(
    state.reports.map(({ id }) => id),
    ["rep_3", "rep_2"],
  );
});
