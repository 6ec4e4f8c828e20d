import { z } from "zod";
import { CALLBACK_EVENTS, DELIVERY_STATES } from "#db/schema/unions.ts";
import { runId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";
import { nameUpTo } from "../schemas/fields.ts";
import { listQuerySchema } from "../schemas/queries.ts";

export const deliveryRecordSchema = z
  .object({
    id: z.string().meta({
      description: "The delivery's id, sent as `X-Service-Delivery`.",
      examples: ["whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53"],
    }),
    event: z.enum(CALLBACK_EVENTS),
    runId,
    state: z.enum(DELIVERY_STATES).meta({
      description:
        "`pending`: the next attempt has yet to start. `sending`: an attempt is in progress or waits because of the rate limit for its host. `held`: callbacks to the host are disabled; the delivery is sent when the host accepts callbacks again, within 7 days. `delivered`: the receiver accepted the delivery. `dropped`: all attempts failed, or the delivery was held for 7 days.",
      examples: ["delivered"],
    }),
    attempts: z.array(
      z.object({
        at: timestamp,
        status: z
          .int()
          .nullable()
          .meta({
            description: "HTTP status of the response. Null if there was no response.",
            examples: [200],
          }),
        latencyMs: z
          .number()
          .meta({ description: "Duration of the attempt in milliseconds.", examples: [12] }),
        error: z
          .string()
          .nullable()
          .meta({ description: "Why the attempt failed. Null if it succeeded.", examples: [null] }),
        cycle: z.int().meta({
          description:
            "Number of the cycle that the attempt belongs to, starting at 1. Each redelivery starts a new cycle of up to five attempts.",
          examples: [1],
        }),
        excerpt: z
          .string()
          .nullable()
          .meta({
            description: "Start of the response body, as plain text. Null if there is none.",
            examples: ["ok"],
          }),
      }),
    ),
    nextAttemptAt: z
      .string()
      .nullable()
      .meta({
        description: "Time of the next attempt. ISO 8601, UTC. Null if none is scheduled.",
        examples: [null],
      }),
  })
  .meta({ id: "DeliveryRecord", description: "A callback delivery with its attempts." });

/**
 * The response to sending a callback again. A redelivery starts a new cycle of attempts.
 * Source: `wire.md`, Also served.
 */
export const redeliveredSchema = z.object({ success, delivery: deliveryRecordSchema }).meta({
  id: "Redelivered",
  description: "The same delivery with the same body and id, in a new cycle of attempts.",
});

const instant = (description: string) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [null] });

/** The callback of a session, without its secrets. */
export const callbackRecordSchema = z
  .object({
    url: z.string().meta({
      description: "URL of the receiver. Values in its query and its fragment are replaced by `***`.",
      examples: ["https://receiver.example/hook?token=***"],
    }),
    events: z.array(z.enum(CALLBACK_EVENTS)),
    isSigned: z.boolean().meta({ description: "Whether deliveries are signed with a secret." }),
    previousSecretExpiresAt: instant(
      "Until when deliveries are also signed with the replaced secret. ISO 8601, UTC. Null if no replaced secret is in use.",
    ),
    failingSince: instant(
      "When callbacks to this host began to fail: the time of the first dropped callback since the last accepted one. Callbacks of all sessions of the same owner count. ISO 8601, UTC. Null if none was dropped since then.",
    ),
    disabledAt: instant(
      "If callbacks to this host are disabled, the time of the last failed delivery. One hour after it, the service sends deliveries to the host again: an accepted one enables the host, a failed one starts the next hour. ISO 8601, UTC. Null if callbacks are not disabled.",
    ),
  })
  .meta({ id: "CallbackRecord" });

/** Body of `POST …/callback/secret`. */
const rotateCallbackSecretSchema = z.strictObject({
  secret: nameUpTo(1_024)
    .min(20, { error: "must be at least 20 characters" })
    .meta({ description: "The new secret.", examples: ["8c1f0d5b7a2e4f6390b1d7c5"] }),
  overlapHours: z
    .number()
    .min(0, { error: "must be 0 or more" })
    .max(168, { error: "must be at most a week" })
    .optional()
    .meta({
      default: 24,
      description: "Hours for which deliveries are also signed with the old secret. 0 for no overlap.",
      examples: [24],
    }),
});

const callbackChangedSchema = z
  .object({ success, callback: callbackRecordSchema })
  .meta({ id: "CallbackChanged" });

export const callbackOperations = {
  listDeliveries: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/deliveries",
    summary: "List callbacks and their attempts",
    description: "Lists deliveries, newest first, each with all its attempts.",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(deliveryRecordSchema) },
  }),
  redeliverCallback: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/deliveries/:deliveryId/redeliver",
    summary: "Send a callback again",
    description:
      "Sends the delivery again with the same body and id, in up to five more attempts, even if callbacks to its host are disabled. Returns 409 while the delivery is still `pending` or `sending`.",
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    answers: { 202: redeliveredSchema },
  }),
  rotateCallbackSecret: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/callback/secret",
    summary: "Replace the callback secret",
    description:
      "Replaces the secret of the session's callback, or adds one. All later attempts are signed with the new secret in `X-Service-Signature`. Until the overlap ends, `X-Service-Signature-Previous` has the signature with the old secret, and `Webhook-Signature` has both. Sending the same secret again changes nothing; a second rotation within the overlap ends the first secret. Returns 409 if the session has no callback.",
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    body: rotateCallbackSecretSchema,
    bodyBytesMax: 64 * 1024,
    answers: { 200: callbackChangedSchema },
  }),
  enableCallback: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/callback/enable",
    summary: "Enable callbacks to a host that was disabled",
    description:
      "If all deliveries to a host are dropped for days, the service disables the owner's callbacks to this host: it then drops further deliveries without sending a request. This operation enables callbacks to the host of the session's callback again. Send dropped deliveries again with `redeliver`. Returns 409 if the session has no callback.",
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    answers: { 200: callbackChangedSchema },
  }),
} as const satisfies Record<string, Operation>;
