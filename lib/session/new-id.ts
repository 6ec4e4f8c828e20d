import { randomBytes, randomUUID } from "node:crypto";

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
  | "call"
  | "lnk"
  | "lgn"
  | "con"
  | "imp"
  | "pub"
  | "rel"
  | "rep"
  | "tst";

/**
 * Creates an id: prefix, underscore, 24 characters of lowercase base32 (120 bits). Source: `wire.md`, POST
 * /api/session.
 */
export function newId<Kind extends IdKind>(kind: Kind): `${Kind}_${string}` {
  let text = "";
  for (const byte of randomBytes(24)) text += ALPHABET[byte & 31];
  return `${kind}_${text}`;
}

/** Creates a delivery id: `whd-<uuid>`. Source: specification, Run lifecycle callbacks. */
export const newDeliveryId = (): string => `whd-${randomUUID()}`;

/** The pattern of a session id. Source: specification, Limits. */
export const SESSION_ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/;
