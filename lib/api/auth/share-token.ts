import type { ShareAccess } from "#lib/session/share/share-link.ts";
import type { AuthServices } from "./auth-services.ts";
import { readVisit } from "./exchange-link.ts";

const TOKEN_CHARS_MAX = 200;

/**
 * Reads the share token that the page of a frame sends in the header `X-Share-Token`, because browsers may block its
 * cookies. A request with this header is never admitted by a cookie. Source: `wire.md`, Embedding.
 *
 * @returns undefined without the header, and for a token that is too long the empty text, which gives no access.
 */
export function readShareToken(headers: Headers): string | undefined {
  const token = headers.get("x-share-token")?.trim();
  return token !== undefined && token.length > TOKEN_CHARS_MAX ? "" : token;
}

/**
 * Determines the access of a visitor's request: by its share token, otherwise by its cookies. Undefined if they give no
 * access.
 *
 * @param isLiveView whether the token of a `liveViewUrl` gives access, too.
 */
export async function readRequestAccess(
  services: Pick<AuthServices, "shares" | "securityLog">,
  sessionId: string,
  headers: Headers,
  isLiveView: boolean,
): Promise<ShareAccess | undefined> {
  const token = readShareToken(headers);
  if (token === undefined) return readVisit(services, sessionId, headers.get("cookie"), isLiveView);
  const access = await services.shares.readAccess(sessionId, token);
  if (!access) services.securityLog.shareTokenRefused({ sessionId });
  return access?.scope === "session" || isLiveView ? access : undefined;
}
