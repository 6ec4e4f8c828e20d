import { SHARE_ROLES } from "#db/schema/unions.ts";
import type { ShareAccess } from "#lib/session/share/share-link.ts";
import { isRoutedSessionId } from "../contract/paths.ts";
import type { Client } from "../http/client-address.ts";
import { failureResponse } from "../http/errors.ts";
import type { AuthServices } from "./auth-services.ts";
import { readLiveViewCookie, readShareCookie, shareCookies } from "./cookies.ts";
import { OIDC_PATH, signInWithProvider } from "./oidc-sign-in.ts";

const UNKNOWN_CLIENT: Client = { peer: undefined, forwardedFor: null };

const PRIVATE = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

/** A request for a page, as far as this file needs it. */
export type PageRequest = {
  method: string;
  url: URL;
  cookieHeader: string | null;
  userAgent?: string | null;
  client?: Client;
  /** Whether the browser will show the page in a frame. */
  isInFrame?: boolean;
};

/** Returns the answer to a wrong secret: `refusal`, or 429 if the client's address has sent too many wrong secrets. */
type RefuseSecret = <Refusal>(refusal: Refusal) => Response | Refusal;

/**
 * Handles share links: sets a cookie and redirects to the URL without the secret. The cookie gives no more than the link
 * itself, and the link can be opened again. One-time links are not redeemed here, but with a POST
 * (`operations/logins.ts`). Also serves the sign-in with the identity provider, and hides session pages from visitors
 * whose cookies give no access. Source: `wire.md`, POST /api/session; `security.md`, Landing page; decision 067.
 *
 * @returns `unknown` if the answer must be the 404 page; undefined if other handlers answer the request.
 */
export async function exchangeLinkForCookie(
  services: AuthServices,
  { method, url, cookieHeader, userAgent = null, client = UNKNOWN_CLIENT, isInFrame = false }: PageRequest,
): Promise<Response | "unknown" | undefined> {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const refuse: RefuseSecret = (refusal) => {
    const limited = services.failedAttempts.count(client);
    return limited ? failureResponse(limited, { headers: PRIVATE }) : refusal;
  };
  const isSecure = url.protocol === "https:" || services.settings.baseUrl.startsWith("https:");
  const headers = { cookie: cookieHeader, userAgent };
  if (services.oidc && (url.pathname === OIDC_PATH.start || url.pathname === OIDC_PATH.callback))
    return signInWithProvider({ ...services, oidc: services.oidc }, method, url, headers, {
      isSecure,
      refuse,
    });
  return enterSession(services, url, cookieHeader, { isSecure, refuse, isInFrame });
}

/** Answers a request for a page of a session if the link has a share token, or if the visitor may not see the page. */
async function enterSession(
  services: AuthServices,
  url: URL,
  cookieHeader: string | null,
  { isSecure, refuse, isInFrame }: { isSecure: boolean; refuse: RefuseSecret; isInFrame: boolean },
): Promise<Response | "unknown" | undefined> {
  const [, sessionId, rest = ""] =
    /^\/s\/([^/]+)(\/live|\/agents\/[^/]+|\/reports\/[^/]+)?\/?$/.exec(url.pathname) ?? [];
  if (sessionId === undefined) return undefined;
  if (!isRoutedSessionId(sessionId)) return "unknown";
  const token = url.searchParams.get("key");
  if (token === null) {
    const access = await readVisit(services, sessionId, cookieHeader, rest === "/live");
    if (access) return undefined;
    const cookie = readShareCookie(cookieHeader) ?? readLiveViewCookie(cookieHeader);
    return cookie === undefined ? "unknown" : refuse("unknown" as const);
  }
  // A frame gets no cookie: browsers may block it there. The page of a frame sends the token itself.
  if (isInFrame && rest === "/live")
    return redirect(`/embed/${sessionId}?view=live#key=${encodeURIComponent(token)}`, []);
  const access = await services.shares.readAccess(sessionId, token);
  if (!access) {
    services.securityLog.shareTokenRefused({ sessionId });
    // A wrong secret gets the same redirect as an unknown session. For a visitor without a cookie, the redirect ends at
    // the same 404 page, so the visitor cannot tell whether the session exists.
    return refuse(redirect(`/s/${sessionId}${rest}`, []));
  }
  const page = access.scope === "live-view" ? "/live" : rest;
  const cookie = readShareCookie(cookieHeader);
  const present = cookie === undefined ? undefined : await services.shares.readAccess(sessionId, cookie);
  const isKept = [access, present].every((each) => each?.scope === "session") && isStronger(present, access);
  const cookies = isKept ? [] : shareCookies(sessionId, token, access, isSecure);
  return redirect(`/s/${sessionId}${page}`, cookies);
}

/**
 * Whether an access allows more than another one. A visitor who has such an access keeps it when they open a weaker link
 * of the same session. The session's own link allows more than a created link of the same role: it manages the links.
 */
function isStronger(one: ShareAccess | undefined, other: ShareAccess): boolean {
  if (one === undefined) return false;
  const [role, otherRole] = [one, other].map((each) => SHARE_ROLES.indexOf(each.role));
  if (role !== otherRole) return (role ?? 0) > (otherRole ?? 0);
  return one.linkId === null && other.linkId !== null;
}

/**
 * Determines the access that a visitor's cookies give to a session; undefined if they give no access. The cookie of a
 * `liveViewUrl` opens only the live view. This cookie is read only with `isLiveView`, and only if the visitor's share
 * cookie does not open the whole session.
 */
export async function readVisit(
  { shares, securityLog }: Pick<AuthServices, "shares" | "securityLog">,
  sessionId: string,
  cookieHeader: string | null,
  isLiveView: boolean,
): Promise<ShareAccess | undefined> {
  const token = readShareCookie(cookieHeader);
  const access = token === undefined ? undefined : await shares.readAccess(sessionId, token);
  if (access?.scope === "session") return access;
  const liveToken = isLiveView ? readLiveViewCookie(cookieHeader) : undefined;
  const liveAccess = liveToken === undefined ? undefined : await shares.readAccess(sessionId, liveToken);
  if (!liveAccess && (token ?? liveToken) !== undefined && !access)
    securityLog.shareTokenRefused({ sessionId });
  return liveAccess;
}

function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ ...PRIVATE, Location: location });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
