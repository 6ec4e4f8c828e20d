import assert from "node:assert/strict";
import { test } from "node:test";
import { readForm, readKeptValues, startValues } from "./form-values.ts";
import type { ElicitationForm } from "./view-types.ts";

const form: ElicitationForm = {
  type: "object",
  properties: {
    email: { type: "string", format: "email" },
    note: { type: "string" },
    copies: { type: "integer", default: 1 },
    extras: { type: "array", items: { enum: ["card"] } },
    gift: { type: "boolean" },
  },
  required: ["email", "gift"],
};

test("a form begins with its defaults", () => assert.deepEqual(startValues(form), { copies: 1 }));

test("empty fields are omitted from the answer, and an unchecked box is false", () => {
  const values = { email: "ada@shop.example", note: "", copies: undefined, extras: [] };
  assert.deepEqual(readForm(form, values), {
    answer: { email: "ada@shop.example", gift: false },
    problems: {},
  });
});

test("problems are listed by field", () => {
  assert.deepEqual(readForm(form, { email: "ada", copies: 1.5 }).problems, {
    email: "must be an email address",
    copies: "must be a whole number",
  });
  assert.deepEqual(readForm(form, {}).problems, { email: "is required" });
});

test("kept values of a form are read if they fit its fields", () => {
  const kept = { email: "ada@", copies: 3, gift: true, extras: ["card"] };
  assert.deepEqual(readKeptValues(form, kept), kept);
  assert.deepEqual(readKeptValues(form, { email: 3, extras: [1], gift: "yes", other: "a", note: "b" }), {
    copies: 1,
    note: "b",
  });
  assert.equal(readKeptValues(form, "text"), undefined);
  assert.equal(readKeptValues(form, undefined), undefined);
});
