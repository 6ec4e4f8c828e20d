import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "./apply-event.ts";
import { mergePlan } from "./apply-planning.ts";
import { event, started } from "./testing.ts";
import type { Plan, Requirement } from "./view-types.ts";

const AT = (second: number) => `2026-11-20T10:00:0${second}.000Z`;
const planOf = (second: number, mode: Plan["mode"]): Plan => ({
  mode,
  items: [{ id: "p1", text: "Look", status: "todo" }],
  revision: 1,
  author: "agent",
  updatedAt: AT(second),
});
const requirementOf = (id: string, second: number, status: Requirement["status"]): Requirement => ({
  id,
  text: id,
  status,
  note: null,
  evidenceIds: [],
  evidence: [],
  assertion: null,
  outcome: null,
  author: "agent",
  updatedAt: AT(second),
});

test("an answer that is older than the plan of the state is dropped", () => {
  const state = applyEvent(started, event(5, { kind: "plan.updated", plan: planOf(3, "agreed") }));
  assert.equal(state.plan.mode, "agreed");
  assert.equal(mergePlan(state, planOf(2, "plan_first")), state);
  assert.equal(mergePlan(state, planOf(4, "off")).plan.mode, "off");
});

test("requirements are merged by id, the newest state wins, in the order of their numbers", () => {
  const first = [requirementOf("r10", 1, "open"), requirementOf("r2", 2, "met")];
  let state = applyEvent(started, event(5, { kind: "requirement.updated", requirements: first }));
  const second = [requirementOf("r2", 1, "open"), requirementOf("r1", 1, "open")];
  state = applyEvent(state, event(6, { kind: "requirement.updated", requirements: second }));
  assert.deepEqual(
    state.requirements.map(({ id, status }) => `${id} ${status}`),
    ["r1 open", "r2 met", "r10 open"],
  );
  assert.equal(state.requirementChanges, 2);
});
