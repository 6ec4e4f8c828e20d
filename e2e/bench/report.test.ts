import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { combineRuns, formatTable } from "./report.ts";
import { median, medianRatio, quantile } from "./statistics.ts";

describe("the table of the bench", () => {
  test("a row shows its ratio, what was promised, and whether it holds; figures of one machine stay out", () => {
    const table = formatTable([
      { what: "latency", value: 1.996, unit: "×", target: { atMost: 2 }, behind: { serviceMs: 9 } },
      { what: "frames", value: 0.9, unit: "×", target: { atLeast: 0.95 }, behind: {} },
      { what: "creation", value: 12.34, unit: "×", behind: {} },
    ]);
    assert.deepEqual(table.split("\n").slice(2), [
      "| latency | 2.00 × | ≤ 2 × | ✓ |",
      "| frames | 0.90 × | ≥ 0.95 × | ✗ |",
      "| creation | 12 × |  |  |",
    ]);
  });
});

test("several runs become one row each: the median of its values and of the figures behind them", () => {
  const run = (value: number, serviceMs: number) => [
    { what: "latency", value, unit: "×" as const, target: { atMost: 2 }, behind: { serviceMs } },
    { what: "creation", value: value * 10, unit: "×" as const, behind: {} },
  ];
  // A run may have left a measurement out.
  const runs = [run(3, 30), run(1, 20), run(2, 10).slice(0, 1)];
  assert.deepEqual(combineRuns(runs), [
    { what: "latency", value: 2, unit: "×", target: { atMost: 2 }, behind: { serviceMs: 20 } },
    { what: "creation", value: 30, unit: "×", behind: {} },
  ]);
});

describe("what the ratios are made of", () => {
  test("a slow moment that hits one pair does not move the median of the ratios", () => {
    assert.equal(
      medianRatio([
        [10, 5],
        [200, 100],
        [11, 5],
        [300, 5],
        [10, 5],
      ]),
      2,
    );
  });
  test("quantiles are values that were measured", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(quantile([1, 2, 3, 4], 0.95), 4);
    assert.throws(() => median([]), RangeError);
  });
});
