import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { parseNullsAsAbsent, readNullsAsAbsent } from "./read-nulls-as-absent.ts";

const schema = z.strictObject({
  url: z.string(),
  note: z.string().optional(),
  limit: z.int().default(10),
  assertion: z.strictObject({ is: z.string() }).nullable().optional(),
  changes: z
    .array(
      z.union([
        z.strictObject({ op: z.literal("text"), text: z.string(), hint: z.string().optional() }),
        z.strictObject({ op: z.literal("move"), to: z.strictObject({ x: z.number().optional() }) }),
      ]),
    )
    .optional(),
});

test("a null counts as absent where the schema does not allow it, at any depth", () => {
  const sent = {
    url: "u",
    note: null,
    limit: null,
    assertion: null,
    changes: [
      { op: "text", text: "t", hint: null },
      { op: "move", to: { x: null } },
    ],
  };
  const before = structuredClone(sent);
  assert.deepEqual(parseNullsAsAbsent(schema, sent), {
    url: "u",
    limit: 10,
    assertion: null,
    changes: [
      { op: "text", text: "t" },
      { op: "move", to: {} },
    ],
  });
  assert.deepEqual(sent, before, "the sent value does not change");
});

test("what is invalid without its nulls stays invalid", () => {
  for (const value of [
    null,
    { url: null },
    { url: 1, note: null },
    { url: "u", extra: null },
    { url: "u", changes: [null] },
  ]) {
    assert.equal(readNullsAsAbsent(schema, value).success, false, JSON.stringify(value));
    assert.throws(() => parseNullsAsAbsent(schema, value), z.ZodError);
  }
  const { error } = readNullsAsAbsent(schema, { url: 1, note: null, limit: null });
  assert.deepEqual(
    error?.issues.map(({ path }) => path),
    [["url"]],
    "only the real problem is reported",
  );
});
