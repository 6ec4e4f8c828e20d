import { z } from "zod";
import type { ElicitationAnswer, ElicitationForm, FormField } from "#db/schema/index.ts";
import { checkValue, listChoices, TEXT_MAX } from "./form-answer.ts";

export const FORM_FIELDS_MAX = 20;
const CHOICES_MAX = 50;
const LABEL_MAX = 200;

const label = z.string().trim().min(1).max(LABEL_MAX);
// Not trimmed, because an answer must repeat the choice exactly.
const choice = z.string().min(1).max(LABEL_MAX);
const size = z.int().min(0);
const choices = z.array(choice).min(1).max(CHOICES_MAX);
const titledChoices = z
  .array(z.object({ const: choice, title: label.optional() }))
  .min(1)
  .max(CHOICES_MAX);
const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** Refuses names of `Object.prototype` members: looking up such a name in an answer would find the inherited member. */
const fieldName = z
  .string()
  .min(1)
  .max(64)
  .refine((name) => !(name in Object.prototype), "is reserved; choose another name");

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

/** The field types to which a keyword applies. A keyword that is not listed applies to all types. */
const KEYWORD_TYPES: Partial<Record<keyof FormField, FormField["type"][]>> = {
  enum: ["string"],
  oneOf: ["string"],
  format: ["string"],
  minLength: ["string"],
  maxLength: ["string"],
  minimum: ["number", "integer"],
  maximum: ["number", "integer"],
  items: ["array"],
  minItems: ["array"],
  maxItems: ["array"],
};

type Contradiction = { path: string[]; message: string };

/**
 * Finds the errors in the definition of a field: keywords that do not apply to the field's type, bounds that no value
 * can meet, an array without choices, repeated choices, two lists of choices, and an invalid default.
 */
function findContradictions(field: FormField): Contradiction[] {
  const { type } = field;
  const found: Contradiction[] = [];
  const refuse = (name: string, message: string) => found.push({ path: [name], message });
  for (const [name, types] of Object.entries(KEYWORD_TYPES))
    if (field[name as keyof FormField] !== undefined && !types.includes(type))
      refuse(name, `applies only to fields of type ${types.join(" or ")}`);
  const values = listChoices(field).map((each) => each.value);
  if (type === "array" && values.length === 0)
    refuse("items", "must have an enum of the choices; a field of type array is a multiple choice");
  if (new Set(values).size < values.length) refuse("enum", "must have each choice once");
  if (field.enum && field.oneOf) refuse("oneOf", "must not be combined with enum");
  if (field.items?.enum && field.items.anyOf) refuse("items", "must not have both enum and anyOf");
  const { minLength = 0, maxLength = TEXT_MAX, minItems = 0, maxItems = values.length } = field;
  if (minLength > Math.min(maxLength, TEXT_MAX)) refuse("minLength", "must not exceed the maximum length");
  if (type === "array" && minItems > Math.min(maxItems, values.length))
    refuse("minItems", "must not exceed the possible number of choices");
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
  const isEmpty = type === "integer" ? Math.ceil(minimum) > Math.floor(maximum) : minimum > maximum;
  if (isEmpty) refuse("minimum", "leaves no number up to maximum");
  const problem = field.default === undefined ? undefined : checkValue(field, field.default);
  if (problem) refuse("default", problem);
  return found;
}

/**
 * The form of a question: a flat JSON Schema of text, number, boolean, choice, multiple choice and date fields. Tool
 * servers of the Model Context Protocol describe the forms of their questions in the same way.
 */
export const formSchema = z
  .strictObject({
    type: z.literal("object").default("object"),
    properties: z
      .record(fieldName, fieldSchema)
      .refine((fields) => Object.keys(fields).length > 0, "must have at least one field")
      .refine(
        (fields) => Object.keys(fields).length <= FORM_FIELDS_MAX,
        `must have at most ${FORM_FIELDS_MAX} fields`,
      ),
    required: z.array(z.string()).max(FORM_FIELDS_MAX).default([]),
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

/** An answer to a question: a text or, for a question with a form, the values by field name. */
export const answerSchema = z.union([z.string(), z.record(z.string(), value)]).meta({
  id: "ElicitationAnswer",
  description: "An answer: a text or, for a question with a form, the values by field name.",
}) satisfies z.ZodType<ElicitationAnswer>;

const ANSWER_MAX = 100_000;

/** An answer as clients send it. This schema does not check the answer against the form of its question. */
export const answerInputSchema = z
  .union([
    z
      .string()
      .trim()
      .min(1, { error: "must not be empty" })
      .max(ANSWER_MAX, { error: "must be at most 100,000 characters" }),
    z.record(z.string(), z.unknown()),
  ])
  .meta({
    description: "An answer: a text or, for a question with a form, the values by field name.",
    examples: ["EUR"],
  });
