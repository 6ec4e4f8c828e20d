import { z } from "zod";
import type { MessagePart } from "#db/schema/index.ts";
import {
  AGENT_BROWSERS,
  AGENT_OUTCOMES,
  ANNOTATION_STATUSES,
  BROWSER_STATUSES,
  CALL_REFUSALS,
  EVIDENCE_KINDS,
  IMPORT_FORMATS,
  MESSAGE_ROLES,
  PLAN_AUTHORS,
  RUN_ORIGINS,
  TURN_STOPPERS,
  VARIANT_AUTHORS,
  WAIT_ENDS,
  WAIT_KINDS,
} from "#db/schema/unions.ts";
import { answerSchema, formSchema } from "./form-schema.ts";
import { resumedItemSchema, waitingItemSchema } from "./item-schemas.ts";
import {
  landingPageSchema,
  outcomeEventFields,
  publicationSchema,
  reportSummarySchema,
  variantSummarySchema,
} from "./outcome-schemas.ts";
import { PAGE_ACTIONS_MAX, pageActionSchema } from "./page-action-schema.ts";
import { planSchema, requirementSchema } from "./planning-schemas.ts";
import { testCountsSchema, testRunId, testRunSchema } from "./test-run-schemas.ts";
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
} from "./wire-values.ts";

/** Name of a person who has or had control of the browser. */
const controlName = z.string().meta({ examples: ["Ada"] });

export const outcomeSchema = z.enum(["succeeded", "errored", "cancelled"]).meta({
  id: "RunOutcome",
  description:
    "Outcome of a run. `errored`: the run failed. `cancelled`: the run was stopped, or its message was removed from the queue before it started.",
});

/** The typed result of a run. Source: specification, Deliverable. */
export const deliverableSchema = z
  .discriminatedUnion("status", [
    z.object({ runId, status: z.literal("pending") }).meta({ id: "PendingDeliverable" }),
    z
      .object({
        runId,
        status: z.literal("ready"),
        value: jsonValue.meta({
          description: "The result. It is valid against the caller's `outputSchema`.",
          examples: [{ title: "Checkout · Harbour Paper Co.", fields: [{ name: "Email", required: true }] }],
        }),
      })
      .meta({ id: "ReadyDeliverable" }),
    z
      .object({
        runId,
        status: z.literal("failed"),
        error: z.string().meta({
          description: "The provider's message, or why there is no valid result.",
          examples: ["the model's answer was cut off"],
        }),
        rawText: z
          .string()
          .meta({ description: "The model's raw output. Absent if there is none." })
          .optional(),
        violations: z
          .array(
            z.object({
              path: z.string().meta({
                description:
                  "JSON Pointer to the invalid value in the result, in the structure that `outputSchema` describes. Empty for the whole result.",
                examples: ["/items/0/name"],
              }),
              message: z.string().meta({ examples: ["must NOT have more than 10 characters"] }),
              rawPath: z
                .string()
                .meta({
                  description:
                    "JSON Pointer to the same value in `rawText`, whose structure can differ. Absent if `rawText` does not contain the value.",
                })
                .optional(),
            }),
          )
          .meta({
            description:
              "The violations of `outputSchema`. Absent if `rawText` could not be compared with the schema, for example because it is not JSON.",
          })
          .optional(),
      })
      .meta({ id: "FailedDeliverable" }),
  ])
  .meta({
    id: "Deliverable",
    description: "Typed result of a run in a structured session, that is, a session with an `outputSchema`.",
  });

/** A part of a message. The schema requires only `type`, so that it also accepts the part types of later versions. */
const messagePartSchema = z.looseObject({ type: z.string() }).meta({
  id: "MessagePart",
  description:
    "A part of a message. `type` determines its fields: `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`; `attachment` is a file of the workspace that was attached to the message and has its `path`, `mediaType` and `sizeBytes` at that time, and `evidenceId`, the evidence with the picture as it was attached, or null; `annotation` is an annotation of the page that was sent with the message and has its `annotationId`, a `text` with its elements and comments, and `evidenceId`, the evidence with a picture of the page there, if there is one. Ignore unknown types.",
  examples: [{ type: "text", text: "The checkout asks for an email address." }],
}) as unknown as z.ZodType<MessagePart>;

export const messageRecordSchema = z
  .object({
    id: messageId,
    seq: count.meta({ description: "Position in the transcript, starting at 1.", examples: [2] }),
    role: z.enum(MESSAGE_ROLES).meta({ examples: ["assistant"] }),
    parts: z.array(messagePartSchema),
    requestId: requestId.nullable(),
    runId: runId.nullable(),
    author: z
      .string()
      .nullable()
      .meta({
        description:
          "The `userId` that the caller sent with the message. Null if there was none, and for messages of the agent.",
        examples: [null],
      }),
    createdAt: timestamp,
  })
  .meta({ id: "MessageRecord", description: "A message of the transcript." });

const annotationId = z.string().meta({ examples: ["ann_q5s7txyzacdf2gik4mnprvwb"] });
const annotationState = {
  status: z.enum(ANNOTATION_STATUSES).meta({
    description:
      "`sent`: a message to the agent contains the annotation. `lost`: none of its elements was on its page when the service looked for them; when one is back, the annotation is `open` again.",
  }),
  resolution: z
    .string()
    .nullable()
    .meta({
      description: "What was done about the annotation. Null unless it is resolved, or if no text was given.",
      examples: [null],
    }),
  resolvedBy: z
    .enum(PLAN_AUTHORS)
    .nullable()
    .meta({
      description: "`person` is also a program with an API key. Null unless the annotation is resolved.",
      examples: [null],
    }),
  sentRequestId: requestId.nullable().meta({
    description: "The request with whose message the annotation was last sent. Null if it was not sent.",
  }),
};

export const annotationRecordSchema = z
  .looseObject({
    id: annotationId,
    event: z.string().meta({ examples: ["submit"] }),
    createdAt: timestamp,
    ...annotationState,
  })
  .meta({
    id: "AnnotationRecord",
    description:
      "A submission of annotations, with every field that was sent. Fields of the service replace sent ones of the same name.",
  });

const callId = z.string().meta({ description: "Id of the tool call.", examples: ["call_h3k7pq"] });
const toolName = z.string().meta({ examples: ["dom_query"] });
const durationMs = z.number().meta({ description: "Duration in milliseconds.", examples: [2867] });
const deliverable = { deliverable: deliverableSchema };
const elicitationId = z.string().meta({ examples: ["eli_b4wq2nxzkt7mpycr5hvjd3sa"] });

export const evidenceSchema = z
  .object({
    id: z.string().meta({ examples: ["evi_t6ywq3ekc2bzmr5x7nahvpdj"] }),
    kind: z.enum(EVIDENCE_KINDS),
    title: z.string().meta({ examples: ["The checkout form"] }),
    url: pageUrl("Page that the evidence was captured on. Null if it was not captured on a page.").nullable(),
    mediaType: z.string().meta({ examples: ["image/png"] }),
  })
  .meta({
    id: "EvidencePointer",
    description:
      "Evidence that a tool stored. Download it with `GET /api/sessions/:sessionId/artifacts/:artifactId`, with its `id` as `artifactId`.",
  });

const usageFields = {
  inputTokens: count.meta({ examples: [13155] }),
  outputTokens: count.meta({ examples: [950] }),
  reasoningTokens: count,
  cachedInputTokens: count,
  modelCalls: count.meta({ examples: [7] }),
  toolCalls: count.meta({ examples: [7] }),
  durationMs,
};

/** The total usage of one or more runs. Unlike the usage of a single run, it has no separate total for sub-agents. */
export const usageSumSchema = z
  .object(usageFields)
  .meta({ id: "UsageSum", description: "Total resource usage of one or more runs." });

const usageSchema = z
  .object({
    ...usageFields,
    delegated: usageSumSchema.optional().meta({
      description:
        "Usage of the sub-agents below the session, at every depth, as far as no earlier run of the session has reported it. Absent if there is none.",
    }),
  })
  .meta({ id: "Usage", description: "Resource usage of a run." });

const agentId = sessionId.meta({
  description: "Id of the sub-agent, which is also the id of its session.",
  examples: ["ses_c3hq7wzkx2mtnpyr5vbjd4sa"],
});
const agentName = z
  .string()
  .meta({ description: "Name of the sub-agent, unique in its tree.", examples: ["cart-page"] });

/** What a turn waits for. Source: `wire.md`, Turns that wait. */
export const waitingOnSchema = z
  .object({
    kind: z.enum(WAIT_KINDS).meta({
      description:
        "`person`: an answer to a question. `control`: a person has control of the browser. `agents`: sub-agents. `tests`: test results. `budget`: a budget is used up.",
    }),
    ids: z.array(z.string()).meta({
      description: "Ids of the open questions, sub-agents or test runs. Empty for `control` and `budget`.",
      examples: [["eli_b4wq2nxzkt7mpycr5hvjd3sa"]],
    }),
    since: timestamp,
    until: timestamp
      .nullable()
      .describe(
        "When the wait ends if there is no answer or result by then. Null if there is no such deadline.",
      ),
    reason: z
      .string()
      .optional()
      .meta({
        description:
          "For `budget`: which budget is used up, and when the turn continues. Absent for the other kinds.",
        examples: [
          "The session's budget of 20,000 tokens is used up (20,412 spent). The turn continues when the budget is raised.",
        ],
      }),
  })
  .meta({ id: "WaitingOn", description: "What a turn waits for before it continues." });

/** A picture of a page, taken for people to look at. Source: `wire.md`, Variants. */
export const previewSchema = z
  .object({
    title: z.string().meta({ examples: ["Checkout with the new button"] }),
    url: pageUrl("Page that the picture shows."),
    viewport: z.object({
      name: z.enum(["desktop", "tablet", "phone"]).nullable(),
      width: z.int(),
      height: z.int(),
    }),
    variant: z
      .string()
      .nullable()
      .meta({
        description: "Key of the variant. Null if the picture shows the page without a variant.",
        examples: ["main"],
      }),
    revision: z
      .int()
      .nullable()
      .meta({
        description:
          "Revision of the variant that the picture shows. Null if the picture shows no variant, and if there is no picture.",
        examples: [3],
      }),
    caption: z.string().nullable(),
    evidence: evidenceSchema.nullable().meta({ description: "The picture. Null if it could not be taken." }),
    error: z
      .string()
      .nullable()
      .meta({
        description: "Why the picture could not be taken. Null if there is a picture.",
        examples: [null],
      }),
    takenAt: timestamp
      .nullable()
      .describe("When the picture was taken. ISO 8601, UTC. Null if there is no picture."),
  })
  .meta({
    id: "Preview",
    description: "A picture of a page, with or without a variant, that the agent shows to people.",
  });

/** A document that was imported into the session. Source: `wire.md`, Export and import of a session. */
export const importSummarySchema = z
  .object({
    id: z.string().meta({ examples: ["imp_d5hwq2nxzkt7mpycr4vjb3sa"] }),
    format: z.enum(IMPORT_FORMATS).meta({
      description:
        "`agent-session`: the JSON export of a session. `agent-session-variant`: the JSON export of a variant. `growthbook`, `posthog`: a document of that tool.",
    }),
    documentId: z.string().meta({
      description:
        "Id of the document, or its hash if it has no id. A session imports the same document only once.",
      examples: ["ses_xdbqydi2z2jnnberubbghcrn@57"],
    }),
    title: z
      .string()
      .nullable()
      .meta({
        description: "Title of the exported session. Null for other documents.",
        examples: ["Change the checkout"],
      }),
    sourceSessionId: z
      .string()
      .nullable()
      .meta({
        description: "Id of the exported session. Null for other documents.",
        examples: ["ses_xdbqydi2z2jnnberubbghcrn"],
      }),
    exportedAt: timestamp
      .nullable()
      .describe("When the session was exported. ISO 8601, UTC. Null for other documents."),
    author: z.enum(VARIANT_AUTHORS).meta({ description: "Who imported the document." }),
    variants: z.array(z.object({ from: z.string(), key: z.string(), revision: z.int().min(1) })).meta({
      description: "Variants that the import created. `from` is the key of the variant in the document.",
      examples: [[{ from: "main", key: "main-2", revision: 1 }]],
    }),
    messageCount: count.meta({ description: "Number of messages in the imported conversation." }),
    planItemCount: count.meta({
      description:
        "Number of plan items that the import added to the session's plan. 0 if the session already had plan items, and if the agent imported the document.",
    }),
    requirementCount: count.meta({ description: "Number of requirements that the import added." }),
    leftOutCount: count.meta({ description: "Number of parts of the document that were left out." }),
    createdAt: timestamp,
  })
  .meta({ id: "ImportSummary", description: "A document that was imported into the session." });

/** The fields that the question event and the list of questions share. */
export const questionFields = {
  question: z.string().meta({ examples: ["Which currency?"] }),
  options: z
    .array(z.string())
    .nullable()
    .meta({
      description: "Suggested answers. Any other text is accepted too. Null if there are none.",
      examples: [["EUR", "USD"]],
    }),
  form: formSchema.nullable().meta({
    description: "The fields to fill in. Null for a question that is answered with a text.",
    examples: [null],
  }),
  expiresAt: timestamp.describe(
    "When the question is closed if it has not been answered or declined. ISO 8601, UTC.",
  ),
};

/**
 * Defines the schema of an event: the fields of every event, then the fields of its kind. Source: `wire.md`, Stream.
 */
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
        .meta({
          description: "Sequence number of the event in its session. The numbers have no gaps.",
          examples: [30],
        }),
      timestamp,
      sessionId,
      requestId: requestId
        .nullable()
        .describe(
          "Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person.",
        ),
      runId: runId
        .nullable()
        .describe(
          "Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run.",
        ),
      source,
      ...fields,
    })
    .meta({ id: nameEvent(kind), description });

/** Names the schema of an event: `run.completed` becomes `RunCompletedEvent`. */
export const nameEvent = (kind: string): string =>
  `${kind.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const MESSAGE_COMPLETED =
  "A complete message of the transcript. When the turn's deliverable is added to a message as a `data-deliverable` part, the message is published again with the same `id`: keep the last one.";

/** Fields of a browser that `browser.status` events and the answer `BrowserStatus` have in common. */
export const shownBrowserFields = {
  desiredUrl: pageUrl("The page that the session currently targets. Null if it targets none.").nullable(),
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
  restartNotice: z
    .string()
    .optional()
    .meta({
      description:
        "What happened when the running browser was started in a session that had one already: whether logins were restored. Absent for the session's first browser, and while none runs.",
      examples: ["The browser was restarted: logins were restored. What was typed into forms is lost."],
    }),
};

/** The schema of every kind of stored event, as clients receive it. Source: `wire.md`, Stream. */
export const eventSchemas = {
  "run.started": define("run.started", "A run started.", {
    attempt: z
      .int()
      .min(1)
      .meta({ description: "Number of this run among the runs of the request, starting at 1." }),
    origin: z.enum(RUN_ORIGINS).meta({
      description:
        "What started the run. `person`: a person on the session page or the landing page. `external`: a request with an API key. `retry`: the automatic retry of a failed run. `subagent`: the run belongs to a sub-agent. `continuation`: the service itself.",
      examples: ["external"],
    }),
  }),
  "message.completed": define("message.completed", MESSAGE_COMPLETED, {
    message: messageRecordSchema,
  }),
  "tool.call": define("tool.call", "A tool call started.", {
    messageId: messageId
      .describe(
        "Id of the message that contains the call. Null for calls that an external agent makes through the MCP server.",
      )
      .nullable(),
    toolCallId: callId,
    toolName,
    input: jsonValue,
  }),
  "tool.result": define("tool.result", "A tool call ended.", {
    toolCallId: callId,
    toolName,
    state: z.enum(["succeeded", "failed", "unknown", "interrupted"]).meta({
      description:
        "`unknown`: the service was interrupted during the call, and does not repeat it because it may have had an effect. `interrupted`: a person took control of the browser while the call ran.",
    }),
    interruptedBy: z
      .string()
      .optional()
      .meta({
        description: "Name of the person who interrupted the call. Only with the state `interrupted`.",
        examples: ["Ada"],
      }),
    refusal: z.enum(CALL_REFUSALS).optional().meta({
      description:
        "Why a `failed` call was not run. `plan_first`: a person has to agree to the plan first. `not_approved`: the call needs a person's approval, and has none. Absent for a call that was run.",
    }),
    stopped: z.boolean().optional().meta({
      description: "True if the turn was stopped during the call; absent otherwise.",
    }),
    actions: z
      .array(pageActionSchema)
      .optional()
      .meta({
        description: `What the call did to the live page, at most ${PAGE_ACTIONS_MAX} actions. Absent for calls that report none.`,
      }),
    resultId: z.string().meta({ examples: ["res_y7d4kqwz2hnxm5tcrp3vbjsa"] }),
    preview: z.string().meta({ description: "Start of the result, at most 2,000 characters." }),
    evidence: z.array(evidenceSchema),
    durationMs,
  }),
  "mcp.skipped": define("mcp.skipped", "Tools of an MCP server are unavailable in this turn.", {
    serverId: z.string().meta({ examples: ["crm"] }),
    reason: z.string().meta({ examples: ["the server did not list its tools within 15 s"] }),
    tools: z.array(z.string()).optional().meta({
      description: "Names of the unavailable tools, at most 20. Absent if the whole server is unavailable.",
    }),
    toolCount: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "Number of unavailable tools. Absent if the whole server is unavailable." }),
  }),
  "turn.compacting": define(
    "turn.compacting",
    "Compaction started: the service shortens the agent's context, because it is close to the limit of `budgetTokens` tokens.",
    {
      tokens: count,
      budgetTokens: count,
    },
  ),
  "turn.compacted": define(
    "turn.compacted",
    "Compaction of the agent's context ended. `how` is `offloaded` if old tool results and pictures were replaced by short lines, and `summarized` if older messages were replaced by a summary.",
    {
      how: z.enum(["offloaded", "summarized"]),
      tokensBefore: count,
      tokensAfter: count,
      messagesReplaced: count,
    },
  ),
  "turn.steered": define("turn.steered", "The running turn read `steer` messages between two of its steps.", {
    steerRequestId: requestId,
    messageIds: z.array(messageId),
  }),
  "turn.waiting": define(
    "turn.waiting",
    "The turn started to wait for what `waitingOn` describes. No process executes the turn until it continues.",
    { waitingOn: waitingOnSchema },
  ),
  "turn.resumed": define("turn.resumed", "The turn continues after a wait.", {
    reason: z.enum(WAIT_ENDS).meta({
      description:
        "`settled`: the turn got what it waited for. `deadline`: the deadline of the wait passed. `message`: a `steer` message ended the wait. `stopped`: the turn was stopped.",
    }),
  }),
  "run.waiting": define(
    "run.waiting",
    "The run was parked and waits for a person: for an item of the inbox. Stored once for each item.",
    { item: waitingItemSchema },
  ),
  "run.resumed": define(
    "run.resumed",
    "The run waits no longer for an item that a `run.waiting` has named. Stored once for each item; not stored for an item that is open when the run ends.",
    { item: resumedItemSchema },
  ),
  "turn.stopping": define(
    "turn.stopping",
    "Someone stopped the turn. Its `run.completed` follows, with the outcome `cancelled`.",
    {
      by: z.enum(TURN_STOPPERS).meta({
        description:
          "`person`: a person on the session page. `program`: a request with an API key. `message`: a message with the mode `interrupt`.",
      }),
      name: z
        .string()
        .nullable()
        .meta({
          description: "The label of the person's share link. Null if it has none, and for the others.",
          examples: ["QA team"],
        }),
    },
  ),
  "agent.spawned": define("agent.spawned", "The agent delegated work to a sub-agent.", {
    agentId,
    name: agentName,
    objective: z.string().meta({ examples: ["Read the prices on the cart page."] }),
    browser: z.enum(AGENT_BROWSERS).meta({
      description:
        "`own`: the sub-agent has its own browser. `shared`: it uses the browser of its parent. `none`: it has no browser tools.",
    }),
    depth: z.int().min(1).meta({
      description:
        "Depth in the tree of sub-agents. 1 for a sub-agent whose parent session is not a sub-agent itself.",
    }),
  }),
  "agent.progress": define("agent.progress", "A sub-agent reported its progress.", {
    agentId,
    name: agentName,
    text: z.string().meta({ examples: ["Two of five pages are read."] }),
  }),
  "agent.settled": define("agent.settled", "The turn of a sub-agent ended.", {
    agentId,
    name: agentName,
    status: z.enum(AGENT_OUTCOMES),
    submitted: z.boolean().meta({
      description:
        "Whether the sub-agent submitted `result` itself. If false, `result` is its last text or absent.",
    }),
    result: jsonValue.optional().meta({
      description:
        "The result. If its JSON is longer than 4 KiB, the beginning of that JSON as a string, and `isResultCut` is true. Absent if there is no result.",
    }),
    isResultCut: z.boolean().optional(),
    error: z.string().optional(),
    usage: usageSumSchema.meta({
      description: "Usage of all turns of the sub-agent and of the sub-agents below it.",
    }),
  }),
  "deliverable.pending": define("deliverable.pending", "The run will produce a result.", deliverable),
  "deliverable.ready": define("deliverable.ready", "The result is ready and valid.", deliverable),
  "deliverable.failed": define("deliverable.failed", "The run produced no valid result.", deliverable),
  "deliverable.receipts": define(
    "deliverable.receipts",
    "The service has looked up the values of a run's result in what the session saw. It comes after `run.completed` and belongs to no request and no run, so the stream of a request does not have it.",
    {
      resultRunId: z.string().meta({ description: "The run that made the result." }),
      counts: z
        .object({
          seen: count,
          elsewhere: count,
          derived: count,
          weak: count,
          unseen: count,
          unchecked: count,
        })
        .meta({ description: "Number of values by status." }),
    },
  ),
  "browser.status": define("browser.status", "The state of the live browser changed.", {
    status: z.enum(BROWSER_STATUSES),
    desiredUrl: shownBrowserFields.desiredUrl,
    lastNavigatedUrl: pageUrl(
      "The last page that the browser reached. Follows the same rules as `lastNavigatedUrl` of `BrowserStatus`.",
    ).nullable(),
    currentUrl: shownBrowserFields.currentUrl,
    lastError: shownBrowserFields.lastError,
    restartNotice: shownBrowserFields.restartNotice,
    pictureTakenAt: timestamp
      .nullable()
      .optional()
      .meta({
        description:
          "When the last screenshot of the page was taken. ISO 8601, UTC. Null if there is none. Present only while no browser runs (`expired`, `error`).",
        examples: [null],
      }),
  }),
  "browser.waiting": define(
    "browser.waiting",
    "All browsers that may run are in use, so the session waits for one. The wait ends with a `browser.status` event whose status is not `creating`.",
    {
      position: z
        .int()
        .min(1)
        .meta({ description: "Position in the queue. 1 is next.", examples: [3] }),
    },
  ),
  "control.taken": define("control.taken", "A person took control of the browser.", {
    name: controlName,
    from: controlName.nullable().meta({ description: "Name of the person who had control until then." }),
  }),
  "control.ended": define("control.ended", "A person has control of the browser no longer.", {
    name: controlName,
    reason: z.enum(["given_back", "idle", "away", "taken", "revoked", "host"]).meta({
      description:
        "`given_back`: by the person. `idle`: two minutes without input. `away`: the person's connection ended 30 s ago. `taken`: another person took control. `revoked`: the person may not control the browser any more. `host`: the browser is gone.",
    }),
    takenBy: controlName.nullable(),
    note: z
      .string()
      .nullable()
      .meta({
        description: "The person's note to the agent.",
        examples: ["The code is in the second mail."],
      }),
    address: z.string().nullable().meta({ description: "Address of the page at the end." }),
    fields: z
      .array(z.string())
      .meta({ description: "Names of the fields that the person filled, at most 20, never a value." }),
    clicks: count,
  }),
  "browser.dialog": define(
    "browser.dialog",
    "A dialog of a page was answered. At most 30 per minute are reported.",
    {
      dialogType: z.string().meta({
        description: "`alert`, `confirm`, `prompt` or `beforeunload`.",
        examples: ["confirm"],
      }),
      message: z.string().meta({ examples: ["Delete this address?"] }),
      answer: z.enum(["accepted", "dismissed"]),
      answeredBy: z.enum(["script", "default", "timeout", "person"]).meta({
        description:
          "Who answered. `script`: the agent's script. `default`: the service, because no script listened. `timeout`: the service, because the script that listened did not answer in time. `person`: the person who had control of the browser.",
      }),
    },
  ),
  "browser.download": define(
    "browser.download",
    "A page offered a file for download. At most 30 per minute are reported.",
    {
      name: z.string().meta({ examples: ["report.csv"] }),
      url: z.string().meta({ examples: ["https://shop.example/report.csv"] }),
      path: z
        .string()
        .nullable()
        .meta({
          description: "Path of the file in the session's workspace. Null if the file was not stored.",
          examples: ["downloads/report.csv"],
        }),
      size: count.nullable().meta({
        description: "Size of the file in bytes. Null if the file was not stored.",
        examples: [2048],
      }),
      error: z
        .string()
        .nullable()
        .meta({ description: "Why the file was not stored. Null if it was stored.", examples: [null] }),
    },
  ),
  "workspace.changed": define(
    "workspace.changed",
    "A person or a program wrote or removed a file of the workspace through the API. Changes by the agent's tools are in their `tool.result` events.",
    {
      path: z.string().meta({ examples: ["uploads/plan.pdf"] }),
      change: z.enum(["written", "removed"]),
      sizeBytes: count.nullable().meta({ description: "Null for a removed file.", examples: [2048] }),
    },
  ),
  "annotation.submitted": define("annotation.submitted", "An annotation was submitted.", {
    annotation: annotationRecordSchema,
  }),
  "annotation.changed": define("annotation.changed", "The status of an annotation changed.", {
    annotationId,
    ...annotationState,
  }),
  "annotation.removed": define("annotation.removed", "An annotation was removed.", { annotationId }),
  "elicitation.requested": define("elicitation.requested", "The agent asked a question.", {
    elicitationId,
    toolCallId: callId,
    ...questionFields,
  }),
  "elicitation.resolved": define("elicitation.resolved", "A question is no longer open.", {
    elicitationId,
    state: z.enum(["answered", "declined", "unanswered", "withdrawn"]).meta({
      description:
        "`unanswered`: no one answered in time. `withdrawn`: a message or a stop of the turn ended the question.",
    }),
    answer: answerSchema
      .nullable()
      .meta({ description: "The answer. Null unless `state` is `answered`.", examples: ["EUR"] }),
  }),
  "variant.updated": define(
    "variant.updated",
    "A variant has a new revision, its check or its publication changed, or the live browser began or stopped showing it.",
    {
      variant: variantSummarySchema,
      author: z.enum(VARIANT_AUTHORS).meta({ description: "Who wrote the revision." }),
      changeCount: count.meta({ description: "Number of changes in the revision.", examples: [2] }),
      isShown: z.boolean().meta({ description: "Whether the live browser shows the variant." }),
    },
  ),
  "preview.updated": define("preview.updated", "The previews of the session changed.", {
    previews: z.array(previewSchema),
  }),
  "publication.created": define("publication.created", "A release of a variant was published.", {
    variant: z.string().meta({ description: "Key of the variant.", examples: ["main"] }),
    author: z.enum(VARIANT_AUTHORS).meta({ description: "Who published the release." }),
    publication: publicationSchema,
  }),
  "report.published": define("report.published", "The agent published a QA report.", {
    report: reportSummarySchema,
  }),
  "plan.updated": define("plan.updated", "The plan or its mode changed.", { plan: planSchema }),
  "requirement.updated": define(
    "requirement.updated",
    "Requirements were added or changed, or a check has tested their assertions.",
    {
      requirements: z.array(requirementSchema).meta({
        description:
          "The requirements that were added, changed or checked, at most 20. If there are more, the service emits several events.",
      }),
    },
  ),
  "page.deployed": define("page.deployed", "The agent deployed a landing page, which is served at once.", {
    page: landingPageSchema,
  }),
  "page.updated": define(
    "page.updated",
    "A landing page was rolled back to one of its versions, or unpublished.",
    { page: landingPageSchema },
  ),
  "tests.started": define("tests.started", "A test run was started. It may still wait for a free browser.", {
    testRun: testRunSchema,
  }),
  "tests.progress": define(
    "tests.progress",
    "The tests of a test run are about to start, or some have ended. At most one event every 2 s.",
    {
      testRunId,
      counts: testCountsSchema,
    },
  ),
  "tests.completed": define("tests.completed", "A test run ended.", { testRun: testRunSchema }),
  "document.imported": define("document.imported", "A document was imported into the session.", {
    import: importSummarySchema,
  }),
  "run.completed": define("run.completed", "A run ended.", {
    outcome: outcomeSchema,
    error: z.string().optional(),
    deliverable: deliverableSchema.optional(),
    ...outcomeEventFields,
    usage: usageSchema,
    willRetry: z.object({ runId, attempt: z.int(), delayMs: z.number() }).optional().meta({
      description:
        "The automatic retry that follows: its run starts after `delayMs` milliseconds. Absent if no retry follows; this is then the request's last event.",
    }),
  }),
};

const [first, ...others] = Object.values(eventSchemas);
if (!first) throw new Error("there are no events");

/** Any stored event, in the form that the stream, the socket and callbacks send. */
export const domainEventSchema = z.discriminatedUnion("kind", [first, ...others]).meta({
  id: "DomainEvent",
  description: "A stored event of the session. Ignore unknown kinds.",
});

/** A chunk of a message that the model is writing. It is sent live and not stored. Source: `wire.md`, Stream. */
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
    attempt: z.int().meta({
      description:
        "Number of the run's attempt, as in `run.started`. The text of a later attempt replaces that of an earlier one.",
    }),
    offset: count.meta({
      description:
        "Number of UTF-16 code units of the message's text or reasoning (see `part`) before this chunk.",
    }),
    text: z.string().meta({ examples: ["The checkout asks for"] }),
  })
  .meta({
    id: "MessageDelta",
    description:
      "A chunk of a message that the model is writing. It is not stored and has no `seq`. The event `message.completed` replaces all chunks of its message.",
  });
