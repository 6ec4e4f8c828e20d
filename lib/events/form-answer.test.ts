import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ElicitationForm, FormField } from "#db/schema/index.ts";
import { checkAnswer, checkValue } from "./form-answer.ts";
import { formSchema } from "./form-schema.ts";

const OK = undefined;

describe("a value of a field", () => {
  const cases: [FormField, [value: unknown, problem: string | undefined][]][] = [
    [
      { type: "string", minLength: 2, maxLength: 3 },
      [
        ["ab", OK],
        ["💡💡💡", OK],
        ["a", "must have at least 2 characters"],
        ["abcd", "must have at most 3 characters"],
        [5, "must be text"],
      ],
    ],
    [{ type: "string" }, [["x".repeat(10_001), "must have at most 10000 characters"]]],
    [
      { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "m" }] },
      [
        ["s", OK],
        ["Small", "must be one of: s, m"],
      ],
    ],
    [
      { type: "string", format: "date" },
      [
        ["2028-02-29", OK],
        ["2027-02-29", "must be a date such as 2026-03-31"],
        ["2027-2-9", "must be a date such as 2026-03-31"],
        ["tomorrow", "must be a date such as 2026-03-31"],
      ],
    ],
    [
      { type: "string", format: "date-time" },
      [
        ["2026-03-31T09:30:00Z", OK],
        ["2026-03-31T09:30", OK],
        ["2026-02-30T09:30:00Z", "must be a date and time such as 2026-03-31T09:30:00Z"],
        ["2026-03-31", "must be a date and time such as 2026-03-31T09:30:00Z"],
      ],
    ],
    [
      { type: "string", format: "email" },
      [
        ["ada@shop.example", OK],
        ["ada@shop", "must be an email address"],
        ["ada shop@x.y", "must be an email address"],
      ],
    ],
    [
      { type: "string", format: "uri" },
      [
        ["https://shop.example/a", OK],
        ["shop.example", "must be a URL with its scheme, such as https://…"],
      ],
    ],
    [
      { type: "integer", minimum: 1, maximum: 5 },
      [
        [1, OK],
        [1.5, "must be a whole number"],
        [0, "must be at least 1"],
        [6, "must be at most 5"],
        ["3", "must be a number"],
        [Number.NaN, "must be a number"],
      ],
    ],
    [{ type: "number" }, [[1.5, OK]]],
    [
      { type: "boolean" },
      [
        [false, OK],
        ["yes", "must be true or false"],
      ],
    ],
    [
      { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 },
      [
        [["a", "c"], OK],
        [[], "must have at least 1 choice"],
        [["a", "b", "c"], "must have at most 2 choices"],
        [["a", "a"], "must have each choice once"],
        [["d"], 'must only have choices of the form, not "d"'],
        ["a", "must be a list of choices"],
      ],
    ],
  ];
  for (const [field, values] of cases)
    for (const [value, problem] of values)
      test(`${JSON.stringify(value)?.slice(0, 40)} for ${JSON.stringify(field)}: ${problem ?? "fits"}`, () =>
        assert.equal(checkValue(field, value), problem));
});

test("an answer needs every required field, and may not have unknown fields", () => {
  const text: FormField = { type: "string" };
  const form: ElicitationForm = {
    type: "object",
    properties: { name: text, age: { type: "integer" }, constructor: text } as Record<string, FormField>,
    required: ["name", "constructor"],
  };
  assert.deepEqual(checkAnswer(form, { name: "Ada", constructor: "x" }), []);
  assert.deepEqual(checkAnswer(form, { name: null, age: 1.5, more: 1 }), [
    { field: "name", problem: "is required" },
    { field: "age", problem: "must be a whole number" },
    { field: "constructor", problem: "is required" },
    { field: "more", problem: "is not a field of the form" },
  ]);
});

describe("a form that cannot be filled in is refused", () => {
  const cases: [object, string][] = [
    [{ type: "string", minLength: 20_000 }, "minLength"],
    [{ type: "string", minLength: 3, maxLength: 2 }, "minLength"],
    [{ type: "array", items: { enum: ["a"] }, minItems: 2 }, "minItems"],
    [{ type: "integer", minimum: 1.2, maximum: 1.8 }, "minimum"],
    [{ type: "number", minimum: 2, maximum: 1 }, "minimum"],
    [{ type: "string", enum: ["a", "a"] }, "enum"],
    [{ type: "string", enum: ["a"], oneOf: [{ const: "b" }] }, "oneOf"],
    [{ type: "boolean", minLength: 1 }, "minLength"],
    [{ type: "number", format: "date" }, "format"],
    [{ type: "string", default: "x".repeat(10_001), maxLength: 1e9 }, "default"],
    [{ type: "array", items: { enum: ["a"], anyOf: [{ const: "b" }] } }, "items"],
  ];
  for (const [field, keyword] of cases)
    test(`${JSON.stringify(field).slice(0, 80)}: ${keyword}`, () => {
      const { error } = formSchema.safeParse({ properties: { a: field } });
      assert.deepEqual(
        error?.issues.map(({ path }) => path.join(".")),
        [`properties.a.${keyword}`],
      );
    });

  test("field names of Object.prototype, and too many required names", () => {
    for (const name of ["constructor", "toString", "valueOf"])
      assert.equal(formSchema.safeParse({ properties: { [name]: { type: "string" } } }).success, false);
    const required = Array(21).fill("a");
    assert.equal(formSchema.safeParse({ properties: { a: { type: "string" } }, required }).success, false);
  });

  test("choices are not trimmed", () => {
    const form = formSchema.parse({ properties: { a: { type: "string", enum: [" x "], default: " x " } } });
    assert.deepEqual(form.properties.a?.enum, [" x "]);
    assert.deepEqual(checkAnswer(form, { a: " x " }), []);
  });
});
