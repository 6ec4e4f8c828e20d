import type { CallbackEvent } from "#db/schema/unions.ts";
import type { EventDraft } from "#lib/events/draft-event.ts";
import { newDeliveryId } from "#lib/session/new-id.ts";

/** A callback to write down beside its event: the body is `head`, the event's own text, and `}`. */
export type PlannedDelivery = { id: string; event: CallbackEvent; head: string };

/**
 * The callback that a lifecycle event asks for; undefined where the session did not subscribe to it.
 * The body is made here once: its very bytes are signed and sent on every attempt.
 * Source: specification, Run lifecycle callbacks.
 *
 * @param subscribed the session's `callback.events`, or null for a session without a callback.
 */
export function planDelivery(
  subscribed: CallbackEvent[] | null,
  sessionId: string,
  { kind, requestId, runId, timestamp }: Omit<EventDraft, "head" | "tail">,
): PlannedDelivery | undefined {
  const event = subscribed?.find((subscription) => subscription === kind);
  if (event === undefined) return undefined;
  const head = `${JSON.stringify({ event, sessionId, requestId, runId, timestamp }).slice(0, -1)},"data":`;
  return { id: newDeliveryId(), event, head };
}
