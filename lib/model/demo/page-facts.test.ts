import assert from "node:assert/strict";
import { test } from "node:test";
import { findProducts } from "./page-facts.ts";

test("very long runs of blanks are read in bounded time", () => {
  // Measures CPU time, in microseconds, because other processes do not influence it.
  const before = process.threadCpuUsage();
  const blanks = `${" ".repeat(50_000)}x`;
  const [product] = findProducts([
    { role: "paragraph", name: blanks, text: "Brass pen £12.50", selector: "p" },
  ]);
  assert.equal(product?.amount, 12.5);
  assert.ok(process.threadCpuUsage(before).user < 500_000);
});
