import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanItem } from "#db/schema/index.ts";
import { describePlan } from "./describe-planning.ts";

const item = (number: number, text: string): PlanItem => ({ id: `p${number}`, text, status: "todo" });
const planOf = (mode: "off" | "plan_first" | "agreed", items: PlanItem[] = []) => ({
  mode,
  items,
  revision: 3,
});
const all = () => true;

const textOf = (...args: Parameters<typeof describePlan>) => describePlan(...args).join("\n");

test("a session without these tools is told nothing", () => {
  assert.deepEqual(
    describePlan({ plan: planOf("plan_first"), unmet: [] }, () => false),
    [],
  );
});

test("a session without a plan is told nothing", () => {
  assert.deepEqual(describePlan({ plan: null, unmet: [] }, all), []);
});

test("a sub-agent without the plan tool learns that changes are refused, and nothing of the tool", () => {
  const text = textOf({ plan: planOf("plan_first"), unmet: [] }, (name) => name !== "update_plan");
  assert.match(text, /look, and report what you would change/);
  assert.doesNotMatch(text, /update_plan/);
});

test("plan and requirements are cut, each text on one line", () => {
  const items = Array.from({ length: 50 }, (_, number) => item(number, `a\nlong ${"x".repeat(480)}`));
  const unmet = Array.from({ length: 20 }, (_, index) => ({
    number: index + 1,
    status: "open" as const,
    text: `two\nlines ${"y".repeat(480)}`,
  }));
  const text = textOf({ plan: planOf("agreed", items), unmet }, all);
  assert.match(text, /A person has agreed to the plan/);
  assert.match(text, /\n- p0 \[todo\] a long x/);
  assert.match(text, /\n- r20 \[open\] two lines y+…$/);
  assert.ok(text.length < 10_000, String(text.length));
});
