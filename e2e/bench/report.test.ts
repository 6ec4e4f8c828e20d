import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { combineRuns, formatTable } from "./report.ts";
import { median, medianRatio, quantile } from "./statistics.ts";

describe("the table of the bench", () => {
  test("a row contains its ratio, its target and whether the target is met, but no figures of the machine", () => {
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

test("several runs become one row per measurement, with the medians of its values and of the figures behind them", () => {
  const run = (value: number, serviceMs: number) => [
    { what: "latency", value, unit: "×" as const, target: { atMost: 2 }, behind: { serviceMs } },
    { what: "creation", value: value * 10, unit: "×" as const, behind: {} },
  ];
  // The third run has skipped the second measurement.
  const runs = [run(3, 30), run(1, 20), run(2, 10).slice(0, 1)];
  assert.deepEqual(combineRuns(runs), [
    { what: "latency", value: 2, unit: "×", target: { atMost: 2 }, behind: { serviceMs: 20 } },
    { what: "creation", value: 30, unit: "×", behind: {} },
  ]);
});

describe("the statistics of the bench", () => {
  test("a slow moment that affects one pair does not change the median of the ratios", () => {
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
  test("a quantile is one of the measured values", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(quantile([1, 2, 3, 4], 0.95), 4);
    assert.throws(() => median([]), RangeError);
  });
});
