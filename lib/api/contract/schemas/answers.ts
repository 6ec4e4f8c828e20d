import { z } from "zod";
import {
  BROWSER_STATUSES,
  CALLBACK_EVENTS,
  DELIVERY_STATES,
  ELICITATION_STATES,
  FOLLOW_UP_MODES,
  SESSION_STATES,
  STARTUP_STATUSES,
} from "#db/schema/unions.ts";
import {
  deliverableSchema,
  landingPageSchema,
  outcomeSchema,
  questionFields,
  reportSummarySchema,
  variantSummarySchema,
  waitingOnSchema,
} from "#lib/events/event-schemas.ts";
import { answerSchema } from "#lib/events/form-schema.ts";
import {
  count,
  pageUrl,
  requestId,
  runId,
  sessionId,
  shareUrl,
  source,
  timestamp,
} from "#lib/events/wire-values.ts";
import { budgetStateSchema } from "./budget.ts";

const success = z.literal(true);
const turnState = z.enum(["idle", "running", "compacting"]).meta({
  id: "TurnState",
  description:
    "`running` from the moment a request is accepted until no request is open. A request is open until its last run, including automatic retries, has ended. `compacting` while the running turn shortens the agent's context. Otherwise `idle`.",
});
/** The status of a request. Source: specification, Request status. */
export const requestStatusSchema = z
  .object({
    success,
    sessionId,
    requestId,
    runId: runId.describe("Id of the request's newest run. Each retry is a new run."),
    status: z.enum(["pending", "running", "completed"]).meta({
      description:
        "`pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows.",
    }),
  })
  .meta({ id: "RequestStatus" });

/** The status of a session's agent. Source: specification, Agent status; `wire.md`, Agent status. */
export const agentStatusSchema = z
  .object({
    turnState,
    waitingOn: waitingOnSchema
      .nullable()
      .meta({ description: "What the running turn waits for. Null if it does not wait.", examples: [null] }),
    activeRunId: runId.describe("Id of the run in progress. Null if no run is in progress.").nullable(),
    lastRunId: runId
      .describe("Id of the newest run that has started. Null before the first run starts.")
      .nullable(),
    deliverable: deliverableSchema.nullable().meta({
      description:
        "Result of the newest run. It is final when `turnState` is not `running`, the result's `runId` equals `lastRunId` and the result's `status` is not `pending`. Null in a session without an `outputSchema`, and before the first run starts.",
    }),
    delegation: z.object({ maxLiveChildren: count, maxLiveBrowsers: count }).meta({
      description:
        "The limits on live sub-agents that apply now: those of the session, or the deployment's if they are lower.",
      examples: [{ maxLiveChildren: 4, maxLiveBrowsers: 4 }],
    }),
    startupStatus: z.enum(STARTUP_STATUSES).meta({
      description: "State of the session's workspace. `uninitialized` until it starts for the first time.",
    }),
    lastRun: z
      .object({
        outcome: outcomeSchema,
        error: z
          .string()
          .nullable()
          .meta({ description: "Why the run failed. Null unless `outcome` is `errored`.", examples: [null] }),
      })
      .nullable()
      .meta({
        description:
          "Outcome of the newest run, whose id is `lastRunId`. Null before the first run starts and while the newest run is in progress.",
      }),
    queued: count.meta({ description: "Number of queued messages.", examples: [0] }),
    budget: budgetStateSchema.nullable().meta({
      description:
        "Budget of the session. Null if it has none. In a session with sub-agents, `spent` may be up to 15 s old.",
      examples: [null],
    }),
    variants: z.array(variantSummarySchema).meta({
      description:
        "Variants of the session's pages. Empty for a sub-agent: variants belong to its root session.",
    }),
    reports: z.array(reportSummarySchema).meta({
      description: "The newest version of each QA report of the session. Empty for a sub-agent.",
    }),
    pages: z
      .array(landingPageSchema)
      .meta({ description: "Landing pages that the session deployed. Empty for a sub-agent." }),
  })
  .meta({ id: "AgentStatus" });

/** The status of a session's browser. Source: specification, Browser status; `wire.md`, Browser. */
export const browserStatusSchema = z
  .object({
    status: z.enum(BROWSER_STATUSES).meta({
      description:
        "`idle`: the session has not used a browser yet. `creating`: a browser starts, or the session waits for one. `ready`: the browser runs. `expired`: the browser was closed, for example because it was idle. `error`: the browser could not start or crashed. After `expired` and `error`, the next use starts a browser again.",
      examples: ["ready"],
    }),
    sessionId: sessionId
      .nullable()
      .describe(
        "Id of the session that the browser belongs to. For a sub-agent that shares its parent's browser, the id of the parent. It is set even if the session has not used a browser yet; null only if the session is removed while its status is read.",
      ),
    liveViewUrl: z
      .string()
      .nullable()
      .meta({
        description:
          "Absolute URL of a read-only page with only the live view. Anyone with the link can open it. Null unless `status` is `ready`. Revoking all share links replaces it.",
        examples: [
          "https://agents.example.com/s/ses_xdbqydi2z2jnnberubbghcrn/live?key=JdGm7kq0-bTqk2wVYv3cE8rN1xLh5uPa",
        ],
      }),
    desiredUrl: pageUrl("The page that the session currently targets. Null if it targets none.").nullable(),
    lastNavigatedUrl: pageUrl(
      "The last page that the browser reached; null if it has reached none yet. After a successful retarget, this is the requested URL, even if that URL redirects. So a client can poll until this field equals the requested URL. When a retarget or a browser start begins to load the URL that is already in this field, the field is set to null until the browser has reached the page again.",
    ).nullable(),
    currentUrl: pageUrl(
      "The address that the browser currently shows, after redirects. Null if it has not shown a page yet.",
    ).nullable(),
    lastError: z
      .string()
      .nullable()
      .meta({
        description:
          "Why the last navigation was refused, or why the browser could not start. Null again once the browser reaches a page.",
        examples: [null],
      }),
  })
  .meta({ id: "BrowserStatus" });

export const retargetAcceptedSchema = z
  .object({
    accepted: z.literal(true),
    url: pageUrl("The requested URL."),
    statusUrl: z.string().meta({
      description: "Path to poll for the browser's status.",
      examples: ["/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/browser"],
    }),
  })
  .meta({
    id: "RetargetAccepted",
    description:
      "The retarget was accepted, but the navigation is not complete yet. Poll the browser's status.",
  });

export const annotationAcceptedSchema = z.object({ ok: z.literal(true) }).meta({ id: "AnnotationAccepted" });

export const stoppedSchema = z
  .object({
    success,
    sessionId,
    runId: runId.describe("Id of the run that is being stopped, or null if no turn was running.").nullable(),
  })
  .meta({ id: "TurnStopped" });

export const settledSchema = z.object({ success }).meta({ id: "Settled" });

/** Schema of one page of a list: `{ success, data, nextCursor }`. Source: `wire.md`, Also served. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .object({
      success,
      data: z.array(item),
      nextCursor: z
        .string()
        .nullable()
        .meta({
          description: "Pass it as `cursor` to get the next page. Null on the last page.",
          examples: [null],
        }),
    })
    .meta({ id: `${z.globalRegistry.get(item)?.id ?? "Item"}Page` });

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

export const deliveryRecordSchema = z
  .object({
    id: z.string().meta({
      description: "The delivery's id, sent as `X-Service-Delivery`.",
      examples: ["whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53"],
    }),
    event: z.enum(CALLBACK_EVENTS),
    runId,
    state: z.enum(DELIVERY_STATES).meta({
      description:
        "`pending`: the next attempt has yet to start. `sending`: an attempt is in progress or waits because of the rate limit for its host. `held`: callbacks to the host are disabled; the delivery is sent when the host accepts callbacks again, within 7 days. `delivered`: the receiver accepted the delivery. `dropped`: all attempts failed, or the delivery was held for 7 days.",
      examples: ["delivered"],
    }),
    attempts: z.array(
      z.object({
        at: timestamp,
        status: z
          .int()
          .nullable()
          .meta({
            description: "HTTP status of the response. Null if there was no response.",
            examples: [200],
          }),
        latencyMs: z
          .number()
          .meta({ description: "Duration of the attempt in milliseconds.", examples: [12] }),
        error: z
          .string()
          .nullable()
          .meta({ description: "Why the attempt failed. Null if it succeeded.", examples: [null] }),
        cycle: z.int().meta({
          description:
            "Number of the cycle that the attempt belongs to, starting at 1. Each redelivery starts a new cycle of up to five attempts.",
          examples: [1],
        }),
        excerpt: z
          .string()
          .nullable()
          .meta({
            description: "Start of the response body, as plain text. Null if there is none.",
            examples: ["ok"],
          }),
      }),
    ),
    nextAttemptAt: z
      .string()
      .nullable()
      .meta({
        description: "Time of the next attempt. ISO 8601, UTC. Null if none is scheduled.",
        examples: [null],
      }),
  })
  .meta({ id: "DeliveryRecord", description: "A callback delivery with its attempts." });

const queuedMessageSchema = z
  .object({
    requestId,
    mode: z.enum(FOLLOW_UP_MODES).meta({
      description:
        "`steer`: the running turn will read the message between two of its steps. `queue` and `interrupt`: the message will start its own turn. A message that was sent with `steer` but starts its own turn is listed as `queue`.",
    }),
    text: z.string().meta({ examples: ["Which of these are required?"] }),
    author: z
      .string()
      .nullable()
      .meta({
        description: "The `userId` that the caller sent with the message. Null if there was none.",
        examples: [null],
      }),
    createdAt: timestamp,
  })
  .meta({ id: "QueuedMessage" });

export const queueSchema = z
  .object({ success, data: z.array(queuedMessageSchema), nextCursor: z.null() })
  .meta({ id: "Queue" });

/** A question that the agent asks the people on the session page. */
export const elicitationRecordSchema = z
  .object({
    elicitationId: z.string().meta({ examples: ["eli_b4wq2nxzkt7mpycr5hvjd3sa"] }),
    runId,
    toolCallId: z
      .string()
      .meta({ description: "Id of the tool call that asked the question.", examples: ["call_h3k7pq"] }),
    ...questionFields,
    state: z.enum(ELICITATION_STATES).meta({
      description:
        "`open`: the question waits for an answer. `declined`: a person declined to answer. `unanswered`: no one answered in time. `withdrawn`: a message or a stop of the turn ended the question.",
    }),
    answer: answerSchema
      .nullable()
      .meta({ description: "The answer. Null unless `state` is `answered`.", examples: [null] }),
    createdAt: timestamp,
    resolvedAt: timestamp
      .nullable()
      .describe("When the question was closed. ISO 8601, UTC. Null while it is open."),
  })
  .meta({ id: "Elicitation", description: "A question that the agent asked." });

const check = z
  .object({ ok: z.boolean(), detail: z.string().meta({ examples: ["embedded Postgres"] }) })
  .meta({ id: "ReadinessCheck" });
export const healthSchema = z.object({ ok: z.literal(true) }).meta({ id: "Health" });
export const readySchema = z
  .object({
    ok: z.boolean(),
    checks: z
      .object({ database: check, engine: check, browser: check, sandbox: check, model: check })
      .optional()
      .meta({
        description:
          "State of each part. Present only for callers with a valid API key and, if the service's `BASE_URL` is a loopback address, for processes on the same machine.",
      }),
  })
  .meta({ id: "Readiness" });
