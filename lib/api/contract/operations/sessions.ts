import { defineOperation, KEY_AUTH, MIB, type Operation } from "../operation.ts";
import { agentTreeSchema } from "../schemas/agents.ts";
import { listOf, sessionSummarySchema } from "../schemas/answers.ts";
import { budgetAnswerSchema, budgetChangeSchema } from "../schemas/budget.ts";
import { createSessionSchema, sessionCreatedSchema } from "../schemas/create-session.ts";
import { listQuerySchema } from "../schemas/queries.ts";
import { mcpTokenSchema, sessionDeletedSchema, sessionDetailSchema } from "../schemas/session-answers.ts";

/** The fields that the operations for creating a session share, in the API and on the landing page. */
export const sessionCreation = {
  errors: ["conflict", "idempotency_key_reused"],
  answerHeaders: { 201: ["Location"], 200: ["Location", "Idempotency-Replayed"] },
  body: createSessionSchema,
  bodyBytesMax: 8 * MIB,
  requiresJsonType: true,
  rate: "create",
  answers: { 201: sessionCreatedSchema, 200: sessionCreatedSchema },
} as const;

export const sessionOperations = {
  createSession: defineOperation({
    method: "POST",
    path: "/api/session",
    summary: "Create a session and start its first turn",
    auth: KEY_AUTH,
    ...sessionCreation,
  }),
  listSessions: defineOperation({
    method: "GET",
    path: "/api/sessions",
    summary: "List sessions, newest first",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(sessionSummarySchema) },
  }),
  readSession: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId",
    summary: "Read a session",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: sessionDetailSchema },
  }),
  deleteSession: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId",
    summary: "Delete a session and everything that belongs to it",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: sessionDeletedSchema },
  }),
  readBudget: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/budget",
    summary: "Read the budget of a session and what it has spent",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: budgetAnswerSchema },
  }),
  changeBudget: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/budget",
    summary: "Change the budget of a session and continue its turn",
    auth: KEY_AUTH,
    rate: "poll",
    body: budgetChangeSchema,
    bodyBytesMax: 64 * 1024,
    answers: { 200: budgetAnswerSchema },
  }),
  listAgents: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/agents",
    summary: "List the sub-agents below a session",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: agentTreeSchema },
  }),
  createMcpToken: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/mcp-token",
    summary: "Create a token for the built-in MCP server",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 201: mcpTokenSchema },
  }),
} as const satisfies Record<string, Operation>;
