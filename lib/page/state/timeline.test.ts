import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDelta } from "./apply-delta.ts";
import { applyEvent } from "./apply-event.ts";
import { delta, event, message, started, usage } from "./testing.ts";
import { buildTimeline } from "./timeline.ts";

test("an item keeps its key while it is written and after it is stored", () => {
  const writing = buildTimeline(applyDelta(started, delta(0, "Hel"))).at(-1);
  const stored = buildTimeline(
    applyEvent(
      started,
      event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Hello.") }),
    ),
  ).at(-1);
  assert.equal(writing?.key, stored?.key);
});

test("consecutive calls of one tool share an item", () => {
  const parts = ["dom_query", "dom_query", "screenshot"].map((toolName, index) => ({
    type: "tool-call" as const,
    toolCallId: `call_${index}`,
    toolName,
    input: {},
  }));
  const state = applyEvent(
    started,
    event(5, { kind: "message.completed", message: { ...message("msg_2", 2, "assistant", ""), parts } }),
  );
  const sizes = buildTimeline(state).map((item) => (item.type === "tools" ? item.calls.length : 0));
  assert.deepEqual(sizes, [0, 2, 1]);
});

test("a call of an ended run is over, even if the snapshot has no result for it", () => {
  const parts = [{ type: "tool-call" as const, toolCallId: "call_0", toolName: "dom_query", input: {} }];
  const call = (runId: string) => {
    const old = { ...message("msg_2", 2, "assistant", "", runId), parts };
    const item = buildTimeline({ ...started, messages: [old] }).at(-1);
    return item?.type === "tools" ? item.calls[0]?.isOver : undefined;
  };
  assert.deepEqual([call("run_0"), call("run_1")], [true, false]);
});

test("a result is shown once at the end of its run, whether or not a message contains it", () => {
  const ready = { runId: "run_1", status: "ready" as const, value: { a: 1 } };
  let state = applyEvent(
    started,
    event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Done.") }),
  );
  state = applyEvent(state, event(6, { kind: "deliverable.ready", deliverable: ready }));
  assert.equal(buildTimeline(state).at(-1)?.type, "deliverable");
  const withResult = {
    ...message("msg_3", 3, "assistant", ""),
    parts: [{ type: "data-deliverable" as const, data: ready }],
  };
  state = applyEvent(state, event(7, { kind: "message.completed", message: withResult }));
  assert.equal(buildTimeline(state).filter(({ type }) => type === "deliverable").length, 1);
});

test("the notice of a steered turn that was stopped follows the steering message", () => {
  const steer = { ...message("msg_5", 5, "user", "Left"), requestId: "req_2" };
  const state = {
    ...started,
    steers: ["req_2"],
    messages: [...started.messages, message("msg_4", 4, "assistant", "I look."), steer],
  };
  const stopped = applyEvent(state, event(9, { kind: "run.completed", outcome: "cancelled", usage }));
  assert.deepEqual(
    buildTimeline(stopped).map(({ type }) => type),
    ["user", "text", "user", "notice"],
  );
});
