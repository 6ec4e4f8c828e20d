import { defineOperation, KEY_AUTH, MIB, type Operation } from "../operation.ts";
import { agentTreeSchema } from "../schemas/agents.ts";
import { listOf, sessionSummarySchema } from "../schemas/answers.ts";
import { budgetAnswerSchema, budgetChangeSchema } from "../schemas/budget.ts";
import { createSessionSchema, sessionCreatedSchema } from "../schemas/create-session.ts";
import { listQuerySchema } from "../schemas/queries.ts";
import { mcpTokenSchema, sessionDeletedSchema, sessionDetailSchema } from "../schemas/session-answers.ts";

const message = (text: string) => ({ role: "user", parts: [{ type: "text", text }] });

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
    description:
      "Stores the session, its messages and the job for its first turn in one transaction: a 2xx means stored. Later requests cannot change the session's settings, except its budget and its callback's secret. A replay with the same `idempotencyKey` and an equal body returns 200 with the original ids. With an `outputSchema`, every turn ends with a typed deliverable. If the owner of the API key has reached a limit of the deployment, such as its number of sessions, the response is 409.",
    bodyExamples: {
      "A question about a page": {
        messages: [message("What does the checkout of this shop ask for?")],
        targetUrl: "https://shop.example/checkout",
      },
      "A typed result, with a callback": {
        messages: [message("List the fields of the checkout form.")],
        targetUrl: "https://shop.example/checkout",
        outputSchema: {
          type: "object",
          properties: { title: { type: "string" }, fields: { type: "array", items: { type: "string" } } },
          required: ["title", "fields"],
        },
        callback: { url: "https://receiver.example/hook", secret: "shh", events: ["run.completed"] },
        idempotencyKey: "order-4711",
      },
      "A remote tool server, without a browser": {
        messages: [message("Which of our customers wrote today?")],
        mcpServers: { crm: { url: "https://tools.example/mcp", headers: { Authorization: "Bearer …" } } },
        capabilities: { browser: false },
        tools: { exclude: ["run_shell", "mcp_crm__delete_*"] },
      },
    },
    auth: KEY_AUTH,
    ...sessionCreation,
  }),
  listSessions: defineOperation({
    method: "GET",
    path: "/api/sessions",
    summary: "List sessions, newest first",
    description:
      "Lists the sessions of the key's owner, without sub-agents. A cursor stays valid when sessions are deleted.",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(sessionSummarySchema) },
  }),
  readSession: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId",
    summary: "Read a session",
    description:
      "Returns the session with its settings. The response does not include headers of tool servers or the callback's secret.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: sessionDetailSchema },
  }),
  deleteSession: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId",
    summary: "Delete a session and everything that belongs to it",
    description:
      "Stops the turn, then deletes the rows, files, browser and secrets of the session and its sub-agents. The response counts what was deleted. `pending` lists data that could not be removed yet, such as files on disk; the service retries until all of it is removed. Published variants and landing pages stay published. Deleting the session again returns 404.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: sessionDeletedSchema },
  }),
  readBudget: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/budget",
    summary: "Read the budget of a session and what it has spent",
    description:
      "Returns the limits of the session and what the session and its sub-agents have spent. A sub-agent has the budget of its root session.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: budgetAnswerSchema },
  }),
  changeBudget: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/budget",
    summary: "Change the budget of a session and continue its turn",
    description:
      "Sets, raises, lowers or removes limits. Turns of the session and its sub-agents that wait because of the budget continue if it is no longer used up. A lower limit applies before the next model call. Repeating the call has no further effect.",
    bodyExamples: { "Raise two limits": { usd: 10, tokens: 500_000 }, "Remove a limit": { minutes: null } },
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
    description:
      "Lists every sub-agent below the session, at every depth: parents before their children. Each sub-agent has its own session. An API key of the owner can read this session, but operations that change it return 409.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: agentTreeSchema },
  }),
  createMcpToken: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/mcp-token",
    summary: "Create a token for the built-in MCP server",
    description:
      "Gives an external agent access to tools of the session. With the token, an MCP client connects to the built-in server at `url` over Streamable HTTP. The server offers the client its own utilities and the session's tools that the tool policy allows on a turn that no person started. It does not offer `elicit_user_input`, the tools for planning, requirements, delegation and skills, the tools for test runs, or the tools that act for the whole session (`publish_variant`, `deploy_landing_page`, `publish_qa_report`, `import_legacy_session`). The token also ends when the session is deleted, or when the API key of this request is revoked, expires or loses `sessions:write`.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 201: mcpTokenSchema },
  }),
} as const satisfies Record<string, Operation>;
