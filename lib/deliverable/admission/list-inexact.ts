import { formatPointer } from "#lib/projection/schema/walk-schema.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { InexactNumber } from "./parse-answer.ts";
import type { RawViolation } from "./schema-job.ts";

/**
 * Returns a violation for each of the first 50 numbers in `inexact`. The `path` of a violation points into the decoded
 * value, or into the model's answer if the decoded value does not contain the number.
 */
export function listInexact(
  value: unknown,
  inexact: readonly InexactNumber[],
  toRawPath: (path: string) => string,
): RawViolation[] {
  if (inexact.length === 0) return [];
  const open = new Map(inexact.slice(0, VIOLATIONS_MAX).map((each) => [each.path, each]));
  const wanted = new Set([...open.values()].map(({ parsed }) => parsed));
  const found: RawViolation[] = [];
  const visit = (part: unknown, path: readonly string[]): void => {
    if (typeof part === "number" && wanted.has(part)) {
      const pointer = formatPointer(path);
      const rawPath = toRawPath(pointer);
      const number = open.get(rawPath);
      if (number === undefined) return;
      open.delete(rawPath);
      found.push({ path: pointer, rawPath, message: explain(number) });
    } else if (typeof part === "object" && part !== null)
      for (const [key, each] of Object.entries(part)) visit(each, [...path, key]);
  };
  visit(value, []);
  // The remaining numbers are not in the decoded value, because only the last entry with a repeated key is decoded.
  for (const number of open.values())
    found.push({ path: number.path, rawPath: number.path, message: explain(number) });
  return found;
}

const VIOLATIONS_MAX = 50;
const QUOTE_CHARACTERS_MAX = 60;

function explain({ text, parsed }: InexactNumber): string {
  const written = shorten(text, QUOTE_CHARACTERS_MAX);
  const becomes = Number.isFinite(parsed) ? `would become ${parsed}` : "is too large";
  return `must be a number that JSON readers keep exactly: ${written} ${becomes}`;
}
