import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readCookie } from "./cookies.ts";

/** Lets the operator into the landing page: a one-time link becomes a cookie. */
export type LoginGate = {
  /** A new token for `/login?token=…`; valid once, until the process ends. */
  issueToken: () => string;
  /** Takes a token. @returns the cookie to set, or undefined for a wrong or used one. */
  redeem: (token: string) => string | undefined;
  isSignedIn: (cookieHeader: string | null) => boolean;
};

const NAME = "operator";
const DAYS = 30;

/** @param key the deployment's secret key; cookies survive a restart, tokens do not. */
export function createLoginGate(key: Uint8Array, isSecure: boolean, now: () => number = Date.now): LoginGate {
  const cookieKey = createHmac("sha256", key).update("login/v1").digest();
  const tokens = new Set<string>();
  const sign = (text: string) => createHmac("sha256", cookieKey).update(text).digest("base64url");
  return {
    issueToken() {
      const token = randomBytes(24).toString("base64url");
      tokens.add(token);
      return token;
    },
    redeem(token) {
      if (!tokens.delete(token)) return undefined;
      const expires = String(now() + DAYS * 86_400_000);
      const secure = isSecure ? "; Secure" : "";
      return `${NAME}=${expires}.${sign(expires)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${DAYS * 86_400}${secure}`;
    },
    isSignedIn(cookieHeader) {
      const [expires = "", signature = ""] = readCookie(cookieHeader, NAME)?.split(".") ?? [];
      const expected = Buffer.from(sign(expires));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected) && Number(expires) > now();
    },
  };
}
