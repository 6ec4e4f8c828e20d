/**
 * The scopes of an API key. `sessions:read` allows reading the owner's sessions; `sessions:write` allows changing them,
 * for example creating, messaging, stopping and deleting.
 */
export const KEY_SCOPES = ["sessions:read", "sessions:write"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
