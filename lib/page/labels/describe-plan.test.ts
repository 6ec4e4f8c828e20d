import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, Requirement } from "../state/view-types.ts";
import { describeAssertion, describeOutcome, summarizePlan } from "./describe-plan.ts";
import { describeTool } from "./describe-tool.ts";

const planOf = (...statuses: Plan["items"][number]["status"][]): Plan => ({
  mode: "off",
  items: statuses.map((status, index) => ({ id: `p${index}`, text: `Step ${index}`, status })),
  revision: 1,
  author: "agent",
  updatedAt: null,
});

test("a plan is summed up without its dropped items", () => {
  assert.deepEqual(summarizePlan(planOf()), { progress: null, current: null });
  assert.deepEqual(summarizePlan(planOf("done", "in_progress", "dropped", "todo")), {
    progress: "1 of 3",
    current: "Step 1",
  });
  assert.equal(summarizePlan(planOf("dropped")).progress, "all dropped");
});

test("assertions and their results are sentences", () => {
  const on = { url: "https://shop.example/", selector: "#pay" };
  assert.equal(describeAssertion({ ...on, is: "text", value: "Pay" }), "reads “Pay”");
  assert.equal(describeAssertion({ ...on, is: "count", value: 1 }), "matches 1 element");
  assert.equal(describeAssertion({ ...on, is: "hidden" }), "is hidden");
  const outcome = { status: "pass", at: "", variant: "main", revision: 2, message: null } as const;
  assert.deepEqual(describeOutcome({ outcome }), { title: "Passed in revision 2 of main", tone: "good" });
  assert.equal(describeOutcome({ outcome: null } as Requirement).title, "Not checked yet");
});

test("calls of planning tools name their subject", () => {
  const object = (name: string, input: unknown) => describeTool(name, input).object;
  assert.equal(object("update_plan", { items: [1, 2] }), "2 items");
  assert.equal(object("add_requirements", { requirements: [{ text: "a" }] }), "1 requirement");
  assert.equal(object("update_requirement", { id: "r1", status: "met", note: "x" }), "r1: met");
  assert.equal(describeTool("update_plan", {}).done, "Updated the plan");
});
