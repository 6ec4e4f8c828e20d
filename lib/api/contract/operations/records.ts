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
    auth: READER_AUTH,
    rate: "poll",
    query: messageListQuerySchema,
    answers: { 200: listOf(messageRecordSchema) },
  }),
  submitAnnotation: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/annotations/webhook",
    summary: "Submit annotations",
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
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(deliveryRecordSchema) },
  }),
  redeliverCallback: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/deliveries/:deliveryId/redeliver",
    summary: "Send a callback again",
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    answers: { 202: redeliveredSchema },
  }),
  rotateCallbackSecret: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/callback/secret",
    summary: "Replace the callback secret",
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
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    answers: { 200: callbackChangedSchema },
  }),
} as const satisfies Record<string, Operation>;
