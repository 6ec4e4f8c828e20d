import type { ErrorObject } from "ajv";
import { shorten } from "#lib/text/shorten.ts";
import type { Violation } from "./schema-job.ts";

const VIOLATIONS_MAX = 50;
const QUOTE_CHARACTERS_MAX = 200;

/** Converts ajv's errors into at most 50 violations without duplicates. */
export function describeViolations(errors: readonly ErrorObject[]): Violation[] {
  const seen = new Map<string, Violation>();
  for (const error of errors) {
    if (seen.size === VIOLATIONS_MAX) break;
    const violation = { path: error.instancePath, message: describeError(error) };
    seen.set(JSON.stringify(violation), violation);
  }
  return [...seen.values()];
}

/** Describes an error of ajv in one sentence, with details that ajv's own message omits. */
export function describeError({ keyword, params, message = "is not valid" }: ErrorObject): string {
  switch (keyword) {
    case "additionalProperties":
      return `must not have the property ${quote(params.additionalProperty)}`;
    case "unevaluatedProperties":
      return `must not have the property ${quote(params.unevaluatedProperty)}`;
    case "propertyNames":
      return `must not have a property named ${quote(params.propertyName)}`;
    case "enum":
      return `must be one of ${quote(params.allowedValues)}`;
    case "const":
      return `must be ${quote(params.allowedValue)}`;
    case "false schema":
      return "must not be there";
    default:
      return message;
  }
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return shorten(text, QUOTE_CHARACTERS_MAX);
}
