import assert from "node:assert/strict";
import { test } from "node:test";
import { findStatementName } from "./statement.ts";

const findNames = (text: string) => Array.from({ length: 4 }, () => findStatementName(text));

test("a text gets a name with its third execution", () => {
  const [first, second, third, fourth] = findNames("select 1 as a");
  assert.deepEqual([first, second], [undefined, undefined]);
  assert.match(third ?? "", /^statement_[0-9a-f]{24}$/);
  assert.equal(fourth, third);
  assert.notEqual(findNames("select 2 as a").at(-1), third);
});

test("texts of several commands and very long ones never get a name", () => {
  const none = [undefined, undefined, undefined, undefined];
  assert.deepEqual(findNames("select 1; select 2"), none);
  assert.deepEqual(findNames(`select ${"1, ".repeat(4_000)}1`), none);
  assert.ok(findNames("select 3;").at(-1));
});
