import { z } from "zod";
import { SESSION_STATES, STARTUP_STATUSES } from "#db/schema/unions.ts";
import { outcomeSchema } from "#lib/events/event-schemas.ts";
import { pageUrl, publicationId, sessionId, shareUrl, source, timestamp } from "#lib/events/wire-values.ts";
import { REMOVED_PARTS } from "#lib/session/removal/remove-session.ts";
import { defineOperation, KEY_AUTH, MIB, type Operation } from "../operation.ts";
import { listOf, success, turnState } from "../schemas/answers.ts";
import { createSessionSchema, sessionCreatedSchema } from "../schemas/create-session.ts";
import { nameUpTo } from "../schemas/fields.ts";
import { interactionRecordSchema } from "../schemas/interaction.ts";
import { sessionListQuerySchema } from "../schemas/queries.ts";
import { callbackRecordSchema } from "./callbacks.ts";

export const sessionSummarySchema = z
  .object({
    id: sessionId,
    title: z.string().meta({ examples: ["Look at the checkout"] }),
    targetUrl: pageUrl(
      "The `targetUrl` that the session was created with. Null if it was created without one.",
    ).nullable(),
    source,
    isStructured: z.boolean().meta({ description: "Whether the session has an `outputSchema`." }),
    state: z.enum(SESSION_STATES).meta({
      description:
        "What the session is doing, or how its last turn ended. `ready`: no turn has started yet. `starting`: the next turn is about to start. `working`: a turn runs, or waits for sub-agents or tests. `waiting`: the turn waits for a person's answer, for a person to release control of the browser or for a larger budget, or the turn has ended and a person has yet to agree to its plan. `compacting`: the turn shortens the agent's context. `retrying`: the last run failed and its retry is about to start. `done`: the turn succeeded. `no_result`: the turn succeeded without a valid result. `page_error`: the turn succeeded but did not reach its page. `failed`: the turn failed. `stopped`: the turn was stopped.",
      examples: ["done"],
    }),
    stateReason: z
      .string()
      .nullable()
      .meta({
        description:
          "Explains the states `waiting`, `retrying`, `failed`, `no_result` and `page_error` in one sentence. Null in the other states.",
        examples: [null],
      }),
    turnState,
    lastOutcome: outcomeSchema
      .nullable()
      .describe(
        "Outcome of the newest run that has started. Null before the first run starts and while the newest run is in progress.",
      ),
    createdAt: timestamp,
    shareUrl,
  })
  .meta({ id: "SessionSummary" });

const names = z.array(z.string());

const jsonRecord = z.record(z.string(), z.json());

/**
 * A session with the settings that it was created with, without secrets. Source: specification, Session creation
 * request.
 */
const sessionDetailSchema = z
  .object({
    success,
    session: sessionSummarySchema.extend({
      parentSessionId: z
        .string()
        .nullable()
        .meta({
          description:
            "Id of the session whose agent started this session as a sub-agent. Null if the session is not a sub-agent.",
          examples: [null],
        }),
      userId: z
        .string()
        .nullable()
        .meta({
          description: "The `userId` that the session was created with. Null if it was created without one.",
          examples: ["ada"],
        }),
      metadata: jsonRecord.nullable().meta({
        description: "The `metadata` that the session was created with. Null if it was created without any.",
        examples: [{ ticket: "T-4711" }],
      }),
      targetPageUrls: names.meta({
        description: "Target pages from the session's creation and from later retargets.",
      }),
      outputSchema: jsonRecord.nullable().meta({
        description:
          "The `outputSchema` that the session was created with. Null if it was created without one.",
        examples: [null],
      }),
      systemPrompt: z
        .string()
        .nullable()
        .meta({
          description:
            "The `systemPrompt` that the session was created with. Null if it was created without one.",
          examples: [null],
        }),
      tools: z.object({
        include: names,
        exclude: names,
        externalTurnExclude: names,
        approve: names.optional(),
      }),
      mcpServers: z.record(z.string(), z.object({ url: z.string(), type: z.enum(["http", "sse"]) })).meta({
        description:
          "Remote tool servers without their headers. Values in the query and the fragment of a URL are replaced by `***`.",
        examples: [{}],
      }),
      capabilities: z.object({ browser: z.boolean(), sandbox: z.boolean() }),
      subAgents: z.boolean(),
      delegation: z.object({ maxLiveChildren: z.int(), maxLiveBrowsers: z.int() }).meta({
        description:
          "The limits on live sub-agents that apply now: those of the session, or the deployment's if they are lower.",
        examples: [{ maxLiveChildren: 4, maxLiveBrowsers: 4 }],
      }),
      interaction: interactionRecordSchema.nullable().meta({
        description:
          "Whether turns that no person started ask people. Null if the session was created without `interaction`, so that they do not.",
        examples: [null],
      }),
      callback: callbackRecordSchema
        .nullable()
        .meta({ description: "The session's callback. Null if it has none.", examples: [null] }),
      startupStatus: z.enum(STARTUP_STATUSES),
      updatedAt: z
        .string()
        .meta({ description: "Time in ISO 8601 format, UTC.", examples: ["2026-11-20T09:30:00.000Z"] }),
    }),
  })
  .meta({ id: "SessionDetail" });

const removed = (what: string, example: number) =>
  z.number().meta({ description: what, examples: [example] });

/**
 * The response to a deletion: how many records of each kind were deleted, what data could not be removed yet, and what
 * stays published. The numbers include the records of sub-agents. Source: `wire.md`, Also served.
 */
export const sessionDeletedSchema = z
  .object({
    success,
    deleted: z.object({
      sessions: removed("The session and its sub-agent sessions.", 1),
      requests: removed("Accepted messages.", 2),
      runs: removed("Runs. An open run was stopped.", 2),
      messages: removed("Messages of the transcript and the queue.", 5),
      events: removed("Events of the log.", 24),
      toolCalls: removed("Tool calls with their results.", 4),
      deliverables: removed("Typed results.", 2),
      annotations: removed("Annotations.", 0),
      elicitations: removed("Questions that the agent asked.", 0),
      deliveries: removed(
        "Callback deliveries with their attempts. Pending deliveries are no longer sent.",
        4,
      ),
      evidence: removed("Screenshots, previews and saved pages.", 3),
      evidenceBytes: removed("Size of the evidence in bytes.", 183_250),
      secrets: removed(
        "Encrypted secrets: callback secrets, headers of MCP servers, and URLs with a query or fragment.",
        1,
      ),
      shareLinks: removed("Created share links. The session's `shareUrl` stops working too.", 0),
      variantRevisions: removed("Revisions of variants.", 2),
      reports: removed("QA reports.", 1),
      previews: removed("Previews.", 0),
      workspaces: removed("Started workspaces.", 1),
      browsers: removed("Running browsers.", 1),
    }),
    pending: z
      .array(
        z.object({
          sessionId: z.string().meta({ description: "Id of the session or of a sub-agent session." }),
          part: z.enum(REMOVED_PARTS),
          reason: z.string().meta({ examples: ["a file or folder could not be removed (EBUSY)"] }),
        }),
      )
      .meta({
        description:
          "Data that could not be removed yet, such as files on disk. The service retries until all of it is removed, also after a restart. `run` means that a process still works on a run, `rows` that a check found remaining rows in the database. Empty when the deletion is complete.",
        examples: [[]],
      }),
    publications: z
      .array(
        z.object({
          id: publicationId,
          variant: z.string().meta({ description: "Key of the variant.", examples: ["main"] }),
          scriptUrl: z.string().meta({ description: "URL of the publication's script." }),
        }),
      )
      .meta({
        description:
          "Published variants of the session. They stay published until you call `POST /api/publications/:publicationId/unpublish`.",
        examples: [[]],
      }),
    pages: z.array(z.object({ slug: z.string(), url: z.string() })).meta({
      description:
        "Published landing pages of the session. They stay published until you call `POST /api/pages/:slug/unpublish`.",
      examples: [[]],
    }),
  })
  .meta({
    id: "SessionDeleted",
    description:
      "Numbers of deleted records, the data that is still to be removed, and what stays published. Deleting the session again returns 404.",
  });

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

/** The fields that the operations for renaming a session share, in the API and on the landing page. */
export const renaming = {
  body: z.strictObject({
    title: nameUpTo(200)
      .trim()
      .min(1, { error: "must not be empty" })
      .regex(/^\P{Cc}*$/u, { error: "must be one line without control characters" })
      .meta({ description: "The new title.", examples: ["Checkout, second attempt"] }),
  }),
  bodyBytesMax: 64 * 1024,
  rate: "act",
  answers: { 200: z.object({ success, session: sessionSummarySchema }).meta({ id: "SessionRenamed" }) },
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
      "Lists the sessions of the key's owner, without sub-agents. A cursor stays valid when sessions are deleted. With `q` or `state`, a call examines a bounded number of sessions, so a page may have fewer sessions than `limit`, or none, although `nextCursor` is not null: the next call examines older sessions.",
    auth: KEY_AUTH,
    rate: "poll",
    query: sessionListQuerySchema,
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
  renameSession: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId",
    summary: "Rename a session",
    description: "Replaces the title. Nothing else of a session can be changed this way.",
    auth: KEY_AUTH,
    ...renaming,
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
} as const satisfies Record<string, Operation>;
