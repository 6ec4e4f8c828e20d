import { createHash, randomBytes, randomUUID } from "node:crypto";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The prefix of an id. It shows what kind of object the id names. */
type IdKind =
  | "ses"
  | "req"
  | "run"
  | "msg"
  | "ann"
  | "evi"
  | "res"
  | "eli"
  | "itm"
  | "call"
  | "lnk"
  | "lgn"
  | "con"
  | "imp"
  | "pic"
  | "pub"
  | "rel"
  | "rep"
  | "tst";

/**
 * Creates an id: prefix, underscore, 24 characters of lowercase base32 (120 bits). Source: `wire.md`, POST
 * /api/session.
 */
export const newId = <Kind extends IdKind>(kind: Kind): `${Kind}_${string}` => toId(kind, randomBytes(24));

/**
 * Derives an id from a session and a key, so that a repeated call gives its row the same id.
 * @param key random text that the caller of the first attempt has chosen.
 */
export const deriveId = <Kind extends IdKind>(
  kind: Kind,
  sessionId: string,
  key: string,
): `${Kind}_${string}` =>
  toId(
    kind,
    createHash("sha256")
      .update(JSON.stringify([sessionId, key]))
      .digest()
      .subarray(0, 24),
  );

function toId<Kind extends IdKind>(kind: Kind, bytes: Uint8Array): `${Kind}_${string}` {
  let text = "";
  for (const byte of bytes) text += ALPHABET[byte & 31];
  return `${kind}_${text}`;
}

/** Creates a delivery id: `whd-<uuid>`. Source: specification, Run lifecycle callbacks. */
export const newDeliveryId = (): string => `whd-${randomUUID()}`;

/** The pattern of a session id. Source: specification, Limits. */
export const SESSION_ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/;
