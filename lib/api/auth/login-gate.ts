import type { LoginTokens } from "#lib/logins/login-tokens.ts";
import type { Account, Login, Logins, SignIn } from "#lib/logins/logins.ts";
import { readStrictCookie, writeOwnCookie } from "./cookies.ts";

/** The request headers that a sign-in uses: the browser's cookies and its `User-Agent`. */
export type SignInHeaders = { cookie: string | null; userAgent: string | null };

/**
 * Signs people in and out on the landing page. They sign in with a one-time link, an account or an API key, and get a
 * cookie.
 */
export type LoginGate = Pick<LoginTokens, "issueToken" | "signToken"> & {
  /**
   * Signs in with the token of a login link. @returns the cookie to set; undefined for a wrong, used or expired token.
   */
  redeem: (token: string, headers?: SignInHeaders) => Promise<string | undefined>;
  /**
   * Signs in with an account. The caller must have checked that the identity provider authenticated the account and
   * that the settings allow the account.
   *
   * @returns the cookie to set.
   */
  signIn: (account: Account, headers?: SignInHeaders) => Promise<string>;
  /** Signs in with an API key, which the caller must have checked. @returns the cookie to set. */
  signInWithKey: (keyId: string, headers?: SignInHeaders) => Promise<string>;
  /** Finds the live login whose token is in the request's cookies. */
  readLogin: (cookieHeader: string | null) => Promise<Login | undefined>;
  /** Formats the cookie that signs the browser out. */
  clearCookie: () => string;
};

const NAME = "operator";
const NO_HEADERS: SignInHeaders = { cookie: null, userAgent: null };

/** @see LoginGate */
export function createLoginGate(
  logins: Pick<Logins, "open" | "find" | "lifeMs">,
  tokens: LoginTokens,
  isSecure: boolean,
): LoginGate {
  const formatCookie = (value: string, maxAgeSeconds: number) =>
    writeOwnCookie(
      { name: NAME, value, path: "/" },
      `HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`,
      isSecure,
    );

  async function readLogin(cookieHeader: string | null): Promise<Login | undefined> {
    const token = readStrictCookie(cookieHeader, { name: NAME, path: "/" }, isSecure);
    return token === undefined || token === "" ? undefined : logins.find(token);
  }
  /** Opens a login, and ends the previous login of the same browser. @returns the cookie; undefined for a used link. */
  async function open(signIn: SignIn, { cookie, userAgent }: SignInHeaders): Promise<string | undefined> {
    const previous = await readLogin(cookie);
    const opened = await logins.open(signIn, userAgent, previous?.id);
    return opened && formatCookie(opened.token, Math.floor(logins.lifeMs / 1_000));
  }
  async function openWithoutLink(signIn: SignIn, headers: SignInHeaders): Promise<string> {
    const cookie = await open(signIn, headers);
    if (cookie === undefined) throw new Error("a sign-in without a link was rejected as a used login link");
    return cookie;
  }

  return {
    issueToken: tokens.issueToken,
    signToken: tokens.signToken,
    async redeem(token, headers = NO_HEADERS) {
      if (!tokens.isValid(token)) return undefined;
      const cookie = await open({ method: "link", token }, headers);
      tokens.forget(token);
      return cookie;
    },
    signIn: (account, headers = NO_HEADERS) => openWithoutLink({ method: "oidc", account }, headers),
    signInWithKey: (keyId, headers = NO_HEADERS) => openWithoutLink({ method: "key", keyId }, headers),
    readLogin,
    clearCookie: () => formatCookie("", 0),
  };
}
