import type { TurnStopper } from "#db/schema/unions.ts";
import { readHostOf } from "#lib/browser-host/service/host-status-store.ts";
import { readAgentStatus as projectAgentStatus } from "#lib/session/run/agent-status.ts";
import { projectRequestStatus } from "#lib/session/run/status.ts";
import { findStatus } from "#lib/session/store/run-store.ts";
import { findShareLink } from "#lib/session/store/share-store.ts";
import { readOutcomes } from "#lib/turn/run/session-outcomes.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import { readBudgetState } from "./budget-handlers.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET …/requests/:requestId`: returns the status of a request. Source: specification, Request status. */
async function readRequestStatus(
  services: ApiServices,
  { params, caller }: CallOf<"readRequestStatus">,
): Promise<Answer> {
  const { sessionId, requestId } = params;
  const found = await findStatus(services.db, { sessionId, requestId, ownerId: caller.ownerId });
  if (found.kind === "unknown_session") return unknownSession();
  if (found.kind === "unknown_request") return fail("not_found", "no such request");
  const { run } = found;
  return {
    ok: true,
    status: 200,
    body: { success: true, sessionId, requestId, runId: run.id, status: projectRequestStatus(run) },
  };
}

/** `GET …/agent/status`: returns the status of the session's agent. Source: specification, Agent status. */
async function readAgentStatus(
  services: ApiServices,
  { session }: CallOf<"readAgentStatus">,
): Promise<Answer> {
  const status = await projectAgentStatus(services.db, session, services.settings.delegation);
  const outcomes = await readOutcomes(services.db, session, services.settings);
  const budget = await readBudgetState(services, session);
  const browserHost = await readHostOf(services.db, session.id);
  const { scripts, missingTools } = services.deployment;
  return {
    ok: true,
    status: 200,
    body: { ...status, budget, browserHost, scripts, missingTools, ...outcomes },
  };
}

/** `POST …/agent/cancel`: stops the running turn. Source: `wire.md`, Follow-ups. */
async function cancelTurn(
  services: ApiServices,
  { params, actor }: CallOf<"cancelTurn" | "cancelPersonTurn">,
  by: TurnStopper,
): Promise<Answer> {
  const { sessionId } = params;
  const name = by === "person" ? await nameVisitor(services, sessionId, actor) : null;
  const runId = (await services.turn.stopTurn(sessionId, { by, name })) ?? null;
  return { ok: true, status: 202, body: { success: true, sessionId, runId } };
}

/** Returns the label of the share link that a visitor uses. Null for the session's own link, which has none. */
async function nameVisitor({ db }: ApiServices, sessionId: string, actor: string | undefined) {
  const linkId = /^share:(lnk_\w+)$/.exec(actor ?? "")?.[1];
  return linkId === undefined ? null : ((await findShareLink(db, sessionId, linkId))?.label ?? null);
}

export const statusHandlers = {
  readRequestStatus,
  readAgentStatus,
  cancelTurn: (services, call) => cancelTurn(services, call, "program"),
  cancelPersonTurn: (services, call) => cancelTurn(services, call, "person"),
} satisfies Partial<Handlers>;
