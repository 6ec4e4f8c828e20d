import { z } from "zod";
import { CALLBACK_EVENTS, STARTUP_STATUSES } from "#db/schema/unions.ts";
import { publicationId } from "#lib/events/wire-values.ts";
import { REMOVED_PARTS } from "#lib/session/removal/remove-session.ts";
import { deliveryRecordSchema, sessionSummarySchema } from "./answers.ts";
import { nameUpTo } from "./fields.ts";

const success = z.literal(true);
const names = z.array(z.string());
const jsonRecord = z.record(z.string(), z.json());

const instant = (description: string) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [null] });

/** The callback of a session, without its secrets. */
const callbackRecordSchema = z
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
export const rotateCallbackSecretSchema = z.strictObject({
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

export const callbackChangedSchema = z
  .object({ success, callback: callbackRecordSchema })
  .meta({ id: "CallbackChanged" });

/**
 * A session with the settings that it was created with, without secrets. Source: specification, Session creation
 * request.
 */
export const sessionDetailSchema = z
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
      tools: z.object({ include: names, exclude: names, externalTurnExclude: names }),
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

/**
 * The response to sending a callback again. A redelivery starts a new cycle of attempts.
 * Source: `wire.md`, Also served.
 */
export const redeliveredSchema = z.object({ success, delivery: deliveryRecordSchema }).meta({
  id: "Redelivered",
  description: "The same delivery with the same body and id, in a new cycle of attempts.",
});

/** A user token of the session for an external agent, and the URL of the server that accepts the token. */
export const mcpTokenSchema = z
  .object({
    success: z.literal(true),
    token: z
      .string()
      .meta({ description: "Short-lived secret. Send it as `Authorization: Bearer <token>`." }),
    url: z
      .string()
      .meta({ description: "URL of the built-in MCP server. Only this server accepts the token." }),
    expiresAt: z.string().meta({
      description: "When the token expires. ISO 8601, UTC. You can create a new token at any time.",
    }),
  })
  .meta({ id: "McpToken" });
