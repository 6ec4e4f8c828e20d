import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** How long a token opens relayed links. A link that is open stays. */
const VALID_MS = 60_000;

/** Derives the key of relay tokens from the deployment's encryption key (HKDF-SHA-256 with a label for this use). */
export const deriveRelayKey = (encryptionKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", encryptionKey, "", "agent-session-service/host-relay/v1", 32));

/** Creates a token with which another process of the deployment relays a link to the host with this id. */
export function mintRelayToken(key: Uint8Array, hostId: string, nowMs = Date.now()): string {
  const endsAtMs = nowMs + VALID_MS;
  return `${endsAtMs}.${sign(key, hostId, endsAtMs)}`;
}

/** Whether a token is valid for the host with this id. */
export function isRelayToken(key: Uint8Array, hostId: string, token: string, nowMs = Date.now()): boolean {
  const [, endsAt, signature = ""] = /^(\d{1,15})\.([\w-]{43})$/.exec(token) ?? [];
  const endsAtMs = Number(endsAt);
  const expected = Buffer.from(sign(key, hostId, endsAtMs));
  const given = Buffer.from(signature.padEnd(expected.length));
  // The clocks of two machines may differ, but not so much that a token is valid for several minutes.
  return (
    timingSafeEqual(given, expected) &&
    Math.abs(endsAtMs - nowMs) <= 2 * VALID_MS &&
    endsAtMs > nowMs - VALID_MS
  );
}

const sign = (key: Uint8Array, hostId: string, endsAtMs: number): string =>
  createHmac("sha256", key).update(`${hostId} ${endsAtMs}`).digest("base64url");
