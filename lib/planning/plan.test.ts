import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlanItem } from "#db/schema/index.ts";
import { editItems, PLAN_LIMITS, type PlanEdit, replaceItems } from "./plan.ts";

const item = (id: string, text: string, status: PlanItem["status"] = "todo"): PlanItem => ({
  id,
  text,
  status,
});
const newItem = (text: string, id?: string) => ({ text, status: "todo" as const, ...(id && { id }) });
const idsOf = (result: ReturnType<typeof replaceItems>) =>
  result.ok ? result.items.map(({ id }) => id) : result.problem;

describe("replaceItems", () => {
  it("gives a new item an unused id: neither that of a removed item nor one that the agent sets", () => {
    const plan = { items: [item("p1", "Look")], lastItem: 4 };
    assert.deepEqual(idsOf(replaceItems(plan, [newItem("New")])), ["p5"]);
    assert.deepEqual(idsOf(replaceItems(plan, [newItem("A"), newItem("B", "p9"), newItem("C")])), [
      "p10",
      "p9",
      "p11",
    ]);
    assert.deepEqual(idsOf(replaceItems(plan, [newItem("A", "ask-ann"), newItem("B")])), ["ask-ann", "p5"]);
  });

  it("keeps the id of an item with the same text, once", () => {
    const plan = { items: [item("p1", "Look"), item("p2", "Look")], lastItem: 2 };
    assert.deepEqual(idsOf(replaceItems(plan, [newItem("Look"), newItem("Look"), newItem("Look")])), [
      "p1",
      "p2",
      "p3",
    ]);
    assert.deepEqual(idsOf(replaceItems(plan, [newItem("Look"), newItem("Else", "p1")])), ["p2", "p1"]);
  });
});

describe("editItems", () => {
  const plan = { items: [item("p1", "Look"), item("p2", "Change")], lastItem: 2 };
  const edit = (...edits: PlanEdit[]) => editItems(plan, edits);

  it("adds an item after the named one, and later edits of a call see the earlier ones", () => {
    const edited = edit(
      { action: "add", text: "First", after: null },
      { action: "setStatus", id: "p3", status: "done" },
      { action: "add", text: "Middle", after: "p1" },
    );
    assert.deepEqual(edited.ok && edited.items.map(({ id, status }) => `${id} ${status}`), [
      "p3 done",
      "p1 todo",
      "p4 todo",
      "p2 todo",
    ]);
  });

  it("names the edit that does not fit, and leaves the items unchanged", () => {
    const missing = edit({ action: "add", text: "A", after: "p7" });
    assert.equal(missing.ok, false);
    assert.match(missing.ok ? "" : missing.problem, /^edits\[0\]\.after: the plan has no item p7/);
    const full = {
      items: Array.from({ length: PLAN_LIMITS.itemsMax }, (_, n) => item(`p${n}`, "x")),
      lastItem: 50,
    };
    const refused = editItems(full, [{ action: "add", text: "A" }]);
    assert.deepEqual(refused, { ok: false, problem: "edits[0]: the plan has 50 items; a plan may have 50" });
    assert.equal(plan.items.length, 2);
  });
});
