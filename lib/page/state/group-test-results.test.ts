import assert from "node:assert/strict";
import { test } from "node:test";
import { countTests, filterTests, groupTestResults } from "./group-test-results.ts";
import { testResult } from "./testing.ts";
import type { TestResult } from "./view-types.ts";

const show = (results: TestResult[]) =>
  groupTestResults(results).map(({ file, tests }) => [
    file,
    ...tests.map(
      (each) =>
        `${each.titles.join(" › ")}: ${each.results.map((r) => `${r.target} ${r.status}`).join(", ")}`,
    ),
  ]);

test("a test has its control and its variant side by side", () => {
  const variant = { target: "variant", status: "failed" } as const;
  assert.deepEqual(show([testResult("pays", variant), testResult("pays"), testResult("pays", { line: 9 })]), [
    ["tests/cart.spec.ts", "pays: control passed, variant failed", "pays: control passed"],
  ]);
});

test("files and tests with problems come first, the others keep the order of the run", () => {
  const other = { file: "tests/shop.spec.ts" };
  assert.deepEqual(
    show([
      testResult("a"),
      testResult("b", { status: "skipped" }),
      testResult("c"),
      testResult("d", other),
      testResult("e", { ...other, status: "flaky" }),
      testResult("f", { ...other, status: "failed" }),
    ]),
    [
      ["tests/shop.spec.ts", "f: control failed", "e: control flaky", "d: control passed"],
      ["tests/cart.spec.ts", "a: control passed", "b: control skipped", "c: control passed"],
    ],
  );
});

test("a second result of a test for the same target is kept", () => {
  const files = groupTestResults([testResult("pays"), testResult("pays", { status: "failed" })]);
  assert.equal(countTests(files), 2);
  assert.equal(new Set(files[0]?.tests.map(({ key }) => key)).size, 2);
});

test("a filter keeps the tests with a result of its status", () => {
  const files = groupTestResults([
    testResult("pays"),
    testResult("pays", { target: "variant", status: "failed" }),
    testResult("loads", { file: "tests/shop.spec.ts" }),
  ]);
  assert.equal(countTests(filterTests(files, "failed")), 1);
  assert.equal(countTests(filterTests(files, "passed")), 2);
  assert.deepEqual(filterTests(files, "flaky"), []);
  assert.deepEqual(filterTests(files, null), files);
});
