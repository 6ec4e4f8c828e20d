import { z } from "zod";
import { CALLBACK_EVENTS } from "#db/schema/unions.ts";
import { eventSchemas, nameEvent } from "#lib/events/event-schemas.ts";
import { linkedItemSchema, resumedItemSchema } from "#lib/events/item-schemas.ts";
import { requestId, runId, sessionId, timestamp } from "#lib/events/wire-values.ts";
import type { ParameterObject, PathItem } from "../types.ts";
import type { SchemaCollector } from "./collect-schemas.ts";

const SUMMARIES: Record<string, string> = {
  "run.started": "A run started",
  "run.completed": "A run ended",
  "run.waiting": "A run waits for a person",
  "run.resumed": "A run waits no longer for a person",
};

/**
 * Describes the requests that the service sends to a session's `callback.url`. Source: specification, Run lifecycle
 * callbacks.
 */
export function describeWebhooks(collector: SchemaCollector): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(callbackBodySchemas).map(([event, body]) => [
      event,
      {
        post: {
          operationId: `on${event.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
          summary: SUMMARIES[event] ?? event,
          description:
            "Delivered at least once, in up to five attempts with increasing delays. Each attempt times out after 10 s and sends the same body and the same `X-Service-Delivery`. Only a 2xx response counts as delivered, and redirects are not followed. Verify the signature against the raw bytes of the body. Until the overlap of a replaced secret ends, `X-Service-Signature-Previous` has the signature with the old secret, and `Webhook-Signature` has the signatures with both.",
          tags: ["Callbacks"],
          security: [{}],
          parameters: describeHeaders(event),
          requestBody: {
            required: true,
            content: { "application/json": { schema: collector.add(body, "output") } },
          },
          responses: {
            "2XX": { description: "Delivered. The service makes no further attempt." },
            "4XX": {
              description:
                "Failed. The service retries until five attempts have been made; a `Retry-After` can lengthen the delay.",
            },
            "5XX": {
              description:
                "Failed. The service retries until five attempts have been made; a `Retry-After` can lengthen the delay.",
            },
          },
        },
      },
    ]),
  );
}

const describeHeaders = (event: string): ParameterObject[] => [
  header("X-Service-Event", "Name of the event.", true, { const: event }, event),
  header(
    "X-Service-Delivery",
    "Id of the delivery, the same on every attempt. Use it to dedupe.",
    true,
    { type: "string", pattern: "^whd-[0-9a-f-]{36}$" },
    "whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53",
  ),
  header(
    "X-Service-Signature",
    "`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the callback's secret. Sent only if the callback has a secret.",
    false,
    { type: "string", pattern: "^sha256=[0-9a-f]{64}$" },
    "sha256=09530b11f2cf1a3d8a3bb0a2f9b7be9b6c2c8a1f5c0c3f24e1cf1d1c1f7a2b3c",
  ),
  header(
    "Webhook-Id",
    "The same as `X-Service-Delivery`, for receivers that support Standard Webhooks.",
    true,
    { type: "string" },
    "whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53",
  ),
  header(
    "Webhook-Timestamp",
    "Time of this attempt, in seconds since 1970.",
    true,
    { type: "string", pattern: "^[0-9]+$" },
    "1795177919",
  ),
  header(
    "Webhook-Signature",
    "Standard Webhooks signature: `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`, keyed with the secret's bytes. If the secret is valid base64, a second signature is keyed with the decoded bytes. Sent only if the callback has a secret.",
    false,
    { type: "string" },
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

const header = (
  name: string,
  description: string,
  required: boolean,
  schema: ParameterObject["schema"],
  example: string,
): ParameterObject => ({ name, in: "header", description, required, schema, example });

/** The body of a callback, by event. Source: specification, Run lifecycle callbacks. */
const callbackBodySchemas = Object.fromEntries(
  CALLBACK_EVENTS.map((event) => [
    event,
    z
      .object({
        event: z.literal(event),
        sessionId,
        requestId,
        runId,
        timestamp,
        ...(event === "run.waiting" && { item: linkedItemSchema }),
        ...(event === "run.resumed" && { item: resumedItemSchema }),
        data: eventSchemas[event],
      })
      .meta({
        id: `${nameEvent(event).replace(/Event$/, "")}Callback`,
        description: `Body of a \`${event}\` callback.`,
      }),
  ]),
);
