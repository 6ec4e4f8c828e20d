import { z } from "zod";
import { CALLBACK_EVENTS } from "#db/schema/unions.ts";
import { eventSchemas, nameEvent } from "#lib/events/event-schemas.ts";
import { requestId, runId, sessionId, timestamp } from "#lib/events/wire-values.ts";

/** Bodies of callbacks, by event. Source: specification, Run lifecycle callbacks. */
export const callbackBodySchemas = Object.fromEntries(
  CALLBACK_EVENTS.map((event) => [
    event,
    z
      .object({ event: z.literal(event), sessionId, requestId, runId, timestamp, data: eventSchemas[event] })
      .meta({
        id: `${nameEvent(event).replace(/Event$/, "")}Callback`,
        description: `Body of a \`${event}\` callback.`,
      }),
  ]),
);
