import assert from "node:assert/strict";
import { test } from "node:test";
import { describeTool } from "./describe-tool.ts";

test("a tool call is described in plain words, with its subject", () => {
  const words = describeTool("dom_query", { selector: "form input", limit: 20 });
  assert.deepEqual(
    [words.running, words.done, words.object],
    ["Reading the page", "Read the page", "form input"],
  );
});

test("a call of a skill is described with the skill, its file and its arguments", () => {
  const words = describeTool("run_skill_script", {
    name: "copy-review",
    script: "scripts/copy-check.mjs",
    args: ["home.html", "cart.html"],
  });
  assert.deepEqual(
    [words.running, words.done, words.object],
    [
      "Running a script of a skill",
      "Ran a script of a skill",
      "copy-review/copy-check.mjs home.html cart.html",
    ],
  );
  assert.equal(describeTool("read_skill", { name: "copy-review" }).object, "copy-review");
  assert.equal(describeTool("read_skill", { name: "copy-review", path: "a.md" }).object, "copy-review/a.md");
  assert.equal(describeTool("read_skill", null).object, null);
});

test("only the first line of a script is shown", () => {
  assert.equal(
    describeTool("browser_execute", { script: "await page.reload();\nreturn 1;" }).object,
    "await page.reload();",
  );
});

test("a tool of a remote server is described by tool and server name", () => {
  assert.equal(describeTool("mcp_stock__lookup", {}).done, "Called lookup on stock");
});

test("an unknown tool is described by its name", () => {
  assert.equal(describeTool("rewind_time", null).running, "Using rewind time");
});

test("several calls of one tool are described in one sentence", () => {
  assert.equal(describeTool("screenshot", null).many(3), "Took 3 screenshots");
});

test("a change of the page is described with the number of its changes", () => {
  const add = [{ op: "remove", selector: "#banner" }];
  const set = [{ url: "https://shop.example/", changes: [{}, {}] }];
  const words = describeTool("apply_variant", { baseRevision: 3, set, add, drop: ["c4"] });
  assert.deepEqual(
    [words.running, words.done, words.object],
    ["Changing the page", "Changed the page", "3 changes, 1 dropped"],
  );
  assert.equal(describeTool("apply_variant", { variant: "b", css: "p{}" }).object, "style sheet, variant b");
  assert.equal(describeTool("apply_variant", null).object, null);
});

test("previews are described with their number", () => {
  assert.equal(describeTool("set_previews", { previews: [{}, {}, {}, {}] }).done, "Took 4 previews");
  assert.equal(describeTool("set_previews", { previews: [{}] }).running, "Taking 1 preview");
  assert.equal(describeTool("set_previews", null).done, "Took previews");
  assert.equal(describeTool("check_variant", { variant: "b" }).object, "b");
});

test("a publication is described with its release once the result names it", () => {
  const words = describeTool("publish_variant", { variant: "b" });
  assert.deepEqual(
    [words.running, words.done, words.object],
    ["Publishing the variant", "Published the variant", "b"],
  );
  const published = describeTool(
    "publish_variant",
    {},
    "Published release 2 of variant main: revision 3.\n…",
  );
  assert.deepEqual([published.done, published.object], ["Published release 2 of main", null]);
  const known = "Revision 3 of variant b is published already, as release 12.";
  assert.equal(describeTool("publish_variant", { variant: "b" }, known).done, "Published release 12 of b");
});

test("a report is described with its title", () => {
  const words = describeTool("publish_qa_report", { title: "Checkout audit", summary: "", findings: [] });
  assert.deepEqual(
    [words.icon, words.running, words.done, words.object],
    ["report", "Publishing a report", "Published a report", "Checkout audit"],
  );
});
