import type { Database } from "#db/client.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { CALLBACK_SECRET, PREVIOUS_CALLBACK_SECRET, placeSecret } from "#lib/session/secrets/secret-names.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { readCallbackState } from "../callback-state-store.ts";
import { putSealed } from "./callback-secret-store.ts";
import { openCallbackValue, type SealedCallback, writePrevious } from "./open-secrets.ts";

/**
 * Replaces the secret of a session's callback, or adds one if there is none. For `overlapMs`, attempts are signed with
 * both the new and the old secret. A rotation to the current secret changes nothing, so a client that got no answer can
 * repeat its request. A rotation during an overlap replaces the previous secret as well. Source: `wire.md`, Callbacks.
 *
 * @param overlapMs how long attempts are signed with the old secret as well; 0 for no overlap.
 * @returns false if the session is gone or has no callback.
 */
export async function rotateCallbackSecret(
  { db, sealer }: { db: Database; sealer: Sealer },
  sessionId: string,
  { secret, overlapMs }: { secret: string; overlapMs: number },
  now = new Date(),
): Promise<boolean> {
  const seal = (name: string, text: string) => sealer.seal(placeSecret(sessionId, name), text);
  return db.transaction(async (tx) => {
    // The lock serializes concurrent rotations: the second one replaces the secret that the first one has stored.
    const session = await lockSession(tx, sessionId);
    if (!session || session.callbackUrl === null) return false;
    const state = await readCallbackState(tx, sessionId);
    const replaced = openCurrent(sealer, sessionId, state?.sealed ?? {});
    if (replaced === secret) return true;
    const previous =
      replaced === undefined || overlapMs === 0
        ? null
        : writePrevious({ secret: replaced, expiresAt: new Date(now.getTime() + overlapMs) });
    await putSealed(tx, sessionId, CALLBACK_SECRET, seal(CALLBACK_SECRET, secret));
    await putSealed(
      tx,
      sessionId,
      PREVIOUS_CALLBACK_SECRET,
      previous === null ? null : seal(PREVIOUS_CALLBACK_SECRET, previous),
    );
    return true;
  });
}

/** Returns the secret to replace; undefined if there is none, or if no configured key can decrypt it. */
function openCurrent(sealer: Sealer, sessionId: string, sealed: SealedCallback): string | undefined {
  try {
    return openCallbackValue(sealer, sessionId, CALLBACK_SECRET, sealed);
  } catch {
    return undefined;
  }
}
