import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The tokens of login links, `/login?token=…`. */
export type LoginTokens = {
  /** Creates a token that only this process accepts. It is valid until it is used or the process exits. */
  issueToken: () => string;
  /** Creates a token that each process with the same secret key accepts for {@link SIGNED_TOKEN_MINUTES} minutes. */
  signToken: () => string;
  /**
   * Whether a token is genuine and not expired. Does not check whether a signed token was used before, because only the
   * database knows that.
   */
  isValid: (token: string) => boolean;
  /** Invalidates a used token that {@link LoginTokens.issueToken} created. */
  forget: (token: string) => void;
};

/** Minutes for which a token of {@link LoginTokens.signToken} is valid. */
export const SIGNED_TOKEN_MINUTES = 10;

/**
 * Creates the functions that issue and check the tokens of login links.
 *
 * @param key the deployment's secret key.
 */
export function createLoginTokens(key: Uint8Array, now: () => number = Date.now): LoginTokens {
  const tokenKey = createHmac("sha256", key).update("login-token/v1").digest();
  const issued = new Set<string>();
  const sign = (text: string) => createHmac("sha256", tokenKey).update(text).digest("base64url");

  function isSigned(token: string): boolean {
    const [expires = "", nonce = "", signature = "", ...rest] = token.split(".");
    const [actual, expected] = [Buffer.from(signature), Buffer.from(sign(`${expires}.${nonce}`))];
    if (rest.length > 0 || actual.length !== expected.length || !timingSafeEqual(actual, expected))
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
