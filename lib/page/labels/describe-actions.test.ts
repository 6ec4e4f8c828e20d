import assert from "node:assert/strict";
import { test } from "node:test";
import { describeActions } from "./describe-actions.ts";
import { describeTool } from "./describe-tool.ts";

test("a call is described by what it did to the page", () => {
  assert.equal(describeActions([{ did: "opened", what: "http://shop.example/demo" }]), "Opened /demo");
  assert.equal(describeActions([{ did: "opened", what: "https://shop.example/" }]), "Opened shop.example");
  assert.equal(
    describeActions([
      { did: "filled", what: "Email" },
      { did: "clicked", what: "Add to cart" },
    ]),
    "Filled Email, clicked Add to cart",
  );
  assert.equal(describeActions([{ did: "clicked", what: null }]), "Clicked in the page");
  assert.equal(describeActions([{ did: "went_back", what: null }]), "Went back");
});

test("of many actions, the first three are named", () => {
  const actions = ["a", "b", "c", "d", "e"].map((what) => ({ did: "clicked" as const, what }));
  assert.equal(describeActions(actions), "Clicked a, clicked b, clicked c and 2 more");
});

test("a script without actions is a script, and one with actions is what it did", () => {
  const script = { script: "return document.title" };
  assert.equal(describeTool("browser_execute", script, "ok").done, "Ran a script in the page");
  const words = describeTool("browser_execute", script, "ok", [{ did: "reloaded", what: null }]);
  assert.deepEqual([words.done, words.object], ["Reloaded the page", null]);
});

test("an address that is none is shown as it is", () =>
  assert.equal(describeActions([{ did: "opened", what: "about:blank" }]), "Opened blank"));
