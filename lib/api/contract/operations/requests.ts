import { z } from "zod";
import { STARTUP_STATUSES } from "#db/schema/unions.ts";
import { deliverableSchema, outcomeSchema, waitingOnSchema } from "#lib/events/event-schemas.ts";
import { outcomeStatusFields } from "#lib/events/outcome-schemas.ts";
import { count, requestId, runId, sessionId } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { success, turnState } from "../schemas/answers.ts";
import { budgetStateSchema } from "../schemas/budget.ts";
import { deploymentFields, runningHostSchema } from "../schemas/deployment.ts";
import { streamHeadersSchema, streamQuerySchema } from "../schemas/queries.ts";

/** The status of a request. Source: specification, Request status. */
const requestStatusSchema = z
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
const agentStatusSchema = z
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
    browserHost: runningHostSchema.nullable().meta({
      description:
        "The host of the browser that the session uses, which may be its parent's. Null if no browser of the session runs or starts.",
      examples: [null],
    }),
    ...deploymentFields,
    ...outcomeStatusFields,
  })
  .meta({ id: "AgentStatus" });

export const requestOperations = {
  readRequestStatus: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/requests/:requestId",
    summary: "Read a request's status",
    description:
      "`pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows. Read the outcome from the `run.completed` event, the callback or the agent's status.",
    auth: KEY_AUTH,
    sessionCheck: "handler",
    rate: "poll",
    answers: { 200: requestStatusSchema },
  }),
  streamRequest: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/requests/:requestId/stream",
    summary: "Follow a request's events",
    description:
      "Streams the request's events as Server-Sent Events. Each stored event has its `seq` as `id`, its `kind` as `event` and the whole event as JSON in `data`. A replay is identical byte for byte. `message.delta` is only sent live, is not stored and has no `id`. The stream covers all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; if the request is completed and no events are left, the response is 204, so that an `EventSource` stops reconnecting. A heartbeat comment is sent every 15 s.",
    auth: KEY_AUTH,
    sessionCheck: "handler",
    rate: "poll",
    query: streamQuerySchema,
    headers: streamHeadersSchema,
    answers: { 200: "stream", 204: "stream" },
    media: { 200: ["text/event-stream"] },
    answerHeaders: { 200: ["Cache-Control"] },
  }),
  readAgentStatus: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/agent/status",
    summary: "Read the agent's status",
    description:
      "Returns what the agent is doing and the results of the session. To get the deliverable of a structured session, poll this operation, or call it once after `run.completed`.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: agentStatusSchema },
  }),
} as const satisfies Record<string, Operation>;
