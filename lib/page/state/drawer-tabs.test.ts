import assert from "node:assert/strict";
import { test } from "node:test";
import { listTabs, newsOf } from "./drawer-tabs.ts";
import { started, testRun } from "./testing.ts";
import type { AgentView, Requirement, ToolCallView } from "./view-types.ts";

const call = (id: string): ToolCallView => ({
  toolCallId: id,
  toolName: "screenshot",
  runId: "run_1",
  state: "succeeded",
  refusal: null,
  interruptedBy: null,
  isStopped: false,
  actions: [],
  preview: "",
  resultId: null,
  evidence: [{ id: `evi_${id}` } as ToolCallView["evidence"][number]],
  startedAt: "2026-11-20T10:00:00.000Z",
  durationMs: 1,
});
const withEvidence = { ...started, toolCalls: { a: call("a"), b: call("b") } };

test("a session without content has the tabs Result and Activity", () => {
  assert.deepEqual(listTabs(started, []), ["result", "activity"]);
  assert.deepEqual(listTabs({ ...started, session: { ...started.session, mayDelegate: true } }, []), [
    "result",
    "activity",
  ]);
});

test("each tab is listed once it has content, in a fixed order, for every role", () => {
  const requirements = [{ id: "r1" } as Requirement];
  const state = { ...withEvidence, requirements, role: "view" as const };
  assert.deepEqual(listTabs(state, []), ["result", "requirements", "evidence", "activity"]);
});

test("a session with a test run has the tab Tests", () => {
  assert.deepEqual(listTabs({ ...started, testRuns: [testRun(1)] }, []), ["result", "tests", "activity"]);
});

test("an opened tab stays, even without content", () => {
  assert.deepEqual(listTabs(started, ["requirements"]), ["result", "requirements", "activity"]);
});

test("a sub-agent has none of the tabs of a top-level session, even if they were opened", () => {
  const agents = [{ agentId: "agt_2" } as AgentView];
  const agent = { name: "cart" } as unknown as NonNullable<typeof started.agent>;
  assert.deepEqual(listTabs({ ...withEvidence, agent, agents }, ["result", "requirements"]), [
    "evidence",
    "agents",
    "activity",
  ]);
});

test("evidence and annotations are counted but are not news; a sub-agent is news", () => {
  const annotations = [{ id: "ann_1" } as (typeof started.annotations)[number]];
  assert.deepEqual(newsOf({ ...withEvidence, annotations }), newsOf(started));
  const agents = [{ agentId: "agt_2" } as AgentView];
  assert.equal(newsOf({ ...started, agents }).agents, 1);
});
