import { z } from "zod";
import { CALLBACK_EVENTS, STARTUP_STATUSES } from "#db/schema/unions.ts";
import { REMOVED_PARTS } from "#lib/session/removal/remove-session.ts";
import { deliveryRecordSchema, sessionSummarySchema } from "./answers.ts";

const success = z.literal(true);
const names = z.array(z.string());
const jsonRecord = z.record(z.string(), z.json());

/** A session with its fixed profile; secrets are no part of it. Source: specification, Session creation request. */
export const sessionDetailSchema = z
  .object({
    success,
    session: sessionSummarySchema.extend({
      parentSessionId: z
        .string()
        .nullable()
        .meta({ description: "The session whose agent delegated to this one.", examples: [null] }),
      userId: z
        .string()
        .nullable()
        .meta({ examples: ["ada"] }),
      metadata: jsonRecord
        .nullable()
        .meta({ description: "As it was sent.", examples: [{ ticket: "T-4711" }] }),
      targetPageUrls: names.meta({
        description: "The pages it was created with, and those that a retarget named since.",
      }),
      outputSchema: jsonRecord.nullable().meta({ examples: [null] }),
      systemPrompt: z
        .string()
        .nullable()
        .meta({ examples: [null] }),
      tools: z.object({ include: names, exclude: names, externalTurnExclude: names }),
      mcpServers: z
        .record(z.string(), z.object({ url: z.string(), type: z.enum(["http", "sse"]) }))
        .meta({ description: "Without their headers, which no answer tells.", examples: [{}] }),
      capabilities: z.object({ browser: z.boolean(), sandbox: z.boolean() }),
      subAgents: z.boolean(),
      delegation: z
        .object({ maxLiveChildren: z.int(), maxLiveBrowsers: z.int() })
        .meta({ description: "The caps in force.", examples: [{ maxLiveChildren: 4, maxLiveBrowsers: 4 }] }),
      callback: z
        .object({
          url: z.string(),
          events: z.array(z.enum(CALLBACK_EVENTS)),
          isSigned: z.boolean().meta({ description: "Whether a secret was registered." }),
        })
        .nullable()
        .meta({ examples: [null] }),
      startupStatus: z.enum(STARTUP_STATUSES),
      updatedAt: z.string().meta({ description: "ISO 8601, UTC.", examples: ["2026-11-20T09:30:00.000Z"] }),
    }),
  })
  .meta({ id: "SessionDetail" });

const removed = (what: string, example: number) =>
  z.number().meta({ description: what, examples: [example] });

/** What went with a session: how many of each, its sub-agents' included. Source: `wire.md`, Also served. */
export const sessionDeletedSchema = z
  .object({
    success,
    deleted: z.object({
      sessions: removed("The session and its sub-agents.", 1),
      requests: removed("Accepted messages.", 2),
      runs: removed("Runs; one that was open was stopped.", 2),
      messages: removed("Messages of the transcript and of the queue.", 5),
      events: removed("Lines of the event log.", 24),
      toolCalls: removed("Calls of tools with their results.", 4),
      deliverables: removed("Typed results.", 2),
      annotations: removed("Annotations.", 0),
      elicitations: removed("Questions of the agent.", 0),
      deliveries: removed("Callbacks with their attempts; open ones are not sent.", 4),
      evidence: removed("Screenshots, previews and saved pages.", 3),
      evidenceBytes: removed("Their size in bytes.", 183_250),
      secrets: removed("Sealed secrets: of the callback, and headers of MCP servers.", 1),
      shareLinks: removed("Share links beside the session's own, which ends too.", 0),
      workspaces: removed("Workspaces that had been started.", 1),
      browsers: removed("Browsers that were up.", 1),
    }),
    pending: z
      .array(
        z.object({
          sessionId: z.string().meta({ description: "The session or one of its sub-agents." }),
          part: z.enum(REMOVED_PARTS),
          reason: z.string().meta({ examples: ["a file or folder could not be removed (EBUSY)"] }),
        }),
      )
      .meta({
        description:
          "What could not be removed from disk yet. The service retries until it is gone, also after a restart. Empty when the deletion is complete.",
        examples: [[]],
      }),
  })
  .meta({
    id: "SessionDeleted",
    description:
      "How much was deleted with the session, and what is still pending. Asking again answers 404.",
  });

/** A callback that was opened for a new cycle of attempts. Source: `wire.md`, Also served. */
export const redeliveredSchema = z
  .object({ success, delivery: deliveryRecordSchema })
  .meta({ id: "Redelivered", description: "The same callback with the same bytes and id, in a new cycle." });
