import type { ShareAccess } from "#lib/session/share/share-link.ts";
import { isRoutedSessionId } from "../contract/paths.ts";
import type { Client } from "../http/client-address.ts";
import { failureResponse } from "../http/errors.ts";
import type { ApiServices } from "../services.ts";
import { readLiveViewCookie, readShareCookie, shareCookies } from "./cookies.ts";

const UNKNOWN_CLIENT: Client = { peer: undefined, forwardedFor: null };

const PRIVATE = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

/**
 * Turns a link that carries a secret into a cookie and the clean address (the one-time login link, share links), and
 * hides session pages from whoever has no cookie for them: to them they are `unknown`, like any address that never was.
 * Undefined for every other request. Source: `wire.md`, POST /api/session; `security.md`, Landing page.
 */
export async function enterByLink(
  services: ApiServices,
  method: string,
  url: URL,
  cookieHeader: string | null,
  client: Client = UNKNOWN_CLIENT,
): Promise<Response | "unknown" | undefined> {
  if (method !== "GET" && method !== "HEAD") return undefined;
  /** The answer to a wrong secret: `refusal`, or 429 where too many came from the client's address. */
  const refuseSecret = <Refusal>(refusal: Refusal): Response | Refusal => {
    const braked = services.failedAttempts.note(client);
    return braked ? failureResponse(braked, { headers: PRIVATE }) : refusal;
  };
  const isSecure = url.protocol === "https:" || services.settings.baseUrl.startsWith("https:");
  if (url.pathname === "/login") {
    // Whoever only looks at the link (a chat's preview) does not use it up.
    const token = method === "GET" ? (url.searchParams.get("token") ?? "") : "";
    const cookie = token === "" ? undefined : services.login.redeem(token);
    if (cookie) return redirect("/", [cookie]);
    const expired = redirect("/?login=expired", []);
    return token === "" ? expired : refuseSecret(expired);
  }
  const [, sessionId, rest = ""] =
    /^\/s\/([^/]+)(\/live|\/agents\/[^/]+|\/reports\/[^/]+)?\/?$/.exec(url.pathname) ?? [];
  if (sessionId === undefined) return undefined;
  if (!isRoutedSessionId(sessionId)) return "unknown";
  const token = url.searchParams.get("key");
  if (token === null) {
    const access = await readVisit(services, sessionId, cookieHeader, rest === "/live");
    if (access) return undefined;
    const hasCookie = readShareCookie(cookieHeader) ?? readLiveViewCookie(cookieHeader);
    return hasCookie === undefined ? "unknown" : refuseSecret("unknown" as const);
  }
  const access = await services.shares.readAccess(sessionId, token);
  // A wrong token and an unknown session lead to the same 404 page.
  if (!access) return refuseSecret(redirect(`/s/${sessionId}${rest}`, []));
  const page = access.scope === "live-view" ? "/live" : rest;
  return redirect(`/s/${sessionId}${page}`, shareCookies(sessionId, token, access, isSecure));
}

/**
 * What a visitor's cookies give in a session; undefined for a visitor without access. The cookie of a `liveViewUrl` opens
 * the live view only, and only to a visitor whom no share link lets in.
 */
export async function readVisit(
  { shares }: Pick<ApiServices, "shares">,
  sessionId: string,
  cookieHeader: string | null,
  isLiveView: boolean,
): Promise<ShareAccess | undefined> {
  const token = readShareCookie(cookieHeader);
  const access = token === undefined ? undefined : await shares.readAccess(sessionId, token);
  if (access?.scope === "session") return access;
  const liveToken = isLiveView ? readLiveViewCookie(cookieHeader) : undefined;
  return liveToken === undefined ? undefined : shares.readAccess(sessionId, liveToken);
}

function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ ...PRIVATE, Location: location });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
