import assert from "node:assert/strict";
import { test } from "node:test";
import { describeState } from "./describe-state.ts";
import { createSessionState, type SessionState } from "./session-state.ts";
import { applyDelta, applyEvent, createSessionStore } from "./session-store.ts";
import { buildTimeline } from "./timeline.ts";
import type { DomainEvent, MessageDelta, SessionSnapshot, TranscriptMessage } from "./types.ts";

const AT = "2026-11-20T10:00:00.000Z";
const SESSION = "ses_a";
const OPEN = { state: "open" } as const;

const snapshot: SessionSnapshot = {
  session: {
    id: SESSION,
    title: "Look",
    createdAt: AT,
    source: "web",
    targetUrl: null,
    isStructured: false,
    hasBrowser: true,
  },
  role: "drive",
  model: { label: "gpt", isDemo: false },
  turnState: "running",
  runs: [
    {
      runId: "run_1",
      requestId: "req_1",
      attempt: 1,
      origin: "person",
      state: "pending",
      error: null,
      notBefore: null,
      startedAt: null,
      endedAt: null,
    },
  ],
  messages: [message("msg_1", 1, "user", "Look at the page")],
  toolCalls: [],
  queue: [],
  browser: {
    status: "idle",
    sessionId: SESSION,
    liveViewUrl: null,
    desiredUrl: null,
    lastNavigatedUrl: null,
    currentUrl: null,
    lastError: null,
  },
  annotations: [],
  elicitation: null,
  deliverables: [],
  lastSeq: 3,
  paths: { live: "/live", actions: "/actions", artifacts: "/artifacts", share: "/share" },
};

function message(
  id: string,
  seq: number,
  role: "user" | "assistant",
  text: string,
  runId = "run_1",
): TranscriptMessage {
  return {
    id,
    seq,
    role,
    parts: [{ type: "text", text }],
    requestId: "req_1",
    runId: role === "user" ? null : runId,
    author: null,
    createdAt: AT,
  };
}

type Fields = Omit<DomainEvent, "seq" | "timestamp" | "sessionId" | "requestId" | "runId" | "source">;
// The kind and its fields are given together; the common ones are the same for all.
const event = (seq: number, fields: Fields & Record<string, unknown>, runId = "run_1"): DomainEvent =>
  ({
    seq,
    timestamp: AT,
    sessionId: SESSION,
    requestId: "req_1",
    runId,
    source: "web",
    ...fields,
  }) as DomainEvent;

const delta = (offset: number, text: string, rest: Partial<MessageDelta> = {}): MessageDelta => ({
  kind: "message.delta",
  timestamp: AT,
  sessionId: SESSION,
  requestId: "req_1",
  runId: "run_1",
  source: "web",
  messageId: "msg_2",
  part: "text",
  attempt: 1,
  offset,
  text,
  ...rest,
});

const usage = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 1,
  toolCalls: 0,
  durationMs: 1,
};
const started = applyEvent(
  createSessionState(snapshot),
  event(4, { kind: "run.started", attempt: 1, origin: "person" }),
);
const draftText = (state: SessionState) => state.drafts.map(({ text }) => text).join("|");

test("an event that the snapshot already contains changes nothing", () => {
  const state = createSessionState(snapshot);
  assert.equal(applyEvent(state, event(3, { kind: "run.started", attempt: 1, origin: "person" })), state);
});

test("deltas add up by offset, and a repeated or overlapping one adds only what is new", () => {
  let state = applyDelta(started, delta(0, "Hel"));
  state = applyDelta(state, delta(3, "lo"));
  assert.equal(applyDelta(state, delta(3, "lo")), state);
  assert.equal(draftText(applyDelta(state, delta(0, "Hello you"))), "Hello you");
});

test("a delta after a gap is left out", () => {
  const state = applyDelta(started, delta(0, "Hel"));
  assert.equal(applyDelta(state, delta(9, "lost")), state);
});

test("a later attempt replaces what an earlier one streamed, and an earlier one is ignored", () => {
  const state = applyDelta(applyDelta(started, delta(0, "First")), delta(0, "Se", { attempt: 2 }));
  assert.equal(draftText(state), "Se");
  assert.equal(applyDelta(state, delta(5, " try")), state);
});

test("the stored message supersedes its deltas, also those that come late", () => {
  let state = applyDelta(started, delta(0, "Hel"));
  state = applyEvent(
    state,
    event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Hello.") }),
  );
  assert.deepEqual(state.drafts, []);
  assert.equal(applyDelta(state, delta(3, "lo")), state);
  assert.equal(state.messages.length, 2);
});

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

test("a failed run that is retried shows when, and the session stays running", () => {
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

test("a failed run says why and what to do", () => {
  const state = applyEvent(
    started,
    event(5, { kind: "run.completed", outcome: "errored", error: "step limit of 200 reached", usage }),
  );
  assert.equal(state.turnState, "idle");
  assert.deepEqual(
    [describeState(state, OPEN).title, describeState(state, OPEN).advice],
    ["Failed", "Send a message to let the agent go on from here."],
  );
  assert.equal(buildTimeline(state).at(-1)?.type, "notice");
});

test("a running tool is told in plain words", () => {
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

test("consecutive calls of a kind fold into one item", () => {
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

test("an accepted message waits in the queue until its turn stores it", () => {
  const store = createSessionStore(snapshot);
  store.noteAccepted({ requestId: "req_2", text: "And then?", author: null, createdAt: AT }, "run_2");
  assert.equal(store.getState().queue.length, 1);
  const sent = { ...message("msg_9", 9, "user", "And then?"), requestId: "req_2" };
  store.receive({
    type: "message.completed",
    seq: 4,
    sessionId: SESSION,
    timestamp: AT,
    data: event(4, { kind: "message.completed", message: sent }),
  });
  assert.equal(store.getState().queue.length, 0);
});

test("a burst of frames is one notice to the page", () => {
  const scheduled: (() => void)[] = [];
  const store = createSessionStore(snapshot, (callback) => scheduled.push(callback));
  let notices = 0;
  store.subscribe(() => {
    notices += 1;
  });
  for (const [index, letter] of [..."abc"].entries()) {
    store.receive({ type: "message.delta", sessionId: SESSION, timestamp: AT, data: delta(index, letter) });
  }
  for (const callback of scheduled) callback();
  assert.equal(notices, 1);
  assert.equal(draftText(store.getState()), "abc");
});

test("a lost connection is said before anything else", () => {
  const words = describeState(started, { state: "reconnecting", attempt: 1, isOverloaded: false });
  assert.equal(words.title, "Reconnecting");
});

test("a message whose turn is about to begin stays in view when the queue no longer lists it", () => {
  const store = createSessionStore(snapshot);
  store.noteAccepted({ requestId: "req_2", text: "And then?", author: null, createdAt: AT }, "run_2");
  store.replaceQueue([]);
  assert.equal(store.getState().queue.length, 1);
  store.noteRemoved("req_2");
  assert.equal(store.getState().queue.length, 0);
});

test("a result is shown at the end of its run, once, whether or not a message carries it", () => {
  const ready = { runId: "run_1", status: "ready" as const, value: { a: 1 } };
  let state = applyEvent(
    started,
    event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Done.") }),
  );
  state = applyEvent(state, event(6, { kind: "deliverable.ready", deliverable: ready }));
  assert.equal(buildTimeline(state).at(-1)?.type, "deliverable");
  const carried = {
    ...message("msg_3", 3, "assistant", ""),
    parts: [{ type: "data-deliverable" as const, data: ready }],
  };
  state = applyEvent(state, event(7, { kind: "message.completed", message: carried }));
  assert.equal(buildTimeline(state).filter(({ type }) => type === "deliverable").length, 1);
});
