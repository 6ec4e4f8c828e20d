/** The scopes of an API key: read its owner's sessions, and change them (create, message, stop, delete …). */
export const KEY_SCOPES = ["sessions:read", "sessions:write"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
