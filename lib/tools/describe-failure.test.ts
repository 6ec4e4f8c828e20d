import assert from "node:assert/strict";
import { test } from "node:test";
import { DrizzleQueryError } from "drizzle-orm";
import { describeFailure } from "./describe-failure.ts";

test("describes a failure with its own message, but never with a database statement and its values", () => {
  assert.equal(describeFailure(new Error("The page did not answer.")), "The page did not answer.");
  assert.equal(describeFailure("gone"), "gone");
  const query = new DrizzleQueryError('select "secret" from "rows"', ["a value"], new Error("out of range"));
  for (const error of [query, new Error(`wrapped: ${query.message}`, { cause: query })])
    assert.match(describeFailure(error), /^The service failed while it carried out the call\./);
});
