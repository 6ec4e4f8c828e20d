import { createHash } from "node:crypto";

/** JSON with the keys of every object sorted: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  );
}

/** SHA-256 (hex) of {@link canonicalJson}: detects a different body under the same idempotency key. */
export const hashBody = (body: unknown): string =>
  createHash("sha256").update(canonicalJson(body)).digest("hex");
