import {
  editQueued as editWaiting,
  listQueue as readQueue,
  withdrawQueued,
} from "#lib/session/follow-up/queue.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** Lists the queued messages in the order in which the agent will get them. Source: `wire.md`, Follow-ups. */
async function listQueue(
  services: ApiServices,
  { params }: CallOf<"listQueue" | "listPersonQueue">,
): Promise<Answer> {
  const data = await readQueue(services.db, params.sessionId);
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/** Removes a queued message. The message's request completes as cancelled. */
async function removeQueued(
  services: ApiServices,
  { params }: CallOf<"removeQueued" | "removePersonQueued">,
): Promise<Answer> {
  const { sessionId, requestId } = params;
  const withdrawal = await withdrawQueued(services.db, sessionId, requestId);
  if (withdrawal.status === "unknown") return fail("not_found", "no such request");
  if (withdrawal.status === "started" || !(await services.turn.removeQueued(withdrawal.runId)))
    return started();
  services.queueChanged(sessionId);
  return { ok: true, status: 200, body: { success: true } };
}

/** Edits a queued message. */
async function editQueued(
  services: ApiServices,
  { params, body }: CallOf<"editQueued" | "editPersonQueued">,
): Promise<Answer> {
  const { sessionId, requestId } = params;
  const result = await editWaiting(services.db, sessionId, requestId, body.text);
  if (result === "unknown") return fail("not_found", "no such request");
  if (result === "started") return started();
  services.queueChanged(sessionId);
  return { ok: true, status: 200, body: { success: true } };
}

const started = () =>
  fail("conflict", "this message no longer waits: its turn has started, or it was removed");

export const queueHandlers = {
  listQueue,
  listPersonQueue: listQueue,
  removeQueued,
  removePersonQueued: removeQueued,
  editQueued,
  editPersonQueued: editQueued,
} satisfies Partial<Handlers>;
