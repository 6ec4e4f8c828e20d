import type { ShareRole } from "#db/schema/unions.ts";
import { hasOwnBrowser } from "#lib/browser/store/browser-store.ts";
import type { ShareAccess } from "#lib/session/share/share-link.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import type { Grant } from "../auth/access-watch.ts";
import { actorOf } from "../auth/actor-of.ts";
import { readKey, refuseScope, roleOf } from "../auth/authenticate.ts";
import { readLiveViewCookie, readShareCookie } from "../auth/cookies.ts";
import { readVisit } from "../auth/exchange-link.ts";
import { findKnownSession, findSubAgent, unknownSession } from "../auth/known-session.ts";
import type { ApiServices } from "../handlers/services.ts";
import { type Failure, fail } from "../http/errors.ts";
import { isSameService } from "../http/same-origin.ts";

export type AdmissionServices = Pick<ApiServices, "db" | "shares" | "authenticate" | "securityLog"> & {
  settings: Pick<ApiServices["settings"], "baseUrl">;
};

/** A client that may follow a session over a socket, and what it may see and do. */
export type Viewer = {
  sessionId: string;
  role: ShareRole;
  /** Whether the client sees the whole session or only its live view. */
  scope: ShareAccess["scope"];
  hasBrowser: boolean;
  /** What other people are shown as the name of this client: the label of its share link, or "Someone". */
  name: string;
  /** Number of the session's last stored event when the viewer was admitted. */
  lastSeq: number;
  /**
   * The grant that keeps the connection open. Undefined for a key from the settings, because such a key cannot be
   * revoked.
   */
  grant: Grant | undefined;
};

/** The session that a socket follows. With `agentId`, the socket follows this sub-agent below the session instead. */
export type LiveTarget = { sessionId: string; agentId?: string | undefined };

/** `viewer` is undefined if the request had no credential. The client must then send one in its first frame. */
type Admission = { ok: true; viewer: Viewer | undefined } | Failure;

/**
 * Authenticates the request for a socket before the upgrade. An API key takes precedence over a cookie; with `agentId`,
 * an API key is ignored. A cookie is accepted only from the service's own pages: any site can open a socket to the
 * service, and browsers then send the cookie too. Source: `wire.md`, WebSocket.
 *
 * @param isByFrame whether the client sends its credential in the first frame. Those of the request are then ignored.
 */
export async function admitRequest(
  services: AdmissionServices,
  headers: Headers,
  { sessionId, agentId }: LiveTarget,
  isByFrame: boolean,
): Promise<Admission> {
  if (!isByFrame && agentId === undefined && readKey(headers) !== undefined)
    return admitKey(services, headers, sessionId);
  const session = await findKnownSession(services, sessionId);
  if (!session) return unknownSession();
  const cookies = headers.get("cookie");
  if (isByFrame || (readShareCookie(cookies) === undefined && readLiveViewCookie(cookies) === undefined))
    return { ok: true, viewer: undefined };
  if (!isSameService(headers.get("origin") ?? "", services.settings.baseUrl))
    return fail("forbidden", "the share cookie counts only on the service's own pages");
  const checkedAt = performance.now();
  const access = await readVisit(services, sessionId, cookies, agentId === undefined);
  if (!access) return fail("unauthorized", "the share link is wrong, revoked or expired");
  const shown = agentId === undefined ? session : await findSubAgent(services, sessionId, agentId);
  if (!shown) return fail("not_found", "no such sub-agent");
  return { ok: true, viewer: await toVisitor(services, { session, shown }, access, checkedAt) };
}

/** Authenticates the token in a client's first frame. The token is a share token or an API key. */
export async function admitToken(
  services: AdmissionServices,
  token: string,
  sessionId: string,
): Promise<{ ok: true; viewer: Viewer } | Failure> {
  const checkedAt = performance.now();
  const access = await services.shares.readAccess(sessionId, token);
  if (!access) return admitKey(services, new Headers({ "x-service-api-key": token }), sessionId);
  const session = await findKnownSession(services, sessionId);
  if (!session) return unknownSession();
  return { ok: true, viewer: await toVisitor(services, { session, shown: session }, access, checkedAt) };
}

async function admitKey(services: AdmissionServices, headers: Headers, sessionId: string) {
  const checked = await services.authenticate(headers);
  if (!checked.ok) return checked;
  const { caller } = checked;
  const refusal = refuseScope(caller, "sessions:read");
  if (refusal) {
    services.securityLog.scopeRefused({
      actor: actorOf(caller),
      operation: "GET /api/sessions/:sessionId/live",
      needed: "sessions:read",
      sessionId,
    });
    return refusal;
  }
  const session = await findKnownSession(services, sessionId, caller.ownerId);
  if (!session) return unknownSession();
  const viewer: Viewer = {
    ...(await describeSession(services, session)),
    role: roleOf(caller),
    scope: "session",
    name: NO_NAME,
    grant: caller.grant,
  };
  return { ok: true as const, viewer };
}

/**
 * Describes a visitor who is admitted.
 * @param sessions `session` is the session of the visitor's link. `shown` is the session that the visitor follows: the
 * same session or a sub-agent below it.
 */
async function toVisitor(
  services: AdmissionServices,
  sessions: { session: SessionRow; shown: SessionRow },
  access: ShareAccess,
  checkedAt: number,
): Promise<Viewer> {
  const { session, shown } = sessions;
  const { role, scope, linkId, revocation, expiresAt, label } = access;
  const grant: Grant = { kind: "share", sessionId: session.id, linkId, revocation, expiresAt, checkedAt };
  const name = oneLine(label ?? "") || NO_NAME;
  return { ...(await describeSession(services, shown)), role, scope, name, grant };
}

const NO_NAME = "Someone";
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

const describeSession = async ({ db }: AdmissionServices, session: SessionRow) => ({
  sessionId: session.id,
  hasBrowser: await hasOwnBrowser(db, session),
  lastSeq: session.eventSeq,
});
