import { createHash } from "node:crypto";

/** Serializes a value as JSON with the keys of every object sorted, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  );
}

/**
 * Returns the SHA-256 (hex) of {@link canonicalJson}. It shows whether an idempotency key is reused with a different
 * body.
 */
export const hashBody = (body: unknown): string =>
  createHash("sha256").update(canonicalJson(body)).digest("hex");
