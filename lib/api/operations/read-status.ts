import { readAgentStatus as projectAgentStatus } from "#lib/session/agent-status.ts";
import { findAnsweringRun } from "#lib/session/run-store.ts";
import { projectRequestStatus } from "#lib/session/status.ts";
import { fail } from "../errors.ts";
import { unknownSession } from "../known-session.ts";
import type { Answer, Call } from "../route.ts";
import type { ApiServices } from "../services.ts";

/** `GET …/requests/:requestId`. Source: specification, Request status. */
export async function readRequestStatus(services: ApiServices, { params }: Call): Promise<Answer> {
  const { sessionId = "", requestId = "" } = params;
  const run = await findAnsweringRun(services.db, sessionId, requestId);
  if (!run) return fail("not_found", "no such request");
  return {
    ok: true,
    status: 200,
    body: { success: true, sessionId, requestId, runId: run.id, status: projectRequestStatus(run) },
  };
}

/** `GET …/agent/status`. Source: specification, Agent status. */
export async function readAgentStatus(services: ApiServices, { session }: Call): Promise<Answer> {
  if (!session) return unknownSession();
  const status = await projectAgentStatus(services.db, session, services.settings.delegation);
  return { ok: true, status: 200, body: status };
}

/** `POST …/agent/cancel`. Source: `wire.md`, Follow-ups. */
export async function cancelTurn(services: ApiServices, { params }: Call): Promise<Answer> {
  const { sessionId = "" } = params;
  const runId = (await services.turn.stopTurn(sessionId)) ?? null;
  return { ok: true, status: 202, body: { success: true, sessionId, runId } };
}
