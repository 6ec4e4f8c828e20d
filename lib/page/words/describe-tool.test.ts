import assert from "node:assert/strict";
import { test } from "node:test";
import { describeTool } from "./describe-tool.ts";

test("a tool is told in plain words, with what it is about", () => {
  const words = describeTool("dom_query", { selector: "form input", limit: 20 });
  assert.deepEqual(
    [words.running, words.done, words.object],
    ["Reading the page", "Read the page", "form input"],
  );
});

test("of a script only the first line is shown", () => {
  assert.equal(
    describeTool("browser_execute", { script: "await page.reload();\nreturn 1;" }).object,
    "await page.reload();",
  );
});

test("a tool of a caller's server is told by both names", () => {
  assert.equal(describeTool("mcp_stock__lookup", {}).done, "Called lookup on stock");
});

test("a tool the page does not know is told by its name", () => {
  assert.equal(describeTool("spawn_agents", null).running, "Using spawn agents");
});

test("several calls of a kind are one sentence", () => {
  assert.equal(describeTool("screenshot", null).many(3), "Took 3 screenshots");
});
