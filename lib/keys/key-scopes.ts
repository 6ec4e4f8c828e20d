/** What an API key may be allowed: to read an owner's sessions, and to change them (create, speak, stop, delete …). */
export const KEY_SCOPES = ["sessions:read", "sessions:write"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
