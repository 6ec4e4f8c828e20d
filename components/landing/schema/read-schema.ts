import { NO_SCHEMA, type ReadSchema } from "./written-schema.ts";

/**
 * Parses the editor's text. Checks that the text is a JSON object whose `type` is `object`; the service checks the
 * rest. Source: specification, Structured sessions, Schema rules, 1.
 */
export function readSchema(text: string): ReadSchema {
  if (text.trim() === "") return NO_SCHEMA.read;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { isValid: false, problem: `Not JSON: ${describePlace(text, error)}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { isValid: false, problem: "The schema must be a JSON object." };
  }
  if (!("type" in value) || value.type !== "object") {
    return { isValid: false, problem: 'The root must be an object schema: "type": "object".' };
  }
  return { isValid: true, schema: value as Record<string, unknown> };
}

/** Returns the message of the JSON parser, with a line number instead of an offset. */
function describePlace(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const offset = /position (\d+)/.exec(message)?.[1];
  const reason = message.replace(/ in JSON at position .*/, "").replace(/, ".*$/s, "");
  if (offset === undefined || /line \d+/.test(reason)) return reason;
  return `${reason}, line ${text.slice(0, Number(offset)).split("\n").length}`;
}
