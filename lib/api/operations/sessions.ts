import { limitDelegation } from "#lib/session/delegation.ts";
import { readSessionExtras } from "#lib/session/session-store.ts";
import { roleOf } from "../auth/authenticate.ts";
import { unknownSession } from "../auth/known-session.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";
import { summarise } from "./lists.ts";

/** `GET /api/sessions/:sessionId`: what was fixed at its creation, and how it stands; no secret is part of it. */
export async function readSession(
  services: ApiServices,
  { session, caller }: CallOf<"readSession">,
): Promise<Answer> {
  const [summary] = await summarise(services, [session], roleOf(caller));
  const { metadata, isSigned } = await readSessionExtras(services.db, session.id);
  const { callbackUrl: url, callbackEvents: events } = session;
  return {
    ok: true,
    status: 200,
    body: {
      success: true,
      session: {
        ...session,
        ...summary,
        metadata,
        delegation: limitDelegation(session, services.settings.delegation),
        callback: url === null || events === null ? null : { url, events, isSigned },
        updatedAt: session.updatedAt.toISOString(),
      },
    },
  };
}

/**
 * `DELETE /api/sessions/:sessionId`: stops the turn and removes rows, files, workspace, browser, evidence, secrets and
 * deliveries. The answer counts the rows and lists what could not be removed yet. From then on the id is unknown.
 */
export async function deleteSession(
  services: ApiServices,
  { session }: CallOf<"deleteSession">,
): Promise<Answer> {
  const outcome = await services.removeSession(session.id, session.ownerId);
  return outcome ? { ok: true, status: 200, body: { success: true, ...outcome } } : unknownSession();
}
