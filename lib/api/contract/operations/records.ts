import { z } from "zod";
import { annotationRecordSchema, messageRecordSchema } from "#lib/events/event-schemas.ts";
import { defineOperation, KEY_AUTH, type Operation, READER_AUTH } from "../operation.ts";
import { annotationAcceptedSchema, deliveryRecordSchema, listOf } from "../schemas/answers.ts";
import { annotationSubmissionSchema } from "../schemas/handler-validated-bodies.ts";
import { listQuerySchema, messageListQuerySchema } from "../schemas/queries.ts";
import {
  callbackChangedSchema,
  redeliveredSchema,
  rotateCallbackSecretSchema,
} from "../schemas/session-answers.ts";

/** The fields that the operations for submitting annotations share, in the webhook and on the session page. */
export const annotationSubmission = {
  body: z.unknown(),
  bodyShownAs: annotationSubmissionSchema,
  bodyBytesMax: 256 * 1024,
  // Anybody can call the webhook, and each value takes time on the main thread.
  bodyValuesMax: 10_000,
  rate: "annotate",
  answers: { 200: annotationAcceptedSchema },
} as const;

export const recordOperations = {
  listMessages: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/messages",
    summary: "List the transcript",
    description: "Lists messages, oldest first. Queued messages are not part of the transcript.",
    auth: READER_AUTH,
    rate: "poll",
    query: messageListQuerySchema,
    answers: { 200: listOf(messageRecordSchema) },
  }),
  submitAnnotation: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/annotations/webhook",
    summary: "Submit annotations",
    description:
      "The annotation overlay in the pages of the live browser calls this webhook, from any origin and without an API key: the unguessable session id is the credential. An annotation never starts a turn. A session has a limited number of annotations; beyond it, the response is 409.",
    auth: { kind: "none" },
    errors: ["method_not_allowed"],
    bare: { 400: "invalid JSON body", 404: "not found", 405: "method not allowed" },
    ...annotationSubmission,
  }),
  listAnnotations: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/annotations",
    summary: "List annotations, newest first",
    auth: READER_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(annotationRecordSchema) },
  }),
  readArtifact: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/artifacts/:artifactId",
    summary: "Download an artifact",
    description:
      "Returns evidence that a tool stored. Images are sent inline, everything else as a download.",
    auth: READER_AUTH,
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["image/*", "application/octet-stream"] },
    answerHeaders: {
      200: ["ETag", "Cache-Control", "Content-Disposition"],
      304: ["ETag", "Cache-Control"],
    },
  }),
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
