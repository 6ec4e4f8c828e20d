import { z } from "zod";
import { BROWSER_STATUSES, CALLBACK_EVENTS, EVIDENCE_KINDS, RUN_ORIGINS } from "#db/schema/unions.ts";
import type { EventKind } from "#lib/events/event.ts";
import { annotationRecordSchema, deliverableSchema, messageRecordSchema, outcomeSchema } from "./answers.ts";
import {
  count,
  jsonValue,
  messageId,
  pageUrl,
  requestId,
  runId,
  sessionId,
  source,
  timestamp,
} from "./values.ts";

const callId = z.string().meta({ description: "Names one tool call.", examples: ["call_h3k7pq"] });
const toolName = z.string().meta({ examples: ["dom_query"] });
const durationMs = z.number().meta({ description: "Milliseconds.", examples: [2867] });
const deliverable = { deliverable: deliverableSchema };
const elicitationId = z.string().meta({ examples: ["eli_b4wq2nxzkt7mpycr5hvjd3sa"] });

const evidenceSchema = z
  .object({
    id: z.string().meta({ examples: ["evi_t6ywq3ekc2bzmr5x7nahvpdj"] }),
    kind: z.enum(EVIDENCE_KINDS),
    title: z.string().meta({ examples: ["The checkout form"] }),
    url: pageUrl("The page it is of.").nullable(),
    mediaType: z.string().meta({ examples: ["image/png"] }),
  })
  .meta({ id: "EvidencePointer", description: "Something a tool kept: read it as an artifact." });

const usageSchema = z
  .object({
    inputTokens: count.meta({ examples: [13155] }),
    outputTokens: count.meta({ examples: [950] }),
    reasoningTokens: count,
    cachedInputTokens: count,
    modelCalls: count.meta({ examples: [7] }),
    toolCalls: count.meta({ examples: [7] }),
    durationMs,
  })
  .meta({ id: "Usage", description: "What a run used." });

/** An event's own fields behind those that all have. Source: `wire.md`, Stream. */
const define = <const Kind extends string, Fields extends z.core.$ZodLooseShape>(
  kind: Kind,
  description: string,
  fields: Fields,
) =>
  z
    .object({
      kind: z.literal(kind),
      seq: z
        .int()
        .min(1)
        .meta({ description: "Number in the session, without gaps.", examples: [30] }),
      timestamp,
      sessionId,
      requestId: requestId.nullable(),
      runId: runId.nullable(),
      source,
      ...fields,
    })
    .meta({ id: nameEvent(kind), description });

/** `run.completed` as `RunCompletedEvent`. */
const nameEvent = (kind: string): string =>
  `${kind.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const MESSAGE_COMPLETED =
  "A message of the transcript, whole. It is sent again with the same `id` when the deliverable of the turn is added to it as a `data-deliverable` part: keep the last.";

/** Every kind of stored event as it goes over the wire. Source: `wire.md`, Stream. */
export const eventSchemas = {
  "run.started": define("run.started", "A run has begun.", {
    attempt: z.int().min(1).meta({ description: "Counts the runs of the request." }),
    origin: z.enum(RUN_ORIGINS).meta({ description: "Who or what began it.", examples: ["external"] }),
  }),
  "message.completed": define("message.completed", MESSAGE_COMPLETED, {
    message: messageRecordSchema,
  }),
  "tool.call": define("tool.call", "The agent calls a tool.", {
    messageId: messageId
      .describe("The message that holds the call; null where another agent called.")
      .nullable(),
    toolCallId: callId,
    toolName,
    input: jsonValue,
  }),
  "tool.result": define("tool.result", "A tool call has ended.", {
    toolCallId: callId,
    toolName,
    state: z.enum(["succeeded", "failed", "unknown"]).meta({
      description: "`unknown`: it was interrupted and may not be repeated.",
    }),
    resultId: z.string().meta({ examples: ["res_y7d4kqwz2hnxm5tcrp3vbjsa"] }),
    preview: z.string().meta({ description: "Beginning of the result, at most 2,000 characters." }),
    evidence: z.array(evidenceSchema),
    durationMs,
  }),
  "mcp.skipped": define("mcp.skipped", "Tools of a tool server are missing in this turn.", {
    serverId: z.string().meta({ examples: ["crm"] }),
    reason: z.string().meta({ examples: ["the server did not list its tools within 15 s"] }),
    tools: z
      .array(z.string())
      .optional()
      .meta({ description: "The first of the tools that are missing; without it the whole server is." }),
    toolCount: z.int().min(0).optional().meta({ description: "How many tools are missing." }),
  }),
  "turn.compacting": define("turn.compacting", "Room is made in the agent's context.", {
    tokens: count,
    budgetTokens: count,
  }),
  "turn.compacted": define("turn.compacted", "Room has been made in the agent's context.", {
    how: z.enum(["offloaded", "summarized"]),
    tokensBefore: count,
    tokensAfter: count,
    messagesReplaced: count,
  }),
  "turn.steered": define("turn.steered", "The turn has read messages between two of its steps.", {
    steerRequestId: requestId,
    messageIds: z.array(messageId),
  }),
  "deliverable.pending": define("deliverable.pending", "A result is to come.", deliverable),
  "deliverable.ready": define("deliverable.ready", "The result is there, and valid.", deliverable),
  "deliverable.failed": define("deliverable.failed", "There is no result.", deliverable),
  "browser.status": define("browser.status", "The live browser stands otherwise than before.", {
    status: z.enum(BROWSER_STATUSES),
    desiredUrl: pageUrl("The page that the session targets now.").nullable(),
    lastNavigatedUrl: pageUrl("The last page reached.").nullable(),
    currentUrl: pageUrl("The address shown.").nullable(),
    lastError: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
  }),
  "browser.waiting": define(
    "browser.waiting",
    "Every browser of the process is in use, so the session waits for one. The wait ends with a `browser.status` other than `creating`.",
    {
      position: z
        .int()
        .min(1)
        .meta({ description: "Place in line; 1 is next.", examples: [3] }),
    },
  ),
  "annotation.submitted": define("annotation.submitted", "Somebody annotated the page.", {
    annotation: annotationRecordSchema,
  }),
  "elicitation.requested": define("elicitation.requested", "The agent asks a question.", {
    elicitationId,
    toolCallId: callId,
    question: z.string().meta({ examples: ["Which currency?"] }),
    options: z
      .array(z.string())
      .nullable()
      .meta({ examples: [["EUR", "USD"]] }),
  }),
  "elicitation.resolved": define("elicitation.resolved", "A question is settled.", {
    elicitationId,
    state: z.enum(["answered", "declined", "unanswered"]),
    answer: z
      .string()
      .nullable()
      .meta({ examples: ["EUR"] }),
  }),
  "run.completed": define("run.completed", "A run has ended.", {
    outcome: outcomeSchema,
    error: z.string().optional(),
    deliverable: deliverableSchema.optional(),
    usage: usageSchema,
    willRetry: z
      .object({ runId, attempt: z.int(), delayMs: z.number() })
      .optional()
      .meta({ description: "The run that follows by itself; without it this is the request's last event." }),
  }),
} satisfies Record<EventKind, z.ZodObject>;

const [first, ...others] = Object.values(eventSchemas);
if (!first) throw new Error("there are no events");

/** Any stored event, as the stream, the socket and callbacks carry it. */
export const domainEventSchema = z.discriminatedUnion("kind", [first, ...others]).meta({
  id: "DomainEvent",
  description: "A stored event of the session. Pass over kinds that you do not know.",
});

/** A piece of a message while it is written: live only. Source: `wire.md`, Stream. */
export const messageDeltaSchema = z
  .object({
    kind: z.literal("message.delta"),
    timestamp,
    sessionId,
    requestId,
    runId,
    source,
    messageId,
    part: z.enum(["text", "reasoning"]),
    attempt: z.int().meta({ description: "A later attempt replaces what an earlier one streamed." }),
    offset: count.meta({ description: "Characters of this part before this piece." }),
    text: z.string().meta({ examples: ["The checkout asks for"] }),
  })
  .meta({
    id: "MessageDelta",
    description:
      "A piece of a message while it is written. It has no number, and `message.completed` replaces it.",
  });

/** What a callback posts. Source: specification, Run lifecycle callbacks. */
export const callbackBodySchemas = Object.fromEntries(
  CALLBACK_EVENTS.map((event) => [
    event,
    z
      .object({ event: z.literal(event), sessionId, requestId, runId, timestamp, data: eventSchemas[event] })
      .meta({
        id: `${nameEvent(event).replace(/Event$/, "")}Callback`,
        description: `Body of a \`${event}\` callback.`,
      }),
  ]),
);
