import { createHash } from "node:crypto";

const PREFIX = /^signkey-\w+-/;

/** Removes the prefix of a signing key, such as `signkey-prod-`. */
export const withoutPrefix = (signingKey: string): string => signingKey.replace(PREFIX, "");

/** Computes the hash that an app sends as `Authorization: Bearer <hash>` to show that it has the signing key. */
export function hashSigningKey(signingKey: string): string {
  const prefix = PREFIX.exec(signingKey)?.[0] ?? "";
  const hash = createHash("sha256").update(Buffer.from(withoutPrefix(signingKey), "hex"));
  return prefix + hash.digest("hex");
}
