import { z } from "zod";
import type { ElicitationAnswer, ElicitationForm, FormField } from "#db/schema/index.ts";
import { checkValue, listChoices } from "./form-answer.ts";

export const FORM_FIELDS_MAX = 20;
const CHOICES_MAX = 50;
const LABEL_MAX = 200;

const label = z.string().trim().min(1).max(LABEL_MAX);
const size = z.int().min(0);
const choices = z.array(label).min(1).max(CHOICES_MAX);
const titledChoices = z
  .array(z.object({ const: label, title: label.optional() }))
  .min(1)
  .max(CHOICES_MAX);
const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

const fieldSchema = z
  .strictObject({
    type: z.enum(["string", "number", "integer", "boolean", "array"]),
    title: label.optional(),
    description: z.string().max(1_000).optional(),
    default: value.optional(),
    enum: choices.optional(),
    oneOf: titledChoices.optional(),
    items: z
      .strictObject({
        type: z.literal("string").optional(),
        enum: choices.optional(),
        anyOf: titledChoices.optional(),
      })
      .optional(),
    format: z.enum(["date", "date-time", "email", "uri"]).optional(),
    minLength: size.optional(),
    maxLength: size.optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: size.optional(),
    maxItems: size.optional(),
  })
  .superRefine((field, context) => {
    for (const { path, message } of findContradictions(field))
      context.addIssue({ code: "custom", path, message });
  });

/** What makes a field impossible to fill in, or to draw. */
function findContradictions(field: FormField): { path: string[]; message: string }[] {
  const { type, enum: values, oneOf, items, format } = field;
  const found: { path: string[]; message: string }[] = [];
  const refuse = (name: string, message: string) => found.push({ path: [name], message });
  if (type === "array" && listChoices({ type, items }).length === 0)
    refuse("items", "must have an enum of the choices; a field of type array is a multiple choice");
  if (type !== "array" && items) refuse("items", "is for fields of type array");
  if (type !== "string" && (values ?? oneOf))
    refuse(values ? "enum" : "oneOf", "is for fields of type string");
  if (type !== "string" && format) refuse("format", "is for fields of type string");
  for (const [least, most] of [
    ["minLength", "maxLength"],
    ["minimum", "maximum"],
    ["minItems", "maxItems"],
  ] as const)
    if ((field[least] ?? Number.NEGATIVE_INFINITY) > (field[most] ?? Number.POSITIVE_INFINITY))
      refuse(least, `must not be greater than ${most}`);
  const problem = field.default === undefined ? undefined : checkValue(field, field.default);
  if (problem) refuse("default", problem);
  return found;
}

/**
 * The form of a question: a flat JSON Schema of text, number, boolean, choice, multiple choice and date fields.
 * The Model Context Protocol has the same form for the questions of a tool server.
 */
export const formSchema = z
  .strictObject({
    type: z.literal("object").default("object"),
    properties: z
      .record(z.string().min(1).max(64), fieldSchema)
      .refine((fields) => Object.keys(fields).length > 0, "must have at least one field")
      .refine(
        (fields) => Object.keys(fields).length <= FORM_FIELDS_MAX,
        `must have at most ${FORM_FIELDS_MAX} fields`,
      ),
    required: z.array(z.string()).default([]),
  })
  .superRefine(({ properties, required }, context) => {
    for (const [index, name] of required.entries())
      if (!Object.hasOwn(properties, name))
        context.addIssue({
          code: "custom",
          path: ["required", index],
          message: "is not a field of the form",
        });
  })
  .meta({
    id: "ElicitationForm",
    description: "A flat JSON Schema of text, number, boolean, choice, multiple choice and date fields.",
    examples: [
      {
        type: "object",
        properties: { email: { type: "string", format: "email", title: "Email" } },
        required: ["email"],
      },
    ],
  }) satisfies z.ZodType<ElicitationForm>;

/** An answer to a question: text, or the values of a form by the names of its fields. */
export const answerSchema = z
  .union([z.string().trim().min(1).max(10_000), z.record(z.string(), value)])
  .meta({
    id: "ElicitationAnswer",
    description: "Text. For a form, the values by field name.",
  }) satisfies z.ZodType<ElicitationAnswer>;
