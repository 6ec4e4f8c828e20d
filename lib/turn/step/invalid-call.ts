import type { ModelMessage } from "ai";

const PROBLEMS_MAX = 10;
const CHARACTERS_MAX = 2_000;

/** A problem as validators report it (Zod, Standard Schema). */
type Issue = { path?: readonly PropertyKey[]; message: string; errors?: Issue[][] };

/**
 * Says why the input of a call does not fit its tool: one line for each problem, which begins with the path of the field
 * (`agents[0].name: …`). The SDK's own message repeats the whole input before the reason.
 */
export function describeInvalidCall(error: unknown): string {
  const causes = [...listCauses(error)];
  const issues = causes.map(readIssues).find((found) => found !== undefined);
  if (!issues) return clip(causes.at(-1)?.message ?? "the input does not fit the tool");
  const lines = issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (issues.length > PROBLEMS_MAX) lines.push(`and ${issues.length - PROBLEMS_MAX} more problems`);
  return clip(lines.join("\n"));
}

/** Puts the descriptions into an answer's messages, in place of what the SDK tells the model of invalid calls. */
export function explainInvalidCalls(
  messages: ModelMessage[],
  calls: readonly { callId: string; error?: string }[],
): ModelMessage[] {
  const errors = new Map(
    calls.flatMap(({ callId, error }) => (error === undefined ? [] : [[callId, error]])),
  );
  if (errors.size === 0) return messages;
  return messages.map((message) => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) => {
      const value = part.type === "tool-result" ? errors.get(part.toolCallId) : undefined;
      return value === undefined ? part : { ...part, output: { type: "error-text" as const, value } };
    });
    return { ...message, content };
  });
}

function* listCauses(error: unknown): Generator<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

/** The problems of a validator's error; of a union those of the alternative that comes nearest. */
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

const clip = (text: string): string =>
  text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text;
