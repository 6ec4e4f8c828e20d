import type { ModelMessage, ToolResultPart } from "ai";
import { shorten } from "#lib/text/shorten.ts";

const PROBLEMS_MAX = 10;
const CHARACTERS_MAX = 2_000;

/** A problem as validators report it (Zod, Standard Schema). */
type Issue = { path?: readonly PropertyKey[]; message: string; errors?: Issue[][] };

/**
 * Explains why the input of a call does not fit its tool. Each problem is one line that begins with the path of its
 * field (`agents[0].name: …`). If the error lists no problems, returns the message of its innermost cause.
 */
export function describeInvalidCall(error: unknown): string {
  const causes = [...listCauses(error)];
  const issues = causes.map(readIssues).find((found) => found !== undefined);
  if (!issues) return clip(causes.at(-1)?.message ?? "the input does not fit the tool");
  const lines = issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (issues.length > PROBLEMS_MAX) lines.push(`and ${issues.length - PROBLEMS_MAX} more problems`);
  return clip(lines.join("\n"));
}

/** Composes the message that tells the model which of its calls do not fit their tools; an empty array if all fit. */
export function answerInvalidCalls(
  calls: readonly { callId: string; name: string; via?: string; error?: string }[],
): ModelMessage[] {
  const content = calls.flatMap(({ callId, name, via = name, error }): ToolResultPart[] =>
    error === undefined
      ? []
      : [
          {
            type: "tool-result",
            toolCallId: callId,
            toolName: via,
            output: { type: "error-text", value: error },
          },
        ],
  );
  return content.length === 0 ? [] : [{ role: "tool", content }];
}

function* listCauses(error: unknown): Generator<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

/**
 * Lists the problems in a validator's error. For a union, lists the problems of the alternative that has the fewest.
 */
function readIssues(error: Error): { path: PropertyKey[]; message: string }[] | undefined {
  if (!("issues" in error) || !Array.isArray(error.issues) || error.issues.length === 0) return undefined;
  return (error.issues as Issue[]).flatMap((issue) => flatten(issue, []));
}

function flatten(issue: Issue, above: PropertyKey[]): { path: PropertyKey[]; message: string }[] {
  const path = [...above, ...(issue.path ?? [])];
  const nearest = issue.errors
    ?.filter((issues) => issues.length > 0)
    .toSorted((a, b) => a.length - b.length)[0];
  return nearest ? nearest.flatMap((each) => flatten(each, path)) : [{ path, message: issue.message }];
}

const formatPath = (path: PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
    "",
  ) || "input";

const clip = (text: string): string => shorten(text, CHARACTERS_MAX);
