import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "../state/apply-event.ts";
import { AT, event, OPEN, started, usage } from "../state/testing.ts";
import { buildTimeline } from "../state/timeline.ts";
import { describeState } from "./describe-state.ts";

test("a failed run that will be retried shows the time of the retry, and the session stays running", () => {
  const state = applyEvent(
    started,
    event(5, {
      kind: "run.completed",
      outcome: "errored",
      error: "503",
      usage,
      willRetry: { runId: "run_2", attempt: 2, delayMs: 8_000 },
    }),
  );
  assert.equal(state.turnState, "running");
  const words = describeState(state, OPEN);
  assert.equal(words.title, "Retrying");
  assert.equal(words.detail, "attempt 2 of 5");
  assert.equal(words.until, "2026-11-20T10:00:08.000Z");
});

test("a failed run shows its reason and advice", () => {
  const state = applyEvent(
    started,
    event(5, { kind: "run.completed", outcome: "errored", error: "step limit of 200 reached", usage }),
  );
  assert.equal(state.turnState, "idle");
  assert.deepEqual(
    [describeState(state, OPEN).title, describeState(state, OPEN).advice],
    ["Failed", "Send a message to let the agent continue."],
  );
  assert.equal(buildTimeline(state).at(-1)?.type, "notice");
});

test("a running tool is described in plain words", () => {
  const state = applyEvent(
    started,
    event(5, {
      kind: "tool.call",
      messageId: "msg_2",
      toolCallId: "call_1",
      toolName: "dom_query",
      input: { selector: "form" },
    }),
  );
  assert.equal(describeState(state, OPEN).detail, "Reading the page");
  assert.equal(buildTimeline(state).at(-1)?.type, "tools");
});

test("a lost connection takes precedence over the state of the turn", () => {
  const words = describeState(started, { state: "reconnecting", attempt: 1, isOverloaded: false });
  assert.equal(words.title, "Reconnecting");
});

test("a turn that succeeded without a valid result is not shown as done", () => {
  const deliverable = { runId: "run_1", status: "failed" as const, error: "/items must be array" };
  const state = applyEvent(
    started,
    event(5, { kind: "run.completed", outcome: "succeeded", usage, deliverable }),
  );
  const { tone, title, detail } = describeState(state, OPEN);
  assert.deepEqual([tone, title, detail], ["bad", "No valid result", "/items must be array"]);
  const violations = [{ path: "/items", message: "must be array" }];
  const broken = applyEvent(
    started,
    event(5, {
      ...({ kind: "run.completed", outcome: "succeeded", usage } as const),
      deliverable: { ...deliverable, violations },
    }),
  );
  assert.equal(describeState(broken, OPEN).detail, "the result violates the schema in one place");
});

test("a turn that did not reach its page is not shown as done, whatever the browser does later", () => {
  const called = applyEvent(
    started,
    event(5, {
      kind: "tool.call",
      messageId: "msg_2",
      toolCallId: "call_1",
      toolName: "browser_execute",
      input: {},
    }),
  );
  const browser = { status: "ready", desiredUrl: "https://shop.example/", lastNavigatedUrl: null } as const;
  const unreached = applyEvent(
    called,
    event(6, {
      kind: "browser.status",
      ...browser,
      currentUrl: null,
      lastError: "shop.example was not found",
    }),
  );
  const ended = { kind: "run.completed", outcome: "succeeded", usage } as const;
  const state = applyEvent(unreached, event(7, ended));
  const { tone, title, detail } = describeState(state, OPEN);
  assert.deepEqual([tone, title, detail], ["bad", "Page not reached", "shop.example was not found"]);
  assert.ok(buildTimeline(state).some(({ type }) => type === "notice"));
  const later = applyEvent(
    applyEvent(called, event(6, ended)),
    event(7, { kind: "browser.status", ...browser, currentUrl: null, lastError: "the page crashed" }),
  );
  assert.equal(describeState(later, OPEN).title, "Done");
});

test("a turn that waits for a browser shows its position in the queue until the browser is ready", () => {
  const call = { messageId: "msg_2", toolCallId: "call_1", toolName: "dom_query", input: {} };
  const browser = { desiredUrl: null, lastNavigatedUrl: null, currentUrl: null, lastError: null };
  const apply = (state: typeof started, seq: number, fields: Parameters<typeof event>[1]) =>
    applyEvent(state, event(seq, fields));
  const creating = apply(apply(started, 5, { kind: "tool.call", ...call }), 6, {
    kind: "browser.status",
    status: "creating",
    ...browser,
  });
  const third = apply(creating, 7, { kind: "browser.waiting", position: 3 });
  assert.equal(describeState(third, OPEN).detail, "Waiting for a browser, 2 ahead of you");
  const next = apply(third, 8, { kind: "browser.waiting", position: 1 });
  assert.equal(describeState(next, OPEN).detail, "Waiting for a browser, you are next");
  const retargeted = apply(next, 9, { kind: "browser.status", status: "creating", ...browser });
  assert.equal(retargeted.browserPosition, 1);
  const ready = apply(retargeted, 10, { kind: "browser.status", status: "ready", ...browser });
  assert.equal(describeState(ready, OPEN).detail, "Reading the page");
  const expired = apply(ready, 11, { kind: "browser.status", status: "expired", ...browser });
  assert.equal(expired.pictureTakenAt, null, "a browser that was lost without a picture");
  const pictureTakenAt = "2026-11-20T10:00:00.000Z";
  const kept = apply(expired, 12, { kind: "browser.status", status: "expired", ...browser, pictureTakenAt });
  assert.equal(kept.pictureTakenAt, pictureTakenAt);
});

test("a plan that waits for a person is not shown as done", () => {
  const ended = applyEvent(started, event(5, { kind: "run.completed", outcome: "succeeded", usage }));
  const item = { id: "p1", text: "Change the heading", status: "todo" as const };
  const plan = { ...ended.plan, mode: "plan_first" as const, items: [item] };
  const titleOf = (state: typeof ended) => describeState(state, OPEN).title;
  assert.equal(titleOf({ ...ended, plan }), "Waiting for your go-ahead");
  assert.equal(titleOf({ ...ended, plan, role: "view" }), "Waiting for a go-ahead");
  assert.equal(titleOf({ ...ended, plan: { ...plan, items: [{ ...item, status: "dropped" }] } }), "Done");
  assert.equal(titleOf({ ...ended, plan: { ...plan, items: [{ ...item, status: "done" }] } }), "Done");
  assert.equal(titleOf({ ...ended, plan: { ...plan, mode: "agreed" } }), "Done");
  assert.equal(titleOf({ ...started, plan }), titleOf(started));
});

test("a turn that waits for test results says so until it resumes", () => {
  const waitingOn = { kind: "tests" as const, ids: ["tst_1"], since: AT, until: null };
  const running = applyEvent(started, event(5, { kind: "run.started", attempt: 1, origin: "person" }));
  const waiting = applyEvent(running, event(6, { kind: "turn.waiting", waitingOn }));
  const { title, tone, since } = describeState(waiting, OPEN);
  assert.deepEqual([title, tone, since], ["Waiting for test results", "busy", AT]);
  const resumed = applyEvent(waiting, event(7, { kind: "turn.resumed", reason: "settled" }));
  assert.equal(describeState(resumed, OPEN).title, "Working");
});

test("a turn that used up a budget says which one, and when it continues", () => {
  const reason =
    "The session's budget of 1,500 tokens is used up (2,000 spent). The turn continues when the budget is raised.";
  const waitingOn = { kind: "budget" as const, ids: [], since: AT, until: null, reason };
  const running = applyEvent(started, event(5, { kind: "run.started", attempt: 1, origin: "person" }));
  const waiting = applyEvent(running, event(6, { kind: "turn.waiting", waitingOn }));
  const { title, tone, detail, until } = describeState(waiting, OPEN);
  assert.deepEqual([title, tone, detail, until], ["Budget used up", "attention", reason, null]);
  const midnight = applyEvent(
    running,
    event(6, { kind: "turn.waiting", waitingOn: { ...waitingOn, until: AT } }),
  );
  assert.equal(describeState(midnight, OPEN).until, AT);
});

test("a turn that waits for approval says so before the list is read, and not after a question is answered", () => {
  const waitFor = (id: string) =>
    applyEvent(
      started,
      event(5, { kind: "turn.waiting", waitingOn: { kind: "person", ids: [id], since: AT, until: null } }),
    );
  const state = waitFor("itm_1");
  assert.equal(describeState(state, OPEN).title, "Waiting for your approval");
  assert.equal(describeState({ ...state, role: "view" }, OPEN).title, "Waiting for approval");
  assert.equal(describeState(waitFor("eli_1"), OPEN).title, "Working");
});
