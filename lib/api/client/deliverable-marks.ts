/** The places of a JSON value that an error speaks of, as JSON pointers found in its text (`/items/0/name`; ajv's form). */
export function findMarks(error: string): string[] {
  const pointers = error.match(/(?<![\w/.:])\/[A-Za-z0-9_$~-]+(?:\/[A-Za-z0-9_$~-]+)*/g) ?? [];
  return [...new Set(pointers)];
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
