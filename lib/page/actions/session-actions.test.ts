import assert from "node:assert/strict";
import { test } from "node:test";
import { createSessionActions } from "./session-actions.ts";

const PATHS = {
  actions: "/s/ses_a/actions",
  files: "/files",
  messages: "/messages",
  agents: "/s/ses_a/agents",
  variants: "/api/sessions/ses_a/variants",
  tests: "/api/sessions/ses_a/tests",
  planning: "/api/sessions/ses_a",
  imports: "/api/sessions/ses_a/imports",
  skills: "/api/sessions/ses_a/skills",
};
const answering = (status: number, body: string) => async () => new Response(body, { status });

test("a refusal is the service's own sentence", async () => {
  const actions = createSessionActions(PATHS, answering(409, '{"error":"this message has started already"}'));
  const outcome = await actions.removeQueued("req_1");
  assert.deepEqual(outcome, { isDone: false, status: 409, error: "this message has started already" });
});

test("a failure without an error sentence gets one", async () => {
  const outcome = await createSessionActions(PATHS, answering(502, "<html>")).cancel();
  assert.ok(!outcome.isDone && outcome.error === "The service answered with status 502.");
});

test("an unreachable service is an outcome, not a throw", async () => {
  const actions = createSessionActions(PATHS, () => Promise.reject(new TypeError("fetch failed")));
  const outcome = await actions.sendMessage("Hello", "queue");
  assert.ok(!outcome.isDone && outcome.status === 0);
});

test("an interrupted answer is an outcome, not a throw", async () => {
  const outcome = await createSessionActions(PATHS, answering(200, '{"success":true,"da')).readQueue();
  assert.ok(!outcome.isDone && outcome.status === 0);
});

test("a sub-agent is stopped through the session's own path", async () => {
  const paths: string[] = [];
  const actions = createSessionActions(PATHS, async (path) => {
    paths.push(String(path));
    return Response.json({ success: true, agents: [] });
  });
  assert.ok((await actions.cancelAgent("ses_b")).isDone);
  assert.deepEqual(await actions.readAgents(), { isDone: true, answer: [] });
  assert.deepEqual(paths, ["/s/ses_a/agents/ses_b/actions/cancel", "/s/ses_a/actions/agents"]);
});

test("the queue is read from the `data` of the answer", async () => {
  const message = {
    requestId: "req_1",
    text: "Next",
    attachments: [],
    author: null,
    createdAt: "2026-11-20T10:00:00.000Z",
  };
  const body = JSON.stringify({ success: true, data: [message], nextCursor: null });
  const outcome = await createSessionActions(PATHS, answering(200, body)).readQueue();
  assert.deepEqual(outcome, { isDone: true, answer: [message] });
});

test("a message of a host page has the id of its command as idempotency key", async () => {
  const bodies: unknown[] = [];
  const actions = createSessionActions(PATHS, async (path, init) => {
    bodies.push([path, JSON.parse(String(init?.body))]);
    return Response.json({ success: true });
  });
  await actions.sendHostMessage("Hello", "queue", "a");
  const body = { text: "Hello", mode: "queue", idempotencyKey: "frame-command:a" };
  assert.deepEqual(bodies, [["/s/ses_a/actions/host-messages", body]]);
});
