import type { ShareAccess } from "#lib/session/share/share-link.ts";

/** The value of a cookie in a `Cookie` header. */
export function readCookie(header: string | null, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/**
 * The name of a cookie that only this host can have set, over https. `__Host-` cookies are for the whole host, so those
 * with a narrower path are `__Secure-`.
 */
const secureName = (name: string, path: string): string => `${path === "/" ? "__Host-" : "__Secure-"}${name}`;

/** A cookie of ours: under https with its prefix, otherwise, or where an earlier version has set it, without. */
const readOwnCookie = (header: string | null, name: string, path: string): string | undefined =>
  readCookie(header, secureName(name, path)) ?? readCookie(header, name);

/** A cookie of ours that no earlier version has set: under https only with its prefix, which no other host can plant. */
export const readStrictCookie = (
  header: string | null,
  { name, path }: { name: string; path: string },
  isSecure: boolean,
): string | undefined => readCookie(header, isSecure ? secureName(name, path) : name);

/** @param attributes without `Secure`. */
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

/** The share token a visitor of a session page carries. */
export const readShareCookie = (header: string | null): string | undefined =>
  readOwnCookie(header, SHARE, "/s");

/** The token of a `liveViewUrl`, kept apart so that opening one never replaces the share token of the same visitor. */
export const readLiveViewCookie = (header: string | null): string | undefined =>
  readOwnCookie(header, LIVE_VIEW, "/s");

/**
 * The cookies that keep a visitor in one session, or in its live view: one for its pages, one for its data. They end
 * with the link. Source: `security.md`, Share URL.
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
