import type { Sealer } from "#lib/secrets/sealer.ts";
import {
  CALLBACK_SECRET,
  CALLBACK_URL,
  PREVIOUS_CALLBACK_SECRET,
  placeSecret,
} from "#lib/session/secrets/secret-names.ts";

/** The sealed (encrypted) values of a session's callback, by name. */
export type SealedCallback = Partial<Record<string, string>>;

/** A replaced secret. Until `expiresAt`, attempts are signed with it in addition to the current secret. */
type PreviousSecret = { secret: string; expiresAt: Date };

/** The names of all sealed values of a callback. */
export const CALLBACK_SECRETS = [CALLBACK_SECRET, PREVIOUS_CALLBACK_SECRET, CALLBACK_URL];

/** Decrypts one sealed value; undefined if it is absent. @throws if it was sealed with a key that is not configured. */
export function openCallbackValue(
  sealer: Sealer,
  sessionId: string,
  name: string,
  sealed: SealedCallback,
): string | undefined {
  const value = sealed[name];
  return value === undefined ? undefined : sealer.open(placeSecret(sessionId, name), value);
}

/** Serializes a previous secret for encryption. */
export const writePrevious = ({ secret, expiresAt }: PreviousSecret): string =>
  JSON.stringify({ secret, expiresAt: expiresAt.toISOString() });

/**
 * Returns the previous secret; undefined if it is absent, has expired or cannot be decrypted. A secret that cannot be
 * decrypted is no error, because only the signature with the current secret is mandatory.
 */
export function openPrevious(
  sealer: Sealer,
  sessionId: string,
  sealed: SealedCallback,
  now: Date,
): PreviousSecret | undefined {
  let text: string | undefined;
  try {
    text = openCallbackValue(sealer, sessionId, PREVIOUS_CALLBACK_SECRET, sealed);
  } catch {
    return undefined;
  }
  if (text === undefined) return undefined;
  // The cast is safe because `writePrevious` wrote this text.
  const { secret, expiresAt } = JSON.parse(text) as { secret: string; expiresAt: string };
  const previous = { secret, expiresAt: new Date(expiresAt) };
  return previous.expiresAt > now ? previous : undefined;
}
