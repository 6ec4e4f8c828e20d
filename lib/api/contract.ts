import { z } from "zod";
import { defineOperation, type Operation } from "./operation.ts";
import {
  agentStatusSchema,
  annotationAcceptedSchema,
  annotationRecordSchema,
  browserStatusSchema,
  deliveryRecordSchema,
  healthSchema,
  listOf,
  messageRecordSchema,
  queueSchema,
  readySchema,
  requestStatusSchema,
  retargetAcceptedSchema,
  sessionSummarySchema,
  settledSchema,
  stoppedSchema,
} from "./schemas/answers.ts";
import { createSessionSchema, sessionCreatedSchema } from "./schemas/create-session.ts";
import { followUpAcceptedSchema, followUpSchema } from "./schemas/follow-up.ts";
import { listQuerySchema, messageListQuerySchema, streamQuerySchema } from "./schemas/queries.ts";

const MIB = 1024 * 1024;
const key = { kind: "key" } as const;
const driver = { kind: "share", role: "drive", orKey: false } as const;
const reader = { kind: "share", role: "view", orKey: true } as const;

const queuedEdit = {
  body: z.strictObject({ text: z.string().min(1, { error: "must not be empty" }) }),
  ...{ bodyBytesMax: 8 * MIB, requiresJsonType: true, answers: { 200: settledSchema } },
} as const;

const elicitationAnswer = {
  body: z.union([
    z.strictObject({ answer: z.string().max(100_000, { error: "must be at most 100,000 characters" }) }),
    z.strictObject({ decline: z.literal(true) }),
  ]),
  ...{ bodyBytesMax: 256 * 1024, requiresJsonType: true, answers: { 202: settledSchema } },
} as const;

/** Every operation of the HTTP interface, once: routes, validation, answers and documents come from it. */
export const contract = {
  createSession: defineOperation({
    ...{
      method: "POST",
      path: "/api/session",
      summary: "Create a session and start its first turn",
      auth: key,
    },
    ...{ body: createSessionSchema, bodyBytesMax: 8 * MIB, requiresJsonType: true, rate: "create" },
    answers: { 201: sessionCreatedSchema, 200: sessionCreatedSchema },
  }),
  startSession: defineOperation({
    ...{
      method: "POST",
      path: "/actions/sessions",
      summary: "Start a session from the landing page",
      auth: { kind: "login" },
    },
    ...{ body: createSessionSchema, bodyBytesMax: 8 * MIB, requiresJsonType: true, rate: "create" },
    answers: { 201: sessionCreatedSchema, 200: sessionCreatedSchema },
  }),
  listSessions: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions",
      summary: "List sessions, newest first",
      auth: key,
      rate: "poll",
    },
    ...{ query: listQuerySchema, answers: { 200: listOf(sessionSummarySchema) } },
  }),
  readRequestStatus: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/requests/:requestId",
      summary: "Read a request's status",
    },
    ...{ auth: key, rate: "poll", answers: { 200: requestStatusSchema } },
  }),
  streamRequest: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/requests/:requestId/stream",
      summary: "Follow a request's events",
    },
    ...{ auth: key, rate: "poll", query: streamQuerySchema, answers: { 200: "stream", 204: "stream" } },
  }),
  readAgentStatus: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/agent/status",
      summary: "Read the agent's status",
      auth: key,
    },
    ...{ rate: "poll", answers: { 200: agentStatusSchema } },
  }),
  postMessage: defineOperation({
    ...{
      method: "POST",
      path: "/api/sessions/:sessionId/agent/messages",
      summary: "Post a follow-up message",
      auth: key,
    },
    ...{ body: followUpSchema, bodyBytesMax: 8 * MIB, requiresJsonType: true, rate: "create" },
    answers: { 202: followUpAcceptedSchema },
  }),
  cancelTurn: defineOperation({
    ...{
      method: "POST",
      path: "/api/sessions/:sessionId/agent/cancel",
      summary: "Stop the running turn",
      auth: key,
    },
    ...{ rate: "poll", answers: { 202: stoppedSchema } },
  }),
  readBrowser: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/browser",
      summary: "Read the browser's status",
      auth: key,
    },
    ...{ rate: "poll", answers: { 200: browserStatusSchema } },
  }),
  retargetBrowser: defineOperation({
    ...{
      method: "POST",
      path: "/api/sessions/:sessionId/browser",
      summary: "Retarget the live browser",
      auth: key,
    },
    ...{ body: z.unknown(), bodyBytesMax: 64 * 1024, rate: "poll", answers: { 202: retargetAcceptedSchema } },
    bare: { 400: "url is required" },
  }),
  submitAnnotation: defineOperation({
    ...{
      method: "POST",
      path: "/api/sessions/:sessionId/annotations/webhook",
      summary: "Submit annotations",
    },
    ...{ auth: { kind: "none" }, body: z.unknown(), bodyBytesMax: 256 * 1024, rate: "annotate" },
    bare: { 400: "invalid JSON body", 404: "not found" },
    answers: { 200: annotationAcceptedSchema },
  }),
  listMessages: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/messages",
      summary: "List the transcript",
      auth: reader,
    },
    ...{ rate: "poll", query: messageListQuerySchema, answers: { 200: listOf(messageRecordSchema) } },
  }),
  listAnnotations: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/annotations",
      summary: "List annotations, newest first",
      auth: reader,
    },
    ...{ rate: "poll", query: listQuerySchema, answers: { 200: listOf(annotationRecordSchema) } },
  }),
  listDeliveries: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/deliveries",
      summary: "List callbacks and their attempts",
      auth: key,
    },
    ...{ rate: "poll", query: listQuerySchema, answers: { 200: listOf(deliveryRecordSchema) } },
  }),
  readArtifact: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/artifacts/:artifactId",
      summary: "Read a picture or saved page",
    },
    ...{ auth: reader, answers: { 200: "stream" } },
  }),
  listQueue: defineOperation({
    ...{
      method: "GET",
      path: "/api/sessions/:sessionId/queue",
      summary: "List messages that wait for their turn",
    },
    ...{ auth: key, rate: "poll", answers: { 200: queueSchema } },
  }),
  editQueued: defineOperation({
    ...{
      method: "PATCH",
      path: "/api/sessions/:sessionId/queue/:requestId",
      summary: "Edit a waiting message",
    },
    ...{ auth: key, rate: "poll", ...queuedEdit },
  }),
  removeQueued: defineOperation({
    ...{
      method: "DELETE",
      path: "/api/sessions/:sessionId/queue/:requestId",
      summary: "Remove a waiting message",
    },
    ...{ auth: key, rate: "poll", answers: { 200: settledSchema } },
  }),
  answerElicitation: defineOperation({
    ...{ method: "POST", path: "/api/sessions/:sessionId/elicitations/:elicitationId" },
    ...{ summary: "Answer the agent's question", auth: key, rate: "poll", ...elicitationAnswer },
  }),
  postPersonMessage: defineOperation({
    ...{
      method: "POST",
      path: "/s/:sessionId/actions/messages",
      summary: "Say something on the session page",
      auth: driver,
    },
    ...{ body: followUpSchema, bodyBytesMax: 8 * MIB, requiresJsonType: true },
    answers: { 202: followUpAcceptedSchema },
  }),
  cancelPersonTurn: defineOperation({
    ...{
      method: "POST",
      path: "/s/:sessionId/actions/cancel",
      summary: "Stop the turn from the session page",
      auth: driver,
    },
    answers: { 202: stoppedSchema },
  }),
  answerPersonElicitation: defineOperation({
    ...{
      method: "POST",
      path: "/s/:sessionId/actions/elicitations/:elicitationId",
      summary: "Answer the agent's question",
    },
    ...{ auth: driver, ...elicitationAnswer },
  }),
  listPersonQueue: defineOperation({
    ...{
      method: "GET",
      path: "/s/:sessionId/actions/queue",
      summary: "List messages that wait for their turn",
    },
    ...{ auth: { kind: "share", role: "view", orKey: false }, answers: { 200: queueSchema } },
  }),
  removePersonQueued: defineOperation({
    ...{
      method: "DELETE",
      path: "/s/:sessionId/actions/queue/:requestId",
      summary: "Remove a waiting message",
      auth: driver,
    },
    answers: { 200: settledSchema },
  }),
  editPersonQueued: defineOperation({
    ...{
      method: "PATCH",
      path: "/s/:sessionId/actions/queue/:requestId",
      summary: "Edit a waiting message",
      auth: driver,
    },
    ...queuedEdit,
  }),
  steerBrowser: defineOperation({
    ...{
      method: "POST",
      path: "/s/:sessionId/actions/browser",
      summary: "Use the address bar of the live view",
      auth: driver,
    },
    body: z.union([
      z.strictObject({ url: z.string().min(1, { error: "must not be empty" }) }),
      z.strictObject({ action: z.enum(["back", "forward", "reload"]) }),
    ]),
    ...{ bodyBytesMax: 64 * 1024, requiresJsonType: true, answers: { 202: settledSchema } },
  }),
  readHealth: defineOperation({
    ...{
      method: "GET",
      path: "/api/health",
      summary: "Liveness",
      auth: { kind: "none" },
      answers: { 200: healthSchema },
    },
  }),
  readReadiness: defineOperation({
    ...{ method: "GET", path: "/api/ready", summary: "Readiness of every part", auth: { kind: "none" } },
    answers: { 200: readySchema, 503: readySchema },
  }),
} as const satisfies Record<string, Operation>;

export type Contract = typeof contract;
export type OperationName = keyof Contract;
