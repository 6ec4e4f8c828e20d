import { formatChangeCount } from "./describe-change.ts";

/** Counts the previews that a call of `set_previews` takes: `4 previews`. Null if the input has no previews. */
export function describePreviewsOfCall(input: unknown): string | null {
  const count = listOf(input, "previews").length;
  if (count === 0) return null;
  return count === 1 ? "1 preview" : `${count} previews`;
}

/** Summarizes the edits of a call of `apply_variant`: `3 changes, 1 dropped`. Null if the input has no edits. */
export function describeEditsOfCall(input: unknown): string | null {
  const pages = listOf(input, "set");
  const set = pages.reduce<number>((sum, page) => sum + listOf(page, "changes").length, 0);
  const changes = set + listOf(input, "add").length;
  const dropped = listOf(input, "drop").length;
  const variant = textOf(input, "variant");
  const facts = [
    ...(changes > 0 ? [formatChangeCount(changes)] : []),
    ...(dropped > 0 ? [`${dropped} dropped`] : []),
    ...(textOf(input, "css") === undefined ? [] : ["style sheet"]),
    ...(textOf(input, "js") === undefined ? [] : ["script"]),
    ...(variant === undefined || variant === "main" ? [] : [`variant ${variant}`]),
  ];
  return facts.length > 0 ? facts.join(", ") : null;
}

/**
 * Names the release that a call of `publish_variant` created, or that already had the revision: `release 2 of main`.
 * Null if the result names no release.
 */
export function describeReleaseOfCall(input: unknown, result: string): string | null {
  const number = /\brelease (\d+)\b/.exec(result.split("\n", 1)[0] ?? "")?.[1];
  return number === undefined ? null : `release ${number} of ${textOf(input, "variant") ?? "main"}`;
}

const fieldOf = (input: unknown, field: string): unknown =>
  typeof input === "object" && input !== null
    ? new Map<string, unknown>(Object.entries(input)).get(field)
    : undefined;

function listOf(input: unknown, field: string): unknown[] {
  const value = fieldOf(input, field);
  return Array.isArray(value) ? value : [];
}

function textOf(input: unknown, field: string): string | undefined {
  const value = fieldOf(input, field);
  return typeof value === "string" ? value : undefined;
}
