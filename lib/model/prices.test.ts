import assert from "node:assert/strict";
import { test } from "node:test";
import { priceCall, readModelPrices } from "./prices.ts";

const USAGE = {
  inputTokens: 1_000_000,
  outputTokens: 200_000,
  reasoningTokens: 50_000,
  cachedInputTokens: 400_000,
};

test("a call costs its uncached input, its cached input and its output", () => {
  const price = readModelPrices('{ "m": { "input": 2, "output": 10, "cachedInput": 0.5 } }').get("m");
  assert.ok(price);
  assert.equal(priceCall(USAGE, price), 1.2 + 0.2 + 2);
});

test("cached input without its own price costs as much as other input", () => {
  const price = readModelPrices('{ "m": { "input": 2, "output": 10 } }').get("m");
  assert.ok(price);
  assert.equal(priceCall(USAGE, price), 2 + 2);
});

test("invalid prices are refused with an error", () => {
  assert.throws(() => readModelPrices("{"), /^Error: must be JSON$/);
  assert.throws(() => readModelPrices('{ "m": { "input": 2 } }'), /m\.output is not$/);
  assert.throws(() => readModelPrices('{ "m": { "input": 2, "output": 1, "fast": 3 } }'), /by model id/);
  assert.throws(() => readModelPrices("[]"), /must be a JSON object/);
});
