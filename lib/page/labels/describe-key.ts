import type { ApiKey } from "../state/view-types.ts";
import { formatAge } from "./format.ts";

/** Describes whether an API key is live, and when it ends or was last used. */
export function describeKey(
  { revokedAt, expiresAt, lastUsedAt }: Pick<ApiKey, "revokedAt" | "expiresAt" | "lastUsedAt">,
  now: number,
): { isLive: boolean; text: string } {
  if (revokedAt !== null) return { isLive: false, text: "revoked" };
  if (expiresAt !== null && Date.parse(expiresAt) <= now) return { isLive: false, text: "expired" };
  const used = lastUsedAt === null ? "never used" : `used ${formatAge(lastUsedAt, now)}`;
  const ends = expiresAt === null ? "does not expire" : `expires ${expiresAt.slice(0, 10)}`;
  return { isLive: true, text: `${used}, ${ends}` };
}
