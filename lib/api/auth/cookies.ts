import type { ShareAccess } from "#lib/session/share/share-link.ts";

/** Finds the value of a cookie in a `Cookie` header. */
export function readCookie(header: string | null, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/**
 * Adds the security prefix to the name of a cookie. Browsers accept `__Host-` only with the path `/` and only if the
 * host itself sets the cookie. A cookie with another path gets `__Secure-`, which requires only https.
 */
const secureName = (name: string, path: string): string => `${path === "/" ? "__Host-" : "__Secure-"}${name}`;

/**
 * Reads a cookie of the service, with or without the security prefix. The cookie with the prefix takes precedence. The
 * service sets cookies without the prefix over http; earlier versions also set them over https.
 */
const readOwnCookie = (header: string | null, name: string, path: string): string | undefined =>
  readCookie(header, secureName(name, path)) ?? readCookie(header, name);

/**
 * Reads a cookie only under the name that the service gives it. Over https, a cookie without the security prefix is
 * ignored, because other hosts of the domain can set it. Use this function for cookies that every version of the
 * service has set with the prefix.
 */
export const readStrictCookie = (
  header: string | null,
  { name, path }: { name: string; path: string },
  isSecure: boolean,
): string | undefined => readCookie(header, isSecure ? secureName(name, path) : name);

/**
 * Formats a cookie of the service for `Set-Cookie`.
 *
 * @param attributes the attributes except `Path` and `Secure`. `Secure` is added over https.
 */
export function writeOwnCookie(
  { name, value, path }: { name: string; value: string; path: string },
  attributes: string,
  isSecure: boolean,
): string {
  const pair = `${isSecure ? secureName(name, path) : name}=${value}`;
  return `${pair}; Path=${path}; ${attributes}${isSecure ? "; Secure" : ""}`;
}

const SHARE = "share";
const LIVE_VIEW = "live_view";
const MAX_AGE_SECONDS = 30 * 24 * 3_600;

/** Reads the share token of a visitor of a session page. */
export const readShareCookie = (header: string | null): string | undefined =>
  readOwnCookie(header, SHARE, "/s");

/**
 * Reads the token of a `liveViewUrl`. This token has its own cookie, so that opening a `liveViewUrl` never replaces the
 * visitor's share token.
 */
export const readLiveViewCookie = (header: string | null): string | undefined =>
  readOwnCookie(header, LIVE_VIEW, "/s");

/**
 * Returns the cookies that give a visitor access to one session or to its live view: one cookie for the pages and one
 * for the API. Both cookies expire with the link, and after 30 days at the latest. Source: `security.md`, Share URL.
 */
export function shareCookies(
  sessionId: string,
  token: string,
  { scope, expiresAt }: Pick<ShareAccess, "scope" | "expiresAt">,
  isSecure: boolean,
): string[] {
  const [name, below] = scope === "session" ? [SHARE, ""] : [LIVE_VIEW, "/live"];
  const secondsLeft = expiresAt ? Math.ceil((expiresAt.getTime() - Date.now()) / 1_000) : MAX_AGE_SECONDS;
  const maxAge = Math.max(0, Math.min(MAX_AGE_SECONDS, secondsLeft));
  return [`/s/${sessionId}${below}`, `/api/sessions/${sessionId}${below}`].map((path) =>
    writeOwnCookie({ name, value: token, path }, `HttpOnly; SameSite=Lax; Max-Age=${maxAge}`, isSecure),
  );
}
