import { z } from "zod";
import { answerInputSchema } from "#lib/events/form-schema.ts";
import { defineOperation, KEY_AUTH, MIB, type Operation } from "../operation.ts";
import {
  agentStatusSchema,
  elicitationRecordSchema,
  listOf,
  queueSchema,
  requestStatusSchema,
  settledSchema,
  stoppedSchema,
} from "../schemas/answers.ts";
import { followUpAcceptedSchema, followUpSchema } from "../schemas/follow-up.ts";
import { listQuerySchema, streamHeadersSchema, streamQuerySchema } from "../schemas/queries.ts";

/** The fields that the operations for posting a message share, in the API and on the session page. */
export const followUp = {
  errors: ["idempotency_key_reused", "conflict"],
  answerHeaders: { 202: ["Idempotency-Replayed"] },
  body: followUpSchema,
  bodyBytesMax: 8 * MIB,
  requiresJsonType: true,
  answers: { 202: followUpAcceptedSchema },
} as const;

/** The fields that the operations for editing a queued message share, in the API and on the session page. */
export const queuedEdit = {
  body: z.strictObject({ text: z.string().min(1, { error: "must not be empty" }) }),
  bodyBytesMax: 8 * MIB,
  errors: ["conflict"],
  answers: { 200: settledSchema },
} as const;

/** The fields that the operations for answering a question share, in the API and on the session page. */
export const elicitationAnswer = {
  body: z.union([
    z.strictObject({ answer: answerInputSchema }),
    z.strictObject({ decline: z.literal(true) }),
  ]),
  bodyBytesMax: 256 * 1024,
  errors: ["conflict"],
  answers: { 202: settledSchema },
} as const;

export const followUpOperations = {
  readRequestStatus: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/requests/:requestId",
    summary: "Read a request's status",
    auth: KEY_AUTH,
    sessionCheck: "handler",
    rate: "poll",
    answers: { 200: requestStatusSchema },
  }),
  streamRequest: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/requests/:requestId/stream",
    summary: "Follow a request's events",
    auth: KEY_AUTH,
    sessionCheck: "handler",
    rate: "poll",
    query: streamQuerySchema,
    headers: streamHeadersSchema,
    answers: { 200: "stream", 204: "stream" },
    media: { 200: ["text/event-stream"] },
    answerHeaders: { 200: ["Cache-Control"] },
  }),
  readAgentStatus: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/agent/status",
    summary: "Read the agent's status",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: agentStatusSchema },
  }),
  postMessage: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/agent/messages",
    summary: "Post a follow-up message",
    auth: KEY_AUTH,
    rate: "create",
    ...followUp,
  }),
  cancelTurn: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/agent/cancel",
    summary: "Stop the running turn",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 202: stoppedSchema },
  }),
  listQueue: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/queue",
    summary: "List queued messages",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: queueSchema },
  }),
  editQueued: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/queue/:requestId",
    summary: "Edit a queued message",
    auth: KEY_AUTH,
    rate: "poll",
    ...queuedEdit,
  }),
  removeQueued: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId/queue/:requestId",
    summary: "Remove a queued message",
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    answers: { 200: settledSchema },
  }),
  listElicitations: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/elicitations",
    summary: "List the agent's questions, newest first",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(elicitationRecordSchema) },
  }),
  answerElicitation: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/elicitations/:elicitationId",
    summary: "Answer the agent's question",
    auth: KEY_AUTH,
    rate: "poll",
    ...elicitationAnswer,
  }),
} as const satisfies Record<string, Operation>;
