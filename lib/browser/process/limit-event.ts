import { shorten } from "#lib/text/shorten.ts";

/** Limits of the texts and lists in one event. `chars` limits the texts of the event together. */
export type EventLimits = { textChars: number; chars: number; listItems: number };

/**
 * Copies the parameters of a DevTools event within limits: shortens its texts, and cuts its lists. Texts beyond the
 * limit of the whole event become empty. What a page writes is thus bounded before anything stores it.
 */
export function limitEvent<Params extends object>(params: Params, limits: EventLimits): Params {
  let charsLeft = limits.chars;
  const limit = (value: unknown): unknown => {
    if (typeof value === "string") {
      const text = charsLeft > 1 ? shorten(value, Math.min(limits.textChars, charsLeft)) : "";
      charsLeft -= text.length;
      return text;
    }
    if (Array.isArray(value)) return value.slice(0, limits.listItems).map(limit);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, limit(inner)]));
  };
  // Only the content of texts and the length of lists change, so the type stays the same.
  return limit(params) as Params;
}
