import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readOwnCookie, writeOwnCookie } from "./cookies.ts";

/** Signs the operator in to the landing page: a one-time link becomes a cookie. */
export type LoginGate = {
  /** A new token for `/login?token=…`; valid once, in this process, until it ends. */
  issueToken: () => string;
  /**
   * A token that any process with the deployment's secret key accepts, once each, for {@link SIGNED_TOKEN_MINUTES}
   * minutes; `npm run login` prints it.
   */
  signToken: () => string;
  /** Redeems a token. @returns the cookie to set, or undefined for a wrong, used or expired token. */
  redeem: (token: string) => string | undefined;
  isSignedIn: (cookieHeader: string | null) => boolean;
};

/** How long a token of `npm run login` is valid. */
export const SIGNED_TOKEN_MINUTES = 10;

const NAME = "operator";
const DAYS = 30;

/** @param key the deployment's secret key; cookies and signed tokens survive a restart, issued tokens do not. */
export function createLoginGate(key: Uint8Array, isSecure: boolean, now: () => number = Date.now): LoginGate {
  const cookieKey = createHmac("sha256", key).update("login/v1").digest();
  const tokenKey = createHmac("sha256", key).update("login-token/v1").digest();
  const tokens = new Set<string>();
  /** Signed tokens that were redeemed, with the times at which they expire. */
  const used = new Map<string, number>();
  const sign = (text: string, by = cookieKey) => createHmac("sha256", by).update(text).digest("base64url");
  const isSigned = (text: string, signature: string, by = cookieKey) => {
    const [given, expected] = [Buffer.from(signature), Buffer.from(sign(text, by))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  };

  function redeemSigned(token: string): boolean {
    for (const [other, expires] of used) if (expires <= now()) used.delete(other);
    const [expires = "", nonce = "", signature = ""] = token.split(".");
    if (!isSigned(`${expires}.${nonce}`, signature, tokenKey)) return false;
    if (Number(expires) <= now() || used.has(token)) return false;
    used.set(token, Number(expires));
    return true;
  }

  return {
    issueToken() {
      const token = randomBytes(24).toString("base64url");
      tokens.add(token);
      return token;
    },
    signToken() {
      const text = `${now() + SIGNED_TOKEN_MINUTES * 60_000}.${randomBytes(12).toString("base64url")}`;
      return `${text}.${sign(text, tokenKey)}`;
    },
    redeem(token) {
      if (!tokens.delete(token) && !redeemSigned(token)) return undefined;
      const expires = String(now() + DAYS * 86_400_000);
      return writeOwnCookie(
        { name: NAME, value: `${expires}.${sign(expires)}`, path: "/" },
        `HttpOnly; SameSite=Strict; Max-Age=${DAYS * 86_400}`,
        isSecure,
      );
    },
    isSignedIn(cookieHeader) {
      const [expires = "", signature = ""] = readOwnCookie(cookieHeader, NAME, "/")?.split(".") ?? [];
      return isSigned(expires, signature) && Number(expires) > now();
    },
  };
}
