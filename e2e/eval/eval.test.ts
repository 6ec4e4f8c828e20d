import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate } from "./evaluate.ts";
import { compareReports, formatReport } from "./report.ts";
import { tasks } from "./tasks.ts";

const choose = (...ids: string[]) => tasks.filter(({ id }) => ids.includes(id));

test("the evaluation has at least 40 tasks, and each has a unique id", () => {
  assert.ok(tasks.length >= 40);
  assert.equal(new Set(tasks.map(({ id }) => id)).size, tasks.length);
});

test("an agent that does nothing solves no task", () => {
  for (const task of tasks) assert.ok(!task.isSolved({ done: [], answer: "", value: null }), task.id);
});

test("the ideal solver solves tasks with the agent's tools, without tool errors", async () => {
  const chosen = choose(
    "product-details",
    "frame-of-another-site",
    "new-tab",
    "download",
    "upload",
    "prompt-dialog",
  );
  const results = await evaluate(chosen, { kind: "ideal" });
  assert.equal(results.length, 6);
  for (const { id, isSolved, remark, toolErrors, charsRead, charsFixed, charsTotal } of results) {
    assert.ok(isSolved, `${id}: ${remark}`);
    assert.equal(toolErrors, 0, id);
    assert.ok(charsRead > 200, id);
    assert.ok(charsFixed > 1_000 && charsTotal > charsFixed + charsRead, id);
  }
});

test("the demo model solves simple tasks, and reports are formatted and compared", async () => {
  const results = await evaluate(choose("headings", "form-fields"), { kind: "model", variables: {} });
  assert.deepEqual(
    results.map(({ isSolved }) => isSolved),
    [true, true],
  );
  const report = { model: "demo model", date: "", results };
  assert.match(formatReport(report), /\ndemo model: 2 of 2 tasks solved\.$/);
  const worse = {
    ...report,
    results: results.map((each) => ({ ...each, isSolved: each.id === "headings" })),
  };
  assert.match(compareReports(report, worse), /Solved before, but not now: form-fields/);
});
