import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { describeFirstIssue, formatPath } from "./validate.ts";

const schema = z.strictObject({
  name: z.string(),
  kind: z.enum(["a", "b", "c"]).optional(),
  only: z.literal("x").optional(),
  either: z.union([z.strictObject({ left: z.string() }), z.strictObject({ right: z.string() })]).optional(),
  list: z.array(z.strictObject({ count: z.number() })).optional(),
  map: z.record(z.string(), z.boolean()).optional(),
});
const describeOf = (value: unknown) => {
  const parsed = schema.safeParse(value, { reportInput: true });
  return parsed.success ? "fine" : describeFirstIssue(parsed.error.issues);
};

const rows: [unknown, string][] = [
  [{}, "name: is required"],
  [{ name: null }, "name: must be a string"],
  [null, "body: must be an object"],
  [[], "body: must be an object"],
  [{ name: "x", kind: "d" }, 'kind: must be one of "a", "b" or "c"'],
  [{ name: "x", only: "y" }, 'only: must be "x"'],
  [{ name: "x", list: {} }, "list: must be an array"],
  [{ name: "x", list: [{ count: 1 }, { count: "2" }] }, "list[1].count: must be a number"],
  [{ name: "x", list: [{}] }, "list[0].count: is required"],
  [{ name: "x", map: { "a b": 1 } }, 'map["a b"]: must be a boolean'],
  [{ name: "x", extra: 1, more: 2 }, "extra: unknown field"],
  [{ name: "x", list: [{ count: 1, extra: 1 }] }, "list[0].extra: unknown field"],
  [{ name: "x", either: { right: 1 } }, "either.right: must be a string"],
  [{ name: "x", either: {} }, "either.left: is required"],
];
for (const [value, sentence] of rows)
  test(`${JSON.stringify(value)} → ${sentence}`, () => assert.equal(describeOf(value), sentence));

test("a path has plain names with dots, and indices and other keys in brackets", () => {
  assert.equal(formatPath(["messages", 0, "role"], "body"), "messages[0].role");
  assert.equal(formatPath([0, "a"], "body"), "[0].a");
  assert.equal(formatPath([], "query"), "query");
  assert.equal(formatPath(["a", 'x"\n'], "body"), 'a["x\\"\\n"]');
  assert.ok(formatPath(["k".repeat(10_000)], "body").length <= 200);
});
