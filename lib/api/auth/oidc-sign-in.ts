import { isAllowedAccount, type SignInSecrets } from "#lib/logins/identity-provider.ts";
import type { AuthServices, OidcLogin } from "./auth-services.ts";
import { readStrictCookie, writeOwnCookie } from "./cookies.ts";
import type { SignInHeaders } from "./login-gate.ts";

/**
 * Paths of the sign-in with the identity provider. A sign-in begins at `start`, and the provider redirects back to
 * `callback`.
 */
export const OIDC_PATH = { start: "/login/oidc", callback: "/login/oidc/callback" } as const;

type SignInServices = Pick<AuthServices, "login" | "sealer" | "logger" | "securityLog"> & {
  oidc: OidcLogin;
};

/**
 * Why a sign-in failed. `refused`: the settings do not allow the account. `failed`: any other reason. The landing page
 * gets the reason as `?login=`.
 */
type Problem = "failed" | "refused";

const NAME = "oidc_login";
/** How many minutes a person may spend on the provider's pages. */
const MINUTES = 10;
/**
 * The storage location for which the secrets are encrypted (sealed). A value that was encrypted for another location
 * cannot be decrypted here.
 */
const PLACE = { table: "cookies", row: NAME, column: "secrets" };

type Reply = {
  isSecure: boolean;
  /** Counts an unsuccessful sign-in. @returns the answer: `refusal`, or a 429 after too many unsuccessful sign-ins. */
  refuse: (refusal: Response) => Response;
};

/**
 * Serves a sign-in with the identity provider. `/login/oidc` redirects to the provider with a state, a nonce and a PKCE
 * challenge. A cookie stores the secrets of the sign-in in encrypted form. `/login/oidc/callback` exchanges the code,
 * checks that the settings allow the account, and signs in. Source: decision 048.
 */
export function signInWithProvider(
  services: SignInServices,
  method: string,
  url: URL,
  headers: SignInHeaders,
  { isSecure, refuse }: Reply,
): Promise<Response> {
  // A HEAD request neither begins a sign-in nor uses up a code.
  if (method !== "GET") return Promise.resolve(redirect("/", []));
  return url.pathname === OIDC_PATH.start
    ? begin(services, isSecure)
    : finish(services, url.search, headers, { isSecure, refuse });
}

async function begin({ oidc, sealer, logger }: SignInServices, isSecure: boolean): Promise<Response> {
  try {
    const { url, secrets } = await oidc.provider.begin();
    const expiresAt = Date.now() + MINUTES * 60_000;
    const sealed = sealer.seal(PLACE, JSON.stringify({ ...secrets, expiresAt }));
    return redirect(url.href, [formatCookie(sealed, MINUTES * 60, isSecure)]);
  } catch (error) {
    logger.warn({ err: error }, "a sign-in with the identity provider could not begin");
    return explain("failed", isSecure);
  }
}

async function finish(
  services: SignInServices,
  search: string,
  headers: SignInHeaders,
  { isSecure, refuse }: Reply,
): Promise<Response> {
  const { oidc, login, logger, securityLog } = services;
  const secrets = readSecrets(services, headers.cookie, isSecure);
  if (!secrets) return explain("failed", isSecure);
  const account = await oidc.provider.finish(search, secrets).catch((error: unknown) => {
    logger.warn({ err: error }, "a sign-in with the identity provider failed");
    return undefined;
  });
  if (!account || !isAllowedAccount(oidc.settings, account)) {
    securityLog.loginFailed({});
    return refuse(explain(account ? "refused" : "failed", isSecure));
  }
  const cookie = await login.signIn(account, headers);
  securityLog.loginSucceeded({ actor: "operator" });
  return openLandingPage([cookie, formatCookie("", 0, isSecure)]);
}

/**
 * Reads the secrets of the sign-in that this browser began. Undefined if the browser began no sign-in, the sign-in has
 * expired, or its cookie cannot be decrypted.
 */
function readSecrets(
  { sealer }: Pick<SignInServices, "sealer">,
  cookieHeader: string | null,
  isSecure: boolean,
): SignInSecrets | undefined {
  const sealed = readStrictCookie(cookieHeader, { name: NAME, path: OIDC_PATH.start }, isSecure);
  if (!sealed) return undefined;
  try {
    // The cast is safe because only this file seals values for `PLACE`.
    const { expiresAt, ...secrets } = JSON.parse(sealer.open(PLACE, sealed)) as SignInSecrets & {
      expiresAt: number;
    };
    return expiresAt > Date.now() ? secrets : undefined;
  } catch {
    // The cookie was not written by this service, or was sealed with a key that is no longer configured.
    return undefined;
  }
}

/**
 * Formats the cookie with the secrets of a sign-in. It is SameSite=Lax, because browsers must send it when the provider
 * redirects back.
 */
const formatCookie = (value: string, maxAgeSeconds: number, isSecure: boolean): string =>
  writeOwnCookie(
    { name: NAME, value, path: OIDC_PATH.start },
    `HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`,
    isSecure,
  );

const PRIVATE = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

const explain = (problem: Problem, isSecure: boolean): Response =>
  redirect(`/?login=${problem}`, [formatCookie("", 0, isSecure)]);

const redirect = (location: string, cookies: string[]): Response =>
  new Response(null, { status: 303, headers: withCookies({ ...PRIVATE, Location: location }, cookies) });

/**
 * Serves a page that opens the landing page. A redirect would not work: browsers do not send SameSite=Strict cookies
 * with a redirect that began at the provider.
 */
const openLandingPage = (cookies: string[]): Response =>
  new Response(
    '<!doctype html><html lang="en"><meta http-equiv="refresh" content="0;url=/"><title>Signed in</title><p>You are signed in. <a href="/">Continue</a></p></html>',
    {
      headers: withCookies(
        {
          ...PRIVATE,
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
          "X-Content-Type-Options": "nosniff",
        },
        cookies,
      ),
    },
  );

function withCookies(fields: Record<string, string>, cookies: string[]): Headers {
  const headers = new Headers(fields);
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return headers;
}
