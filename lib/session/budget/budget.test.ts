import assert from "node:assert/strict";
import { test } from "node:test";
import { applyBudgetChange, describeExhausted } from "./budget.ts";

const spent = { tokens: 5_120, usd: 1.25, ms: 90_000 };

test("a limit is reached when the spend equals it, and the message states limit and spend", () => {
  assert.equal(describeExhausted({ tokens: 5_121, usd: 1.26, minutes: 1.6 }, spent), undefined);
  assert.equal(describeExhausted({ tokens: 5_120 }, spent), "5,120 tokens is used up (5,120 spent)");
  assert.equal(describeExhausted({ usd: 0.5 }, spent), "$0.50 is used up ($1.25 spent)");
  assert.equal(describeExhausted({ usd: 0.0005 }, spent), "$0.0005 is used up ($1.25 spent)");
  assert.equal(describeExhausted({ minutes: 1 }, spent, " a day"), "1 minute a day is used up (1.5 spent)");
  assert.equal(describeExhausted({ tokens: 1 }, spent), "1 token is used up (5,120 spent)");
});

test("a change sets, keeps and removes limits", () => {
  const changed = applyBudgetChange({ usd: 1, tokens: 2 }, { tokens: null, minutes: 3 });
  assert.deepEqual(changed, { usd: 1, minutes: 3 });
  assert.equal(applyBudgetChange({ usd: 1 }, { usd: null }), null);
  assert.equal(applyBudgetChange(null, {}), null);
});
