import type { Deliverable } from "../state/view-types.ts";

type Failed = Extract<Deliverable, { status: "failed" }>;

/**
 * Collects the messages about invalid values in the raw text of a failed result. The key is the JSON pointer of a
 * value. Several messages about one value are joined.
 */
export function readMarks({ violations = [] }: Failed): Map<string, string> {
  const marks = new Map<string, string>();
  for (const { path, rawPath = path, message } of violations) {
    const existing = marks.get(rawPath);
    marks.set(rawPath, existing === undefined ? message : `${existing}; ${message}`);
  }
  return marks;
}

/** Encodes an object key or array index as one segment of a JSON pointer. Source: RFC 6901, section 3. */
export const pointerSegment = (key: string | number): string =>
  `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Parses a text that may be JSON. */
export function parseJson(text: string): { isJson: true; value: unknown } | { isJson: false } {
  try {
    return { isJson: true, value: JSON.parse(text) };
  } catch {
    return { isJson: false };
  }
}
