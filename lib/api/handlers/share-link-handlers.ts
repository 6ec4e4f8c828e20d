import * as links from "#lib/session/share/manage-share-links.ts";
import { linkPath } from "#lib/session/share/share-link.ts";
import { findShareLink, revokeAllShares } from "#lib/session/store/share-store.ts";
import { actorOf } from "../auth/actor-of.ts";
import { shareCookies } from "../auth/cookies.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

const PAGE = 50;

/** `GET …/share-links`: lists share links, newest first, without secrets. Source: `wire.md`, Share links. */
async function listShareLinks(
  { db }: ApiServices,
  { params, query }: CallOf<"listShareLinks">,
): Promise<Answer> {
  const page = await readPage(db, params.sessionId, query);
  return page ? { ok: true, status: 200, body: { success: true, ...page } } : unknownCursor();
}

/**
 * Lists the links for the session page, together with the session's own link. The page itself never contains that link.
 * Source: decision 053.
 */
async function listPersonShareLinks(
  { db, shares }: ApiServices,
  { session, query }: CallOf<"listPersonShareLinks">,
): Promise<Answer> {
  const page = await readPage(db, session.id, query);
  if (!page) return unknownCursor();
  const shareUrl = shares.sharePath(session.id, session.shareRevocation, "drive");
  return { ok: true, status: 200, body: { success: true, ...page, shareUrl } };
}

/** Reads one page of links. @returns undefined for an invalid cursor. */
async function readPage(
  db: ApiServices["db"],
  sessionId: string,
  { cursor, limit = PAGE }: CallOf<"listShareLinks">["query"],
) {
  if (cursor !== undefined && !(await findShareLink(db, sessionId, cursor))) return undefined;
  return links.listShareLinks(db, sessionId, { limit, ...(cursor && { cursor }) });
}

/** `POST …/share-links`: creates a share link. Only this response contains the link's secret. */
async function createShareLink(
  { db, securityLog, settings }: ApiServices,
  { params, body, caller }: CallOf<"createShareLink" | "createPersonShareLink">,
): Promise<Answer> {
  const { sessionId } = params;
  const { role, label = null, embedOrigins = null, expiresAt } = body;
  const foreign = embedOrigins?.findIndex((origin) => !settings.embedOrigins.includes(origin)) ?? -1;
  if (foreign >= 0)
    return fail("invalid_request", `embedOrigins[${foreign}]: is not one of the service's EMBED_ORIGINS`);
  const created = await links.createShareLink(db, {
    sessionId,
    role,
    label,
    embedOrigins,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
  });
  if (!created)
    return fail(
      "conflict",
      `a session has at most ${links.LIVE_LINKS_MAX} live share links; revoke one first`,
    );
  const { token, record } = created;
  securityLog.shareLinkCreated({ actor: actorOf(caller), sessionId, linkId: record.id, role });
  return {
    ok: true,
    status: 201,
    body: { success: true, shareUrl: linkPath(sessionId, token), record },
  };
}

/**
 * `DELETE …/share-links/:linkId`: ends the link with its cookies and open connections. Repeating the call changes
 * nothing.
 */
async function revokeShareLink(
  { db, access, securityLog }: ApiServices,
  { params, caller }: CallOf<"revokeShareLink" | "revokePersonShareLink">,
): Promise<Answer> {
  const record = await links.revokeShareLink(db, params.sessionId, params.linkId);
  if (!record) return fail("not_found", "no such share link");
  access.sharesChanged(params.sessionId);
  securityLog.shareLinkRevoked({
    actor: actorOf(caller),
    sessionId: params.sessionId,
    linkId: params.linkId,
  });
  return { ok: true, status: 200, body: { success: true, record } };
}

/** `POST …/share-links/revoke-all`: ends all links and the `shareUrl`, and returns a new `shareUrl`. */
async function revokeAllShareLinks(
  services: ApiServices,
  { params, caller }: CallOf<"revokeAllShareLinks">,
): Promise<Answer> {
  const revoked = await revokeAll(services, params.sessionId, actorOf(caller));
  return revoked ? { ok: true, status: 200, body: revoked.body } : unknownSession();
}

/**
 * Revokes all links of the session, for a visitor of the session page. This also ends the visitor's own link, so the
 * response sets new cookies.
 */
async function revokeAllPersonShareLinks(
  services: ApiServices,
  { params }: CallOf<"revokeAllPersonShareLinks">,
): Promise<Answer> {
  const { sessionId } = params;
  const revoked = await revokeAll(services, sessionId, actorOf(undefined));
  if (!revoked) return unknownSession();
  const token = services.shares.deriveToken(sessionId, revoked.revocation, "drive");
  const isSecure = services.settings.baseUrl.startsWith("https:");
  const answer = Response.json(revoked.body);
  for (const cookie of shareCookies(sessionId, token, { scope: "session", expiresAt: null }, isSecure))
    answer.headers.append("Set-Cookie", cookie);
  return answer;
}

async function revokeAll({ db, shares, access, securityLog }: ApiServices, sessionId: string, actor: string) {
  const revoked = await revokeAllShares(db, sessionId, new Date());
  if (!revoked) return undefined;
  for (const id of [sessionId, ...revoked.agentIds]) access.sharesChanged(id);
  const { revocation, links } = revoked;
  securityLog.shareLinksRevoked({ actor, sessionId, links });
  const shareUrl = shares.sharePath(sessionId, revocation, "drive");
  return { revocation, body: { success: true, revoked: links, shareUrl } };
}

export const shareLinkHandlers = {
  listShareLinks,
  createShareLink,
  revokeShareLink,
  revokeAllShareLinks,
  listPersonShareLinks,
  createPersonShareLink: createShareLink,
  revokePersonShareLink: revokeShareLink,
  revokeAllPersonShareLinks,
} satisfies Partial<Handlers>;
