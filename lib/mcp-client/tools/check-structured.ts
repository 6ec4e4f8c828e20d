import type { TurnConnection } from "../connection/connections.ts";
import type { McpAnswer, RawAnswer } from "./read-answer.ts";

/**
 * Checks a value against a JSON Schema in a worker thread, because a server's schema is not trusted. With `error`, the
 * value was not checked, for example because the schema cannot be used.
 */
export type CheckOutput = (
  schema: unknown,
  value: unknown,
  sessionId: string,
) => Promise<
  | { valid: true }
  | { valid: false; violations: readonly { path: string; message: string }[] }
  | { valid: false; error: string }
>;

const VIOLATIONS_SHOWN = 5;

/** Parses a schema. The redaction of secrets may have made it unreadable; then it cannot be used. */
function parseSchema(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Checks the structured content of an answer against the output schema of its tool. If they do not fit, the answer says
 * so and stays as it is: the call was run, and repeating it may not be safe. A schema that cannot be used is not tried
 * again in this turn.
 */
export async function checkStructured(
  checkOutput: (schema: unknown, value: unknown) => ReturnType<CheckOutput>,
  { tool, outputSchema }: { tool: string; outputSchema?: string | undefined },
  { structured, ...answer }: RawAnswer,
  { unchecked }: Pick<TurnConnection, "unchecked">,
): Promise<McpAnswer> {
  if (outputSchema === undefined || structured === undefined) return answer;
  if (answer.isError || unchecked.has(tool)) return answer;
  const verdict = await checkOutput(parseSchema(outputSchema), structured);
  if (verdict.valid) return answer;
  if ("error" in verdict) {
    unchecked.add(tool);
    return answer;
  }
  const shown = verdict.violations
    .slice(0, VIOLATIONS_SHOWN)
    .map(({ path, message }) => (path === "" ? message : `${path} ${message}`));
  const text = `[The structured content does not fit the output schema of the tool: ${shown.join("; ")}.]`;
  return { ...answer, parts: [{ type: "text", text }, ...answer.parts] };
}
