import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countTests, readReport } from "./read-report.ts";

const identity = { id: "a", target: "control", file: "tests/a.spec.ts", line: 3, titles: ["group", "works"] };
const start = (more: object = {}) => ({ type: "start", ...identity, attempt: 1, ...more });
const end = (more: object = {}) => ({
  type: "end",
  ...identity,
  attempt: 1,
  status: "passed",
  hasFailed: false,
  durationMs: 12.4,
  errors: [],
  steps: [{ title: "Navigate", durationMs: 1, steps: [{ title: "inner", durationMs: 0, error: "no" }] }],
  attachments: [{ name: "trace", mediaType: "application/zip", path: "test-results/files/trace.zip" }],
  annotations: [{ type: "issue", description: "SHOP-7" }],
  output: "printed\n",
  ...more,
});
const write = (...lines: (object | string)[]) =>
  lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");

describe("the report of a test run", () => {
  it("has each test once: the last attempt decides its status, the last failed attempt its errors", () => {
    const { tests, total, isComplete } = readReport(
      write(
        { type: "begin", total: 2 },
        start(),
        end({ status: "flaky", hasFailed: true, errors: ["first"], attachments: [] }),
        start({ attempt: 2 }),
        end({ status: "flaky", attempt: 2 }),
        start({ id: "b", target: "variant" }),
        end({ id: "b", target: "variant" }),
        { type: "finish", status: "passed" },
      ),
      undefined,
    );
    assert.deepEqual([total, isComplete, tests.length], [2, true, 2]);
    const [flaky] = tests;
    assert.deepEqual(
      [flaky?.status, flaky?.attempts, flaky?.errors, flaky?.durationMs, flaky?.files.length],
      ["flaky", 2, ["first"], 24, 1],
    );
    assert.deepEqual(countTests(tests), { total: 2, passed: 1, failed: 0, flaky: 1, skipped: 0 });
  });

  it("has two results for a test that runs against both targets, although both have the same id", () => {
    const { tests } = readReport(write(start(), end(), start({ target: "variant" })), "it took too long");
    assert.deepEqual(
      tests.map(({ target, status, errors }) => [target, status, errors]),
      [
        ["control", "passed", []],
        ["variant", "failed", ["The test had not ended when the run was ended: it took too long"]],
      ],
    );
  });

  it("limits a forged report to the maximums of a run", () => {
    const nested = (depth: number): object[] => [
      { title: "step", durationMs: 1, ...(depth > 1 && { steps: nested(depth - 1) }) },
    ];
    const many = Array.from({ length: 1_200 }, (_, index) => end({ id: `many ${index}` }));
    const { tests } = readReport(
      write(
        ...Array.from({ length: 60 }, () => end({ durationMs: 86_400_000, steps: nested(50) })),
        end({ id: "b", titles: Array.from({ length: 30 }, () => "\u001b[31mred\u001b[0m\u0007") }),
        ...many,
      ),
      undefined,
    );
    const [first, second] = tests;
    assert.equal(tests.length, 1_000);
    assert.equal(first?.durationMs, 86_400_000, "fits the column");
    assert.deepEqual(first?.steps[0]?.steps?.[0]?.steps?.[0]?.steps, [{ title: "step", durationMs: 1 }]);
    assert.deepEqual(second?.titles, Array(20).fill("red"));
  });

  it("ignores invalid lines", () => {
    const lines = [
      "",
      "nonsense",
      "[]",
      "null",
      '{"type":"end"}',
      '{"type":"other"}',
      JSON.stringify(end({ target: "elsewhere" })),
      JSON.stringify(end({ durationMs: -1 })),
      JSON.stringify(end({ durationMs: 1e300 })),
      JSON.stringify(end({ titles: [1] })),
      JSON.stringify(end({ steps: Array(101).fill({ title: "x", durationMs: 1 }) })),
      JSON.stringify(end({ line: 1.5 })),
      `{"type":"begin","total":-1}`,
      `${JSON.stringify(end()).slice(0, -20)}`,
    ];
    const { tests, total, errors } = readReport(lines.join("\n"), undefined);
    assert.deepEqual([tests, total, errors], [[], undefined, []]);
  });

  it("cuts long texts and makes them storable", () => {
    const { tests, errors } = readReport(
      write(
        end({ output: "x".repeat(100_000), errors: ["\u0000bad \ud800"] }),
        ...Array(20).fill({ type: "error", message: "y".repeat(100_000) }),
      ),
      undefined,
    );
    assert.ok((tests[0]?.output.length ?? 0) <= 4_100);
    assert.ok(!tests[0]?.errors[0]?.includes("\u0000"));
    assert.deepEqual([errors.length, errors.every(({ length }) => length <= 4_100)], [10, true]);
  });
});
