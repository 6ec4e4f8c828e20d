import assert from "node:assert/strict";
import { test } from "node:test";
import { usage } from "../state/testing.ts";
import type { AgentView } from "../state/view-types.ts";
import { describeAgent } from "./describe-agent.ts";

const agent: AgentView = {
  agentId: "ses_b",
  parentId: "ses_a",
  depth: 1,
  name: "cart",
  objective: "Read the cart.",
  browser: "none",
  status: "running",
  lastStep: null,
  progress: null,
  error: null,
  submitted: false,
  usage,
  waitingOn: null,
  pictureTakenAt: null,
  createdAt: "2026-11-20T10:00:00.000Z",
  settledAt: null,
};

test("a running sub-agent shows its newest report and, in the page's words, its last step", () => {
  assert.deepEqual(describeAgent(agent), { tone: "busy", title: "Starting", detail: null, step: null });
  const words = describeAgent({ ...agent, progress: "Half is read.", lastStep: "calls dom_query" });
  assert.deepEqual([words.title, words.detail, words.step], ["Working", "Half is read.", "Reading the page"]);
  assert.equal(describeAgent({ ...agent, lastStep: "called dom_query" }).step, "Read the page");
  assert.equal(describeAgent({ ...agent, lastStep: "wrote a message" }).step, "Wrote a message");
});

test("a waiting sub-agent says what it waits for", () => {
  const titleOf = (waitingOn: AgentView["waitingOn"]) => describeAgent({ ...agent, waitingOn }).title;
  assert.equal(titleOf("agents"), "Waiting for sub-agents");
  assert.equal(titleOf("control"), "Waiting for control");
});

test("a sub-agent that has ended says how, and why it failed", () => {
  const ended = (more: Partial<AgentView>) =>
    describeAgent({ ...agent, lastStep: "ended its turn", ...more });
  assert.deepEqual(
    [ended({ status: "succeeded", submitted: true }).detail, ended({ status: "succeeded" }).tone],
    [null, "good"],
  );
  assert.match(ended({ status: "succeeded" }).detail ?? "", /last text/);
  assert.equal(ended({ status: "failed", error: "step limit" }).detail, "step limit");
  assert.deepEqual(
    [ended({ status: "cancelled" }).title, ended({ status: "cancelled" }).step],
    ["Stopped", null],
  );
});
