import type { z } from "zod";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { type Failure, fail } from "./errors.ts";

type Issue = z.core.$ZodIssue;

/** The output of a schema, or a refusal that names the first wrong field. */
export type Validated<Value = unknown> = { ok: true; value: Value } | Failure;

/** Validates an input. `root` is the name of the input in a refusal, such as `body` or `query`. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: string,
): Validated<z.output<Schema>> {
  const parsed = schema.safeParse(value, { reportInput: true });
  return parsed.success
    ? { ok: true, value: parsed.data }
    : fail("invalid_request", describeFirstIssue(parsed.error.issues, root));
}

/**
 * Describes the first problem of an input in one sentence. The sentence begins with the path of the field
 * (`messages[0].role: must be "user" or "assistant"`). Source: `wire.md`, Errors.
 */
export function describeFirstIssue(issues: readonly Issue[], root = "body"): string {
  const issue = issues[0];
  if (!issue) return `${root}: is invalid`;
  if (issue.code === "unrecognized_keys")
    return `${formatPath([...issue.path, issue.keys[0] ?? ""], root)}: unknown field`;
  const [branch] = issue.code === "invalid_union" ? nearestBranch(issue.errors) : [];
  if (branch) return describeFirstIssue([{ ...branch, path: [...issue.path, ...branch.path] }], root);
  return `${formatPath(issue.path, root)}: ${describeIssue(issue)}`;
}

/**
 * Returns the issues of the union branch that fits the input best, that is, the branch with the fewest missing and
 * unknown fields.
 */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const misfits = (issues: readonly Issue[]) =>
    issues.filter(
      ({ code, input, path }) => code === "unrecognized_keys" || (path.length > 0 && input === undefined),
    ).length;
  return branches.toSorted((one, other) => misfits(one) - misfits(other))[0] ?? [];
}

/** Formats `["messages", 0, "role"]` as `messages[0].role`. Quotes keys that are not plain names. */
export function formatPath(path: readonly PropertyKey[], root: string): string {
  if (path.length === 0) return root;
  return path
    .map((key, index) => {
      if (typeof key === "number") return `[${key}]`;
      // A key from a client may be any JSON string. It is shortened and quoted, because the sentence is written to logs
      // and terminals.
      const name = beginningOf(String(key), 200).toWellFormed();
      if (!/^[A-Za-z0-9_$-]+$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join("");
}

const NOUNS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  object: "an object",
  record: "an object",
  array: "an array",
};

function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      // Zod reports a missing field as a field of the wrong type. Only `input` shows that it is missing.
      if (issue.input === undefined && issue.message.startsWith("Invalid input")) return "is required";
      return issue.message.startsWith("Invalid input")
        ? `must be ${NOUNS[issue.expected] ?? issue.expected}`
        : issue.message;
    case "invalid_value":
      if (issue.input === undefined) return "is required";
      return `must be ${listValues(issue.values)}`;
    default:
      return issue.message;
  }
}

function listValues(values: readonly unknown[]): string {
  const quoted = values.map((value) => JSON.stringify(value));
  if (quoted.length === 1) return quoted[0] ?? "";
  return `${quoted.length > 2 ? "one of " : ""}${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
