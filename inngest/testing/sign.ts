import { createHmac } from "node:crypto";
import { withoutPrefix } from "../served/hash-signing-key.ts";

/** Writes canonical JSON, which a server signs: sorted keys and no spaces (the part of RFC 8785 that these values need). */
export function canonicalise(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalise(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalise(field)}`);
  return `{${fields.join(",")}}`;
}

/** Computes the header `x-inngest-signature` of a body that is sent at `atMs` (ms since the epoch). */
export function sign(body: string, signingKey: string, atMs: number): string {
  const seconds = Math.round(atMs / 1_000).toString();
  const digest = createHmac("sha256", withoutPrefix(signingKey)).update(body).update(seconds).digest("hex");
  return `t=${seconds}&s=${digest}`;
}

/** Whether a signature matches a body. The age of the signature is not checked. */
export function isSigned(body: string, signature: string | null, signingKey: string): boolean {
  const seconds = new URLSearchParams(signature ?? "").get("t");
  return seconds !== null && sign(body, signingKey, Number(seconds) * 1_000) === signature;
}
