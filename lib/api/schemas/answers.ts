import { z } from "zod";
import {
  BROWSER_STATUSES,
  DELIVERY_STATES,
  FOLLOW_UP_MODES,
  MESSAGE_ROLES,
  SOURCES,
  STARTUP_STATUSES,
} from "#db/schema/unions.ts";

const success = z.literal(true);
const turnState = z.enum(["idle", "running", "compacting"]);
const outcome = z.enum(["succeeded", "errored", "cancelled"]);

/** Source: specification, Request status. */
export const requestStatusSchema = z.object({
  success,
  sessionId: z.string(),
  requestId: z.string(),
  runId: z.string(),
  status: z.enum(["pending", "running", "completed"]),
});

/** Source: specification, Deliverable. */
export const deliverableSchema = z.discriminatedUnion("status", [
  z.object({ runId: z.string(), status: z.literal("pending") }),
  z.object({ runId: z.string(), status: z.literal("ready"), value: z.json() }),
  z.object({
    runId: z.string(),
    status: z.literal("failed"),
    error: z.string(),
    rawText: z.string().optional(),
  }),
]);

/** Source: specification, Agent status; `wire.md`, Agent status. */
export const agentStatusSchema = z.object({
  turnState,
  activeRunId: z.string().nullable(),
  lastRunId: z.string().nullable(),
  deliverable: deliverableSchema.nullable(),
  delegation: z.object({ maxLiveChildren: z.number(), maxLiveBrowsers: z.number() }),
  startupStatus: z.enum(STARTUP_STATUSES),
  lastRun: z.object({ outcome, error: z.string().nullable() }).nullable(),
  queued: z.number(),
});

/** Source: specification, Browser status; `currentUrl`: `wire.md`. */
export const browserStatusSchema = z.object({
  status: z.enum(BROWSER_STATUSES),
  sessionId: z.string().nullable(),
  liveViewUrl: z.string().nullable(),
  desiredUrl: z.string().nullable(),
  lastNavigatedUrl: z.string().nullable(),
  currentUrl: z.string().nullable(),
  lastError: z.string().nullable(),
});

export const retargetAcceptedSchema = z.object({
  accepted: z.literal(true),
  url: z.string(),
  statusUrl: z.string(),
});

export const annotationAcceptedSchema = z.object({ ok: z.literal(true) });

export const stoppedSchema = z.object({ success, sessionId: z.string(), runId: z.string().nullable() });

export const settledSchema = z.object({ success });

/** A list page: `{ success, data, nextCursor }`. Source: `wire.md`, Also served. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ success, data: z.array(item), nextCursor: z.string().nullable() });

export const messageRecordSchema = z.object({
  id: z.string(),
  seq: z.number(),
  role: z.enum(MESSAGE_ROLES),
  parts: z.array(z.looseObject({ type: z.string() })),
  requestId: z.string().nullable(),
  runId: z.string().nullable(),
  author: z.string().nullable(),
  createdAt: z.string(),
});

export const sessionSummarySchema = z.object({
  id: z.string(),
  title: z.string(),
  targetUrl: z.string().nullable(),
  source: z.enum(SOURCES),
  isStructured: z.boolean(),
  turnState,
  lastOutcome: outcome.nullable(),
  createdAt: z.string(),
  shareUrl: z.string(),
});

export const annotationRecordSchema = z.looseObject({
  id: z.string(),
  event: z.string(),
  createdAt: z.string(),
});

export const deliveryRecordSchema = z.object({
  id: z.string(),
  event: z.string(),
  runId: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.array(
    z.object({
      at: z.string(),
      status: z.number().nullable(),
      latencyMs: z.number(),
      error: z.string().nullable(),
    }),
  ),
  nextAttemptAt: z.string().nullable(),
});

export const queuedMessageSchema = z.object({
  requestId: z.string(),
  /** `steer` is read by the turn at work, between two of its steps; the others have a turn of their own. */
  mode: z.enum(FOLLOW_UP_MODES),
  text: z.string(),
  author: z.string().nullable(),
  createdAt: z.string(),
});

export const queueSchema = z.object({ success, data: z.array(queuedMessageSchema), nextCursor: z.null() });

const check = z.object({ ok: z.boolean(), detail: z.string() });
export const healthSchema = z.object({ ok: z.literal(true) });
export const readySchema = z.object({
  ok: z.boolean(),
  checks: z.object({ database: check, engine: check, browser: check, sandbox: check, model: check }),
});
