import { editQueued, findQueued, listQueue } from "#lib/session/queue.ts";
import { fail } from "../errors.ts";
import type { Answer, Call } from "../route.ts";
import type { ApiServices } from "../services.ts";

/** `POST /s/:sessionId/actions/elicitations/:elicitationId`. */
export async function answerElicitation(
  services: ApiServices,
  { params, body }: Call<{ answer: string } | { decline: true }>,
): Promise<Answer> {
  const { sessionId = "", elicitationId = "" } = params;
  const result = await services.elicitations.answer(
    sessionId,
    elicitationId,
    "answer" in body ? body.answer : null,
  );
  if (result === "unknown") return fail("not_found", "no such question");
  if (result === "settled") return fail("conflict", "this question has been settled already");
  return { ok: true, status: 202, body: { success: true } };
}

/** `GET /s/:sessionId/actions/queue`. */
export async function listPersonQueue(services: ApiServices, { params }: Call): Promise<Answer> {
  return {
    ok: true,
    status: 200,
    body: { success: true, data: await listQueue(services.db, params.sessionId ?? ""), nextCursor: null },
  };
}

/** `DELETE /s/:sessionId/actions/queue/:requestId`: completes the request as cancelled. */
export async function removePersonQueued(services: ApiServices, { params }: Call): Promise<Answer> {
  const { sessionId = "", requestId = "" } = params;
  const found = await findQueued(services.db, sessionId, requestId);
  if (found.status === "unknown") return fail("not_found", "no such request");
  if (found.status === "started") return fail("conflict", "this message has started already");
  if (!(await services.turn.removeQueued(found.runId)))
    return fail("conflict", "this message has started already");
  return { ok: true, status: 200, body: { success: true } };
}

/** `PATCH /s/:sessionId/actions/queue/:requestId`. */
export async function editPersonQueued(
  services: ApiServices,
  { params, body }: Call<{ text: string }>,
): Promise<Answer> {
  const { sessionId = "", requestId = "" } = params;
  const result = await editQueued(services.db, sessionId, requestId, body.text);
  if (result === "unknown") return fail("not_found", "no such request");
  if (result === "started") return fail("conflict", "this message has started already");
  return { ok: true, status: 200, body: { success: true } };
}
