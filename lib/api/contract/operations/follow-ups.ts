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
    description:
      "`pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows. Read the outcome from the `run.completed` event, the callback or the agent's status.",
    auth: KEY_AUTH,
    sessionCheck: "handler",
    rate: "poll",
    answers: { 200: requestStatusSchema },
  }),
  streamRequest: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/requests/:requestId/stream",
    summary: "Follow a request's events",
    description:
      "Streams the request's events as Server-Sent Events. Each stored event has its `seq` as `id`, its `kind` as `event` and the whole event as JSON in `data`. A replay is identical byte for byte. `message.delta` is only sent live, is not stored and has no `id`. The stream covers all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; if the request is completed and no events are left, the response is 204, so that an `EventSource` stops reconnecting. A heartbeat comment is sent every 15 s.",
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
    description:
      "Returns what the agent is doing and the results of the session. To get the deliverable of a structured session, poll this operation, or call it once after `run.completed`.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: agentStatusSchema },
  }),
  postMessage: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/agent/messages",
    summary: "Post a follow-up message",
    description:
      "Send exactly one of `text`, `message` and `messages`. A turn that this operation starts never counts as started by a person. `queued` is true if the message waits for earlier turns to end or for the running turn to read it. A session queues at most 100 messages; a further message is refused with 409 `conflict`.",
    bodyExamples: {
      "A question": { text: "Which of these are required?" },
      "Steer the running turn": { text: "Skip the newsletter box.", mode: "steer" },
      "Interrupt the running turn": { text: "Stop that and look at the cart.", mode: "interrupt" },
    },
    auth: KEY_AUTH,
    rate: "create",
    ...followUp,
  }),
  cancelTurn: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/agent/cancel",
    summary: "Stop the running turn",
    description:
      "Ends the running turn with the outcome `cancelled`. The next queued message then starts its turn. `runId` is null if no turn was running.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 202: stoppedSchema },
  }),
  listQueue: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/queue",
    summary: "List queued messages",
    description: "Lists the messages that wait, in the order in which the agent will get them.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: queueSchema },
  }),
  editQueued: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/queue/:requestId",
    summary: "Edit a queued message",
    description:
      "Replaces the text of a message that waits. Returns 409 once the message's turn has started or a turn has read the message.",
    auth: KEY_AUTH,
    rate: "poll",
    ...queuedEdit,
  }),
  removeQueued: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId/queue/:requestId",
    summary: "Remove a queued message",
    description:
      "Removes a message that waits, and completes its request with the outcome `cancelled`. Returns 409 once the message's turn has started or a turn has read the message.",
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
    description:
      "Answers or declines a question, after which the turn continues. Each question can be answered or declined only once: returns 409 if the question is no longer open. Returns 400 if a value does not fit its field; the question then stays open.",
    bodyExamples: {
      "An answer": { answer: "EUR" },
      "A form": { answer: { email: "ada@shop.example", newsletter: false } },
      "No answer": { decline: true },
    },
    auth: KEY_AUTH,
    rate: "poll",
    ...elicitationAnswer,
  }),
} as const satisfies Record<string, Operation>;
