import type { Deliverable } from "../state/view-types.ts";

type Failed = Extract<Deliverable, { status: "failed" }>;

/** What is wrong in the JSON of a failed result's raw text, by the JSON pointer of the place; reasons of one place in one. */
export function readMarks({ violations = [] }: Failed): Map<string, string> {
  const marks = new Map<string, string>();
  for (const { path, rawPath = path, message } of violations) {
    const known = marks.get(rawPath);
    marks.set(rawPath, known === undefined ? message : `${known}; ${message}`);
  }
  return marks;
}

/** A key as one segment of a JSON pointer. Source: RFC 6901, section 3. */
export const pointerSegment = (key: string | number): string =>
  `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The value in a raw text, where it is JSON. */
export function parseJson(text: string): { isJson: true; value: unknown } | { isJson: false } {
  try {
    return { isJson: true, value: JSON.parse(text) };
  } catch {
    return { isJson: false };
  }
}
