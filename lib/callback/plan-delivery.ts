import type { CallbackEvent } from "#db/schema/unions.ts";
import type { DomainEvent, StoredEvent } from "#lib/events/event.ts";
import { newDeliveryId } from "#lib/session/new-id.ts";

/** A callback to write down beside its event. */
export type PlannedDelivery = {
  id: string;
  sessionId: string;
  runId: string;
  event: CallbackEvent;
  body: string;
};

/**
 * The callback that a lifecycle event asks for; undefined where the session did not subscribe to it.
 * The body is made here once: its very bytes are signed and sent on every attempt.
 * Source: specification, Run lifecycle callbacks.
 *
 * @param subscribed the session's `callback.events`, or null for a session without a callback.
 */
export function planDelivery(
  subscribed: CallbackEvent[] | null,
  stored: StoredEvent,
): PlannedDelivery | undefined {
  const event = subscribed?.find((kind) => kind === stored.kind);
  if (event === undefined || stored.runId === null) return undefined;
  const { sessionId, runId, requestId } = stored;
  // Written by our own log.
  const data = JSON.parse(stored.body) as DomainEvent;
  const body = JSON.stringify({ event, sessionId, requestId, runId, timestamp: data.timestamp, data });
  return { id: newDeliveryId(), sessionId, runId, event, body };
}
