import { findDeliveryRow } from "#lib/callback/delivery-list-store.ts";
import { listDeliveries as readDeliveries } from "#lib/callback/list-deliveries.ts";
import { redeliver } from "#lib/callback/redeliver.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

const PAGE = 50;

/** `GET …/deliveries`: lists the deliveries of callbacks with their attempts, newest first. */
async function listDeliveries(
  services: ApiServices,
  { params, query }: CallOf<"listDeliveries" | "listPersonDeliveries">,
): Promise<Answer> {
  const page = await readDeliveries(services.db, params.sessionId, {
    limit: query.limit ?? PAGE,
    ...(query.cursor && { cursor: query.cursor }),
  });
  if (page.data.length === 0 && query.cursor !== undefined)
    if (!(await findDeliveryRow(services.db, params.sessionId, query.cursor))) return unknownCursor();
  return { ok: true, status: 200, body: { success: true, ...page } };
}

/** `POST …/deliveries/:deliveryId/redeliver`: sends a callback again. Source: `security.md`, What is never lost. */
async function redeliverCallback(
  services: ApiServices,
  { params }: CallOf<"redeliverCallback" | "redeliverPersonCallback">,
): Promise<Answer> {
  const result = await redeliver(services, params.sessionId, params.deliveryId);
  if (result.status === "unknown") return fail("not_found", "no such delivery");
  if (result.status === "open")
    return fail("conflict", "this callback is still being delivered; it can be sent again afterwards");
  return { ok: true, status: 202, body: { success: true, delivery: result.delivery } };
}

export const deliveryHandlers = {
  listDeliveries,
  listPersonDeliveries: listDeliveries,
  redeliverCallback,
  redeliverPersonCallback: redeliverCallback,
} satisfies Partial<Handlers>;
