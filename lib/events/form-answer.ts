import type { ElicitationForm, FormField, FormValue } from "#db/schema/index.ts";
import { countOf } from "#lib/text/count-of.ts";

/** A problem with one field of an answer. `problem` continues a sentence that begins with the field's name. */
type FormProblem = { field: string; problem: string };

/**
 * Checks an answer against its form. This file imports only types and text functions, because it also runs in the
 * browser on the session page.
 *
 * @returns a problem for each missing or invalid field, in the order of the form, then a problem for each field that
 * the form does not have; empty if the answer is valid.
 */
export function checkAnswer(form: ElicitationForm, answer: Record<string, unknown>): FormProblem[] {
  const problems: FormProblem[] = [];
  for (const [name, field] of Object.entries(form.properties)) {
    const value = Object.hasOwn(answer, name) ? answer[name] : undefined;
    const problem =
      value === undefined || value === null
        ? form.required.includes(name) && "is required"
        : checkValue(field, value);
    if (problem) problems.push({ field: name, problem });
  }
  for (const name of Object.keys(answer))
    if (!Object.hasOwn(form.properties, name))
      problems.push({ field: name, problem: "is not a field of the form" });
  return problems;
}

/** Checks a value of a field. @returns the problem, or undefined if the value is valid. */
export function checkValue(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "number":
    case "integer":
      return checkNumber(field, value);
    case "array":
      return checkChosen(field, value);
    case "string":
      return checkText(field, value);
  }
}

/** Lists the choices of a field with their labels; empty for a field without choices. */
export function listChoices({ enum: values, oneOf, items }: FormField): { value: string; label: string }[] {
  const plain = values ?? items?.enum ?? [];
  const titled = oneOf ?? items?.anyOf ?? [];
  return [
    ...plain.map((value) => ({ value, label: value })),
    ...titled.map(({ const: value, title }) => ({ value, label: title ?? value })),
  ];
}

function checkNumber({ type, minimum, maximum }: FormField, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
  if (type === "integer" && !Number.isSafeInteger(value)) return "must be a whole number";
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  return undefined;
}

function checkChosen(field: FormField, value: unknown): string | undefined {
  if (!Array.isArray(value)) return "must be a list of choices";
  const choices = listChoices(field);
  const other = value.find((each) => !choices.some((choice) => choice.value === each));
  if (other !== undefined) return `must only have choices of the form, not ${quote(other)}`;
  if (new Set(value).size < value.length) return "must have each choice once";
  const { minItems = 0, maxItems = choices.length } = field;
  if (value.length < minItems) return `must have at least ${countOf(minItems, "choice")}`;
  if (value.length > maxItems) return `must have at most ${countOf(maxItems, "choice")}`;
  return undefined;
}

function checkText(field: FormField, value: unknown): string | undefined {
  if (typeof value !== "string") return "must be text";
  const choices = listChoices(field);
  if (choices.length > 0)
    return choices.some((choice) => choice.value === value)
      ? undefined
      : `must be one of: ${choices.map((choice) => choice.value).join(", ")}`;
  const { minLength = 0, format } = field;
  const maxLength = Math.min(field.maxLength ?? TEXT_MAX, TEXT_MAX);
  const length = [...value].length;
  if (length < minLength) return `must have at least ${countOf(minLength, "character")}`;
  if (length > maxLength) return `must have at most ${countOf(maxLength, "character")}`;
  return format && !FORMATS[format].test(value) ? FORMATS[format].problem : undefined;
}

/** Maximum number of characters in a text field. */
export const TEXT_MAX = 10_000;

const FORMATS: Record<
  NonNullable<FormField["format"]>,
  { test: (text: string) => boolean; problem: string }
> = {
  date: { test: isDate, problem: "must be a date such as 2026-03-31" },
  "date-time": {
    test: (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.test(text) &&
      !Number.isNaN(Date.parse(text)) &&
      isDate(text.slice(0, 10)),
    problem: "must be a date and time such as 2026-03-31T09:30:00Z",
  },
  email: {
    test: (text) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text),
    problem: "must be an email address",
  },
  uri: { test: (text) => URL.canParse(text), problem: "must be a URL with its scheme, such as https://…" },
};

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // The comparison detects a date such as February 30, which JavaScript reads as a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const quote = (value: unknown) => JSON.stringify(value)?.slice(0, 100) ?? "nothing";

/** Returns the default values of a form's fields, by field name. */
export const readDefaults = (form: ElicitationForm): Record<string, FormValue> =>
  Object.fromEntries(
    Object.entries(form.properties).flatMap(([name, field]) =>
      field.default === undefined ? [] : [[name, field.default]],
    ),
  );
