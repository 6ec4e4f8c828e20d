import { z } from "zod";
import {
  BROWSER_STATUSES,
  CALLBACK_EVENTS,
  DELIVERY_STATES,
  FOLLOW_UP_MODES,
  MESSAGE_ROLES,
  SESSION_STATES,
  STARTUP_STATUSES,
} from "#db/schema/unions.ts";
import {
  count,
  jsonValue,
  messageId,
  pageUrl,
  requestId,
  runId,
  sessionId,
  shareUrl,
  source,
  timestamp,
} from "./values.ts";

const success = z.literal(true);
const turnState = z.enum(["idle", "running", "compacting"]).meta({
  id: "TurnState",
  description: "`running` from the moment a request is accepted until none is open, retries included.",
});
export const outcomeSchema = z.enum(["succeeded", "errored", "cancelled"]).meta({
  id: "RunOutcome",
  description: "How a run ended.",
});

/** Source: specification, Request status. */
export const requestStatusSchema = z
  .object({
    success,
    sessionId,
    requestId,
    runId: runId.describe("The request's newest run: a retry is a run of its own."),
    status: z.enum(["pending", "running", "completed"]),
  })
  .meta({ id: "RequestStatus" });

/** Source: specification, Deliverable. */
export const deliverableSchema = z
  .discriminatedUnion("status", [
    z.object({ runId, status: z.literal("pending") }).meta({ id: "PendingDeliverable" }),
    z
      .object({
        runId,
        status: z.literal("ready"),
        value: jsonValue.meta({
          description: "Valid against the caller's `outputSchema`.",
          examples: [{ title: "Checkout · Harbour Paper Co.", fields: [{ name: "Email", required: true }] }],
        }),
      })
      .meta({ id: "ReadyDeliverable" }),
    z
      .object({
        runId,
        status: z.literal("failed"),
        error: z.string().meta({
          description: "The provider's message, or the reason.",
          examples: ["the model's answer was cut off"],
        }),
        rawText: z.string().meta({ description: "What the model wrote instead." }).optional(),
        violations: z
          .array(
            z.object({
              path: z.string().meta({
                description: "Where in the result, in the shape of `outputSchema`: a JSON pointer.",
                examples: ["/items/0/name"],
              }),
              message: z.string().meta({ examples: ["must NOT have more than 10 characters"] }),
              rawPath: z
                .string()
                .meta({ description: "The same place in the JSON of `rawText`, where it has one." })
                .optional(),
            }),
          )
          .meta({ description: "What breaks `outputSchema`, where the answer was a value that does." })
          .optional(),
      })
      .meta({ id: "FailedDeliverable" }),
  ])
  .meta({ id: "Deliverable", description: "The typed result of a run of a structured session." });

/** Source: specification, Agent status; `wire.md`, Agent status. */
export const agentStatusSchema = z
  .object({
    turnState,
    activeRunId: runId.describe("The run at work.").nullable(),
    lastRunId: runId.describe("The newest run that has started.").nullable(),
    deliverable: deliverableSchema.nullable().meta({
      description:
        "Result of the newest run. It is final once `turnState` is not `running` and its `runId` equals `lastRunId` with a status other than `pending`.",
    }),
    delegation: z.object({ maxLiveChildren: count, maxLiveBrowsers: count }).meta({
      description: "Caps on sub-agents that are in force.",
      examples: [{ maxLiveChildren: 4, maxLiveBrowsers: 4 }],
    }),
    startupStatus: z.enum(STARTUP_STATUSES).meta({ description: "How the workspace stands." }),
    lastRun: z
      .object({
        outcome: outcomeSchema,
        error: z
          .string()
          .nullable()
          .meta({ examples: [null] }),
      })
      .nullable()
      .meta({ description: "How the newest ended run ended." }),
    queued: count.meta({ description: "Messages that wait.", examples: [0] }),
  })
  .meta({ id: "AgentStatus" });

/** Source: specification, Browser status; `wire.md`, Browser. */
export const browserStatusSchema = z
  .object({
    status: z.enum(BROWSER_STATUSES).meta({ examples: ["ready"] }),
    sessionId: sessionId.nullable(),
    liveViewUrl: z
      .string()
      .nullable()
      .meta({
        description:
          "Opens the live view alone, read-only, for anyone who has this link; null unless `status` is `ready`. Revoking all share links changes it. A path of this service.",
        examples: ["/s/ses_xdbqydi2z2jnnberubbghcrn/live?key=JdGm7kq0-bTqk2wVYv3cE8rN1xLh5uPa"],
      }),
    desiredUrl: pageUrl("The page that the session targets now.").nullable(),
    lastNavigatedUrl: pageUrl(
      "The last page reached. Once the navigation that a retarget asked for has landed, this is the requested URL. After a retarget or a start of the browser it never shows an earlier landing on `desiredUrl`: it is null until that page is reached again.",
    ).nullable(),
    currentUrl: pageUrl("The address shown.").nullable(),
    lastError: z
      .string()
      .nullable()
      .meta({ description: "Why a navigation was refused; gone once a page is reached.", examples: [null] }),
  })
  .meta({ id: "BrowserStatus" });

export const retargetAcceptedSchema = z
  .object({
    accepted: z.literal(true),
    url: pageUrl("The URL that was asked for."),
    statusUrl: z.string().meta({
      description: "Where the browser's status is polled. A path of this service.",
      examples: ["/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/browser"],
    }),
  })
  .meta({ id: "RetargetAccepted", description: "Accepted, not landed: poll the browser's status." });

export const annotationAcceptedSchema = z.object({ ok: z.literal(true) }).meta({ id: "AnnotationAccepted" });

export const stoppedSchema = z
  .object({
    success,
    sessionId,
    runId: runId.describe("The run that was told to stop; null where none was at work.").nullable(),
  })
  .meta({ id: "TurnStopped" });

export const settledSchema = z.object({ success }).meta({ id: "Settled" });

/** A list page: `{ success, data, nextCursor }`. Source: `wire.md`, Also served. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .object({
      success,
      data: z.array(item),
      nextCursor: z
        .string()
        .nullable()
        .meta({
          description: "Send it as `cursor` for the next page; null after the last.",
          examples: [null],
        }),
    })
    .meta({ id: `${z.globalRegistry.get(item)?.id ?? "Item"}Page` });

/** A part of a message; parts of kinds to come have a `type` too. */
const messagePartSchema = z.looseObject({ type: z.string() }).meta({
  id: "MessagePart",
  description:
    "`text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`. Pass over types that you do not know.",
  examples: [{ type: "text", text: "The checkout asks for an email address." }],
});

export const messageRecordSchema = z
  .object({
    id: messageId,
    seq: count.meta({ description: "Place in the transcript, from 1.", examples: [2] }),
    role: z.enum(MESSAGE_ROLES).meta({ examples: ["assistant"] }),
    parts: z.array(messagePartSchema),
    requestId: requestId.nullable(),
    runId: runId.nullable(),
    author: z
      .string()
      .nullable()
      .meta({ description: "The `userId` that was sent with it.", examples: [null] }),
    createdAt: timestamp,
  })
  .meta({ id: "MessageRecord", description: "A message of the transcript." });

export const sessionSummarySchema = z
  .object({
    id: sessionId,
    title: z.string().meta({ examples: ["Look at the checkout"] }),
    targetUrl: pageUrl("The page it was created with.").nullable(),
    source,
    isStructured: z.boolean().meta({ description: "Whether it has an `outputSchema`." }),
    state: z.enum(SESSION_STATES).meta({
      description:
        "What the session is doing, or how its last turn ended. `waiting`: for a person's answer. `done`: the turn did its work; one that succeeded without a valid result is `no_result`, one whose page was not reached `page_error`.",
      examples: ["done"],
    }),
    stateReason: z
      .string()
      .nullable()
      .meta({
        description: "Why, for `waiting`, `retrying`, `failed`, `no_result` and `page_error`.",
        examples: [null],
      }),
    turnState,
    lastOutcome: outcomeSchema.nullable(),
    createdAt: timestamp,
    shareUrl,
  })
  .meta({ id: "SessionSummary" });

export const annotationRecordSchema = z
  .looseObject({
    id: z.string().meta({ examples: ["ann_q5s7txyzacdf2gik4mnprvwb"] }),
    event: z.string().meta({ examples: ["submit"] }),
    createdAt: timestamp,
  })
  .meta({ id: "AnnotationRecord", description: "An annotation with every field that was submitted." });

export const deliveryRecordSchema = z
  .object({
    id: z.string().meta({
      description: "The value of `X-Service-Delivery`.",
      examples: ["whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53"],
    }),
    event: z.enum(CALLBACK_EVENTS),
    runId,
    state: z.enum(DELIVERY_STATES).meta({ examples: ["delivered"] }),
    attempts: z.array(
      z.object({
        at: timestamp,
        status: z
          .int()
          .nullable()
          .meta({ description: "HTTP status; null where none came.", examples: [200] }),
        latencyMs: z.number().meta({ examples: [12] }),
        error: z
          .string()
          .nullable()
          .meta({ description: "Null when it was accepted.", examples: [null] }),
        cycle: z.int().meta({ description: "Rises with every redeliver.", examples: [1] }),
        excerpt: z
          .string()
          .nullable()
          .meta({ description: "The beginning of the receiver's answer, as plain text.", examples: ["ok"] }),
      }),
    ),
    nextAttemptAt: z
      .string()
      .nullable()
      .meta({ description: "ISO 8601, UTC.", examples: [null] }),
  })
  .meta({ id: "DeliveryRecord", description: "One callback, with its attempts." });

const queuedMessageSchema = z
  .object({
    requestId,
    mode: z.enum(FOLLOW_UP_MODES).meta({
      description:
        "`steer` is read by the turn at work, between two of its steps; the others have a turn of their own.",
    }),
    text: z.string().meta({ examples: ["Which of these are required?"] }),
    author: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    createdAt: timestamp,
  })
  .meta({ id: "QueuedMessage" });

export const queueSchema = z
  .object({ success, data: z.array(queuedMessageSchema), nextCursor: z.null() })
  .meta({ id: "Queue" });

const check = z
  .object({ ok: z.boolean(), detail: z.string().meta({ examples: ["embedded Postgres"] }) })
  .meta({ id: "ReadinessCheck" });
export const healthSchema = z.object({ ok: z.literal(true) }).meta({ id: "Health" });
export const readySchema = z
  .object({
    ok: z.boolean(),
    checks: z.object({ database: check, engine: check, browser: check, sandbox: check, model: check }),
  })
  .meta({ id: "Readiness" });
