import type { ShareRole } from "#db/schema/unions.ts";
import { findAgent } from "#lib/agents/agent-store.ts";
import { pageUrl } from "#lib/publication/landing/page-address.ts";
import { scriptUrl } from "#lib/publication/script-address.ts";
import { limitDelegation } from "#lib/session/delegation.ts";
import { findSession, readMetadata, type SessionRow, setTitle } from "#lib/session/store/session-store.ts";
import { maskUrl } from "#lib/text/mask-url.ts";
import { actorOf } from "../auth/actor-of.ts";
import { roleOf } from "../auth/authenticate.ts";
import { unknownSession } from "../auth/known-session.ts";
import { describeCallback } from "./callback-handlers.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { summarise } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

/**
 * `GET /api/sessions/:sessionId`: returns the settings that the session was created with and its current state, without
 * secrets.
 */
async function readSession(
  services: ApiServices,
  { session, caller }: CallOf<"readSession">,
): Promise<Answer> {
  const role = roleOf(caller);
  const [summary] = await summarise(services, [session], role);
  const agentUrl = await readAgentUrl(services, session, role);
  const metadata = await readMetadata(services.db, session.id);
  const servers = Object.entries(session.mcpServers);
  return {
    ok: true,
    status: 200,
    body: {
      success: true,
      session: {
        ...session,
        ...summary,
        ...(agentUrl !== undefined && { shareUrl: agentUrl }),
        metadata,
        delegation: limitDelegation(session, services.settings.delegation),
        // The URLs are masked, because sessions that were created before URLs were encrypted have the full URL in their
        // row.
        mcpServers: Object.fromEntries(
          servers.map(([id, { url, type }]) => [id, { url: maskUrl(url), type }]),
        ),
        callback: await describeCallback(services, session),
        updatedAt: session.updatedAt.toISOString(),
      },
    },
  };
}

/**
 * Returns the `shareUrl` of a sub-agent. The page of a sub-agent is below the page of its root session. Undefined for a
 * session without a parent.
 */
async function readAgentUrl(
  { db, shares }: ApiServices,
  { id, parentSessionId }: SessionRow,
  role: ShareRole,
): Promise<string | undefined> {
  const agent = parentSessionId === null ? undefined : await findAgent(db, id);
  const root = agent && (await findSession(db, agent.rootSessionId));
  return root && shares.agentPath(root.id, root.shareRevocation, role, id);
}

/** `PATCH /api/sessions/:sessionId`: replaces the title. */
async function renameSession(
  services: ApiServices,
  { session, caller, body }: Pick<CallOf<"renameSession">, "session" | "caller" | "body">,
): Promise<Answer> {
  const row = await setTitle(services.db, session.id, body.title);
  if (!row) return unknownSession();
  const [summary] = await summarise(services, [row], roleOf(caller));
  return { ok: true, status: 200, body: { success: true, session: summary } };
}

/**
 * `DELETE /api/sessions/:sessionId`: stops the turn and removes rows, files, workspace, browser, evidence, secrets and
 * deliveries. The response counts the deleted rows and lists what could not be removed yet. After that, requests for
 * the id are answered with 404.
 */
async function deleteSession(
  services: ApiServices,
  { session, caller }: Pick<CallOf<"deleteSession">, "session" | "caller">,
): Promise<Answer> {
  const outcome = await services.removeSession(session.id, session.ownerId, actorOf(caller));
  services.quota.forget(session.ownerId);
  if (!outcome) return unknownSession();
  const publications = outcome.publications.map(({ id, variant }) => ({
    id,
    variant,
    scriptUrl: scriptUrl(services.settings.baseUrl, id),
  }));
  const pages = outcome.pages.map((slug) => ({ slug, url: pageUrl(services.settings.pagesOrigin, slug) }));
  return { ok: true, status: 200, body: { success: true, ...outcome, publications, pages } };
}

export const sessionHandlers = {
  readSession,
  renameSession,
  renameHomeSession: renameSession,
  deleteSession,
  deleteHomeSession: deleteSession,
} satisfies Partial<Handlers>;
