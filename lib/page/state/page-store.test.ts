import assert from "node:assert/strict";
import { test } from "node:test";
import { createSessionStore } from "./page-store.ts";
import type { SessionState } from "./session-state.ts";
import { AT, delta, event, message, SESSION, snapshot } from "./testing.ts";
import type { QueuedMessage } from "./view-types.ts";

const queued = (requestId: string, text: string, mode: QueuedMessage["mode"] = "queue"): QueuedMessage => ({
  requestId,
  mode,
  text,
  attachments: [],
  annotations: [],
  author: null,
  createdAt: AT,
});
const draftText = (state: SessionState) => state.drafts.map(({ text }) => text).join("|");

test("an accepted message waits in the queue until its turn stores it", () => {
  const store = createSessionStore(snapshot);
  store.addAcceptedMessage(queued("req_2", "And then?"), "run_2");
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

test("a burst of frames notifies the page once", () => {
  const scheduled: (() => void)[] = [];
  const store = createSessionStore(snapshot, (callback) => scheduled.push(callback));
  let notifications = 0;
  store.subscribe(() => {
    notifications += 1;
  });
  for (const [index, letter] of [..."abc"].entries()) {
    store.receive({ type: "message.delta", sessionId: SESSION, timestamp: AT, data: delta(index, letter) });
  }
  for (const callback of scheduled) callback();
  assert.equal(notifications, 1);
  assert.equal(draftText(store.getState()), "abc");
});

test("earlier messages are inserted before the others, each once", () => {
  const store = createSessionStore({
    ...snapshot,
    messages: [message("msg_5", 5, "user", "b")],
    hasEarlier: true,
  });
  const earlier = [message("msg_4", 4, "user", "a"), message("msg_5", 5, "user", "b")];
  store.addEarlier({ messages: earlier, hasEarlier: false });
  const { messages, hasEarlier } = store.getState();
  assert.deepEqual([messages.map(({ seq }) => seq), hasEarlier], [[4, 5], false]);
});

test("after a reconnect control counts as free until the service reports who has", () => {
  const store = createSessionStore(snapshot);
  const head = { sessionId: SESSION, timestamp: AT };
  store.receive({
    type: "control",
    ...head,
    data: {
      holder: "someone",
      name: "Ada",
      expiresAt: null,
      expiresBecause: null,
      ended: null,
      isPrivate: false,
    },
  });
  assert.equal(store.getState().control, "someone");
  store.receive({
    type: "ready",
    lastSeq: 3,
    ...head,
    data: { role: "drive", watching: 1, connectionId: "con_1" },
  });
  assert.equal(store.getState().control, null);
});

test("a message whose turn is about to begin stays visible when the queue no longer lists it", () => {
  const store = createSessionStore(snapshot);
  store.addAcceptedMessage(queued("req_2", "And then?"), "run_2");
  store.replaceQueue([]);
  assert.equal(store.getState().queue.length, 1);
  store.removeQueuedMessage("req_2");
  assert.equal(store.getState().queue.length, 0);
});

test("accepted messages wait in the order in which the agent gets them", () => {
  const store = createSessionStore(snapshot);
  const accept = (requestId: string, mode: QueuedMessage["mode"]) =>
    store.addAcceptedMessage(
      queued(requestId, requestId, mode),
      mode === "steer" ? "run_1" : `run_${requestId}`,
    );
  accept("q1", "queue");
  accept("s1", "steer");
  accept("i1", "interrupt");
  accept("q2", "queue");
  accept("s2", "steer");
  accept("i2", "interrupt");
  const { queue, runs } = store.getState();
  assert.deepEqual(
    queue.map(({ requestId }) => requestId),
    ["s1", "s2", "i1", "i2", "q1", "q2"],
  );
  assert.deepEqual(runs.filter(({ requestId }) => requestId.startsWith("s")).length, 0);
});
