import { type CallbackEvent, DEFAULT_CALLBACK_EVENTS } from "#db/schema/unions.ts";
import type { EventDraft } from "#lib/events/draft-event.ts";
import { newDeliveryId } from "#lib/session/new-id.ts";

/** A callback to write in the same statement as its event. Its body is `head`, then the event's JSON, then `}`. */
export type PlannedDelivery = { id: string; event: CallbackEvent; head: string };

/**
 * Prepares the callback of the start or end of a run; undefined if the session has not subscribed to the event, and for
 * other events. `lib/session/waiting/report-items.ts` prepares the callbacks of events about items.
 * The body is composed once, because every attempt must sign and send the same bytes.
 * Source: specification, Run lifecycle callbacks.
 *
 * @param subscribed the session's `callback.events`, or null for a session without a callback.
 */
export function planDelivery(
  subscribed: CallbackEvent[] | null,
  sessionId: string,
  { kind, requestId, runId, timestamp }: Omit<EventDraft, "head" | "tail">,
): PlannedDelivery | undefined {
  const event = DEFAULT_CALLBACK_EVENTS.find((each) => each === kind);
  if (event === undefined || !subscribed?.includes(event)) return undefined;
  const head = `${JSON.stringify({ event, sessionId, requestId, runId, timestamp }).slice(0, -1)},"data":`;
  return { id: newDeliveryId(), event, head };
}
