import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The tokens of login links, `/login?token=…`. */
export type LoginTokens = {
  /** A token that this process accepts as long as it runs. */
  issueToken: () => string;
  /** A token that every process with the deployment's secret key accepts for {@link SIGNED_TOKEN_MINUTES} minutes. */
  signToken: () => string;
  /** Whether a token is genuine and not expired. Whether it was used before, the database decides. */
  isValid: (token: string) => boolean;
  /** Forgets an issued token that was used. */
  forget: (token: string) => void;
};

/** How long a token of `npm run login` is valid. */
export const SIGNED_TOKEN_MINUTES = 10;

/** @param key the deployment's secret key. */
export function createLoginTokens(key: Uint8Array, now: () => number = Date.now): LoginTokens {
  const tokenKey = createHmac("sha256", key).update("login-token/v1").digest();
  const issued = new Set<string>();
  const sign = (text: string) => createHmac("sha256", tokenKey).update(text).digest("base64url");

  function isSigned(token: string): boolean {
    const [expires = "", nonce = "", signature = "", ...rest] = token.split(".");
    const [given, expected] = [Buffer.from(signature), Buffer.from(sign(`${expires}.${nonce}`))];
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected))
      return false;
    return Number(expires) > now();
  }

  return {
    issueToken() {
      const token = randomBytes(24).toString("base64url");
      issued.add(token);
      return token;
    },
    signToken() {
      const text = `${now() + SIGNED_TOKEN_MINUTES * 60_000}.${randomBytes(12).toString("base64url")}`;
      return `${text}.${sign(text)}`;
    },
    isValid: (token) => issued.has(token) || isSigned(token),
    forget: (token) => void issued.delete(token),
  };
}
