import type { z } from "zod";
import { type Failure, fail } from "./errors.ts";

type Issue = z.core.$ZodIssue;

/** The output of a schema, or the refusal that names the first wrong field. */
export type Validated<Value = unknown> = { ok: true; value: Value } | Failure;

/** Validates an input; `root` names the input itself in a refusal (`body`, `query`). */
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
 * The first problem of an input, as one sentence that begins with the path of the field
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

/** The branch of a union that fits the input best: the one with the fewest missing and unknown fields. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const misfits = (issues: readonly Issue[]) =>
    issues.filter(
      ({ code, input, path }) => code === "unrecognized_keys" || (path.length > 0 && input === undefined),
    ).length;
  return branches.toSorted((one, other) => misfits(one) - misfits(other))[0] ?? [];
}

/** `["messages", 0, "role"]` as `messages[0].role`; keys that are not plain names are quoted. */
export function formatPath(path: readonly PropertyKey[], root: string): string {
  if (path.length === 0) return root;
  return path
    .map((key, index) => {
      if (typeof key === "number") return `[${key}]`;
      // A key may be any JSON string, and the sentence is written to logs and terminals.
      const name = String(key).slice(0, 200).toWellFormed();
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
      // Zod reports a missing field as a wrong type, so `input` tells the two apart.
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
