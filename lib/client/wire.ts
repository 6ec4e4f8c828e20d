// Generated from the contract by `npm run build:client`. Do not edit: a test compares it with the contract.

/** A sub-agent reported its progress. */
export type AgentProgressEvent = {
  kind: "agent.progress";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Name of the sub-agent, unique in its tree. */
  name: string;
  text: string;
};

/** A sub-agent. */
export type AgentRecord = {
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Id of the session that started the sub-agent. */
  parentId: string;
  /** Depth in the tree of sub-agents. 1 for a sub-agent whose parent session is not a sub-agent itself. */
  depth: number;
  name: string;
  objective: string;
  browser: "own" | "shared" | "none";
  /** `running` until the sub-agent's turn ends, even while the turn waits. */
  status: "running" | "succeeded" | "failed" | "cancelled";
  /** The last step of the sub-agent, in words. */
  lastStep: string | null;
  /** The last progress report of the sub-agent. */
  progress: string | null;
  /** The result that the sub-agent submitted. If it succeeded without submitting a result, its last text. */
  result?: unknown | undefined;
  error: string | null;
  /** Whether the sub-agent submitted the result. Otherwise the result is its last text. */
  submitted: boolean;
  /** Usage of the finished turns of the sub-agent and of the sub-agents below it. */
  usage: UsageSum;
  statusUrl: string;
  streamUrl: string;
  /** Path of the live view of the sub-agent's browser. Null unless the browser is ready. */
  liveViewUrl: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time in ISO 8601 format, UTC. */
  settledAt: string | null;
};

/** The turn of a sub-agent ended. */
export type AgentSettledEvent = {
  kind: "agent.settled";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Name of the sub-agent, unique in its tree. */
  name: string;
  status: "succeeded" | "failed" | "cancelled";
  /** Whether the sub-agent submitted the result. Otherwise the result is its last text. */
  submitted: boolean;
  /** The result. If its JSON is longer than 4 KiB, the beginning of that JSON as a string. */
  result?: unknown | undefined;
  isResultCut?: boolean | undefined;
  error?: string | undefined;
  /** Usage of all turns of the sub-agent and of the sub-agents below it. */
  usage: UsageSum;
};

/** The agent delegated work to a sub-agent. */
export type AgentSpawnedEvent = {
  kind: "agent.spawned";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Name of the sub-agent, unique in its tree. */
  name: string;
  objective: string;
  /** `own`: the sub-agent has its own browser. `shared`: it uses the browser of its parent. `none`: it has no browser tools. */
  browser: "own" | "shared" | "none";
  /** Depth in the tree of sub-agents. 1 for a sub-agent whose parent session is not a sub-agent itself. */
  depth: number;
};

export type AgentStatus = {
  turnState: TurnState;
  /** What the running turn waits for. Null if it does not wait. */
  waitingOn: WaitingOn | null;
  /** Id of the run in progress, or null. */
  activeRunId: string | null;
  /** Id of the newest run that has started. */
  lastRunId: string | null;
  /** Result of the newest run. It is final when `turnState` is not `running`, the result's `runId` equals `lastRunId` and the result's `status` is not `pending`. */
  deliverable: Deliverable | null;
  /** Effective limits on live sub-agents. */
  delegation: {
    maxLiveChildren: number;
    maxLiveBrowsers: number;
  };
  /** State of the workspace. */
  startupStatus: "uninitialized" | "starting" | "ready" | "error";
  /** Outcome of the last finished run. */
  lastRun: {
    outcome: RunOutcome;
    error: string | null;
  } | null;
  /** Number of queued messages. */
  queued: number;
  /** Budget of the session. Null if it has none. */
  budget: BudgetState | null;
  /** Variants of the session's pages. */
  variants: Array<VariantSummary>;
  /** The newest version of each QA report of the session. */
  reports: Array<ReportSummary>;
  /** Landing pages that the session deployed. */
  pages: Array<LandingPage>;
};

/** The sub-agents below a session. */
export type AgentTree = {
  success: true;
  agents: Array<AgentRecord>;
};

/** A sub-agent on the session page. */
export type AgentView = {
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Id of the session that started the sub-agent. */
  parentId: string;
  /** Depth in the tree of sub-agents. 1 for a sub-agent whose parent session is not a sub-agent itself. */
  depth: number;
  name: string;
  objective: string;
  browser: "own" | "shared" | "none";
  /** `running` until the sub-agent's turn ends, even while the turn waits. */
  status: "running" | "succeeded" | "failed" | "cancelled";
  /** The last step of the sub-agent, in words. */
  lastStep: string | null;
  /** The last progress report of the sub-agent. */
  progress: string | null;
  /** The result that the sub-agent submitted. If it succeeded without submitting a result, its last text. */
  result?: unknown | undefined;
  error: string | null;
  /** Whether the sub-agent submitted the result. Otherwise the result is its last text. */
  submitted: boolean;
  /** Usage of the finished turns of the sub-agent and of the sub-agents below it. */
  usage: UsageSum;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time in ISO 8601 format, UTC. */
  settledAt: string | null;
  /** Whether the JSON of the result is longer than 4,096 characters. If so, `result` is the beginning of that JSON as a string. */
  isResultCut?: boolean | undefined;
  /** What the sub-agent's turn waits for. Null if it does not wait. */
  waitingOn: "person" | "agents" | "tests" | "control" | "budget" | null;
  /** When the last picture of the sub-agent's page was taken. Null if there is none. */
  pictureTakenAt: string | null;
};

/** The sub-agents below a session, on its page. */
export type AgentViews = {
  success: true;
  agents: Array<AgentView>;
};

export type AnnotationAccepted = {
  ok: true;
};

/** An annotation with every submitted field. */
export type AnnotationRecord = {
  id: string;
  event: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  [field: string]: unknown;
};

export type AnnotationRecordPage = {
  success: true;
  data: Array<AnnotationRecord>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** What the annotation overlay submits. Unknown fields are stored too. */
export type AnnotationSubmission = {
  /** Kind of submission. `submit` requires `annotations`. */
  event: string;
  /** All annotations as text. */
  output?: string | undefined;
  annotations?: Array<{
    type?: string | undefined;
    selector?: string | undefined;
    comment?: string | undefined;
    [field: string]: unknown;
  }> | undefined;
  /** The annotated page. */
  url?: string | undefined;
  [field: string]: unknown;
};

/** An annotation was submitted. */
export type AnnotationSubmittedEvent = {
  kind: "annotation.submitted";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  annotation: AnnotationRecord;
};

/** An API key without its secret. Only a hash of the secret is stored. */
export type ApiKey = {
  id: string;
  ownerId: string;
  name: string;
  scopes: Array<string>;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time of the last use, accurate to the minute. ISO 8601, UTC. Null if the key has not been used. */
  lastUsedAt: string | null;
  /** When the key expires. ISO 8601, UTC. Null if it does not expire. */
  expiresAt: string | null;
  /** When the key was revoked. ISO 8601, UTC. Null if it is not revoked. */
  revokedAt: string | null;
};

export type ApiKeyPage = {
  success: true;
  data: Array<ApiKey>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** What the newest check of a variant found about an assertion. */
export type AssertionOutcome = {
  /** `unchecked`: the check did not examine the page that the assertion is about. */
  status: "pass" | "fail" | "unchecked";
  /** Time in ISO 8601 format, UTC. */
  at: string;
  variant: string;
  revision: number;
  /** Why the assertion does not hold, or why it was not checked. */
  message: string | null;
};

/** A dialog of a page was answered. At most 30 per minute are reported. */
export type BrowserDialogEvent = {
  kind: "browser.dialog";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  dialogType: string;
  message: string;
  answer: "accepted" | "dismissed";
  /** Who answered. `script`: the agent's script. `default`: the service, because no script listened. `timeout`: the service, because the script that listened did not answer in time. */
  answeredBy: "script" | "default" | "timeout";
};

/** A page offered a file for download. At most 30 per minute are reported. */
export type BrowserDownloadEvent = {
  kind: "browser.download";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  name: string;
  url: string;
  /** Path of the file in the session's workspace. Null if it was not stored. */
  path: string | null;
  /** Size in bytes. */
  size: number | null;
  /** Why the file was not stored. Null if it was stored. */
  error: string | null;
};

export type BrowserStatus = {
  status: "idle" | "creating" | "ready" | "expired" | "error";
  /** Id of the session. */
  sessionId: string | null;
  /** Path of a read-only page with only the live view. Anyone with the link can open it. Null unless `status` is `ready`. Revoking all share links replaces it. */
  liveViewUrl: string | null;
  /** The page that the session currently targets. */
  desiredUrl: string | null;
  /** The last page that the browser reached. After a retarget it is the requested URL, even if that URL redirects. An earlier visit to `desiredUrl` does not count: after a retarget or a browser start, the field is null until the browser reaches that page again. */
  lastNavigatedUrl: string | null;
  /** The address that the browser currently shows. */
  currentUrl: string | null;
  /** Why the last navigation was refused. Cleared when the browser reaches a page. */
  lastError: string | null;
};

/** The state of the live browser changed. */
export type BrowserStatusEvent = {
  kind: "browser.status";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  status: "idle" | "creating" | "ready" | "expired" | "error";
  /** The page that the session currently targets. */
  desiredUrl: string | null;
  /** The last page that the browser reached. */
  lastNavigatedUrl: string | null;
  /** The address that the browser currently shows. */
  currentUrl: string | null;
  lastError: string | null;
  /** When the last picture of the page was taken. Null if there is none. The field is present while no browser runs (`expired`, `error`). */
  pictureTakenAt?: string | null | undefined;
};

/** All browsers of the process are in use, so the session waits for one. The wait ends with a `browser.status` event whose status is not `creating`. */
export type BrowserWaitingEvent = {
  kind: "browser.waiting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Position in the queue. 1 is next. */
  position: number;
};

/** What the session and its sub-agents may spend. When a limit is reached, the turn waits until the budget is raised. */
export type Budget = {
  /** Limit on the cost of model calls, in US dollars. The deployment must know the price of its model (`MODEL_PRICES`). */
  usd?: number | undefined;
  /** Limit on the tokens of model calls: input, cached input and output. */
  tokens?: number | undefined;
  /** Limit on the minutes that turns work, including the turns of sub-agents. Waiting time does not count. */
  minutes?: number | undefined;
};

export type BudgetAnswer = {
  success: true;
  budget: BudgetState;
};

/** New limits of a session. An omitted limit stays unchanged, null removes it. */
export type BudgetChange = {
  /** Limit on the cost of model calls, in US dollars. The deployment must know the price of its model (`MODEL_PRICES`). */
  usd?: number | null | undefined;
  /** Limit on the tokens of model calls: input, cached input and output. */
  tokens?: number | null | undefined;
  /** Limit on the minutes that turns work, including the turns of sub-agents. Waiting time does not count. */
  minutes?: number | null | undefined;
};

export type BudgetState = {
  /** Limit in US dollars. Null if there is no limit. */
  usd: number | null;
  /** Limit in tokens. Null if there is no limit. */
  tokens: number | null;
  /** Limit in working minutes. Null if there is no limit. */
  minutes: number | null;
  /** What the session and its sub-agents have spent so far. */
  spent: {
    /** Spent US dollars. Null if the price of the model is unknown. */
    usd: number | null;
    tokens: number;
    minutes: number;
  };
};

/** Webhook registration for run lifecycle events. */
export type Callback = {
  /** URL that receives events by POST. Loopback, private and link-local hosts are refused. */
  url: string;
  /** When present, every delivery is signed with HMAC-SHA256. */
  secret?: string | undefined;
  /** Events to deliver. Omit for all events. */
  events?: Array<"run.started" | "run.completed"> | undefined;
};

export type CallbackChanged = {
  success: true;
  callback: CallbackRecord;
};

export type CallbackRecord = {
  /** URL of the receiver. Values of its query are replaced by `***`. */
  url: string;
  events: Array<"run.started" | "run.completed">;
  /** Whether deliveries are signed with a secret. */
  isSigned: boolean;
  /** End of the overlap, until which deliveries are also signed with the replaced secret. ISO 8601, UTC. Null if there is no overlap. */
  previousSecretExpiresAt: string | null;
  /** When a callback to this host was dropped for the first time since one was accepted. ISO 8601, UTC. Null if none was dropped since then. */
  failingSince: string | null;
  /** Set while callbacks to this host are disabled: the time of the last failure. One hour later, one callback is sent as a probe. ISO 8601, UTC. Otherwise null. */
  disabledAt: string | null;
};

export type Capabilities = {
  /** `false` removes the browser and its tools. */
  browser?: boolean | undefined;
  /** `false` removes the workspace and its tools. The browser runs in the sandbox, so it is removed too. */
  sandbox?: boolean | undefined;
};

/** Something that a check found. */
export type CheckFinding = {
  level: "fail" | "warn";
  code: "nothing_to_check" | "page_failed" | "no_match" | "not_applied" | "lost_at_hydration" | "lost_at_render" | "fight" | "lost_at_navigation" | "stayed_after_leaving" | "revert_left_trace" | "script_error" | "console_error" | "failed_request" | "overflow" | "covered" | "accessibility" | "layout_shift" | "csp_blocks_script" | "requirement";
  /** Id of the change, unique in the variant. */
  changeId: string | null;
  /** Id of the requirement that is not met. */
  requirementId?: string | undefined;
  url: string;
  viewport: "desktop" | "tablet" | "phone" | null;
  /** What was found, and what to do. */
  message: string;
};

/** The report of a check of a revision. */
export type CheckReport = {
  /** Key of the variant. */
  variant: string;
  revision: number;
  status: "pass" | "warn" | "fail";
  /** Time in ISO 8601 format, UTC. */
  at: string;
  durationMs: number;
  findings: Array<CheckFinding>;
  pages: Array<CheckedPage>;
  /** Results for the requirements that have an assertion and are not waived. Absent if there are none. */
  requirements?: Array<CheckedRequirement> | undefined;
  /** What the check could not examine. */
  notes: Array<string>;
};

/** What a check found about one change on one page. */
export type CheckedChange = {
  /** Id of the change, unique in the variant. */
  id: string;
  /** Number of elements that matched after the page was loaded again. */
  matched: number;
  applied: "ok" | "failed" | "not_applicable";
  /** Whether the change survived the start of the page's scripts. */
  hydration: "ok" | "failed" | "not_applicable";
  /** Whether the change was applied again after its element was rendered again. */
  rerender: "ok" | "failed" | "not_applicable";
  /** Whether the change was applied again after the browser left the page and returned. */
  navigation: "ok" | "failed" | "not_applicable";
  /** Whether reverting the change restored the page completely. */
  revert: "ok" | "failed" | "not_applicable";
};

/** What a check found on one page at one viewport width. */
export type CheckedPage = {
  /** Page that was opened. */
  url: string;
  viewport: "desktop" | "tablet" | "phone";
  changes: Array<CheckedChange>;
  /** Time from the first paint until the last change was applied, in milliseconds. 0 if all changes were applied before the first paint. */
  paintToAppliedMs: number | null;
  /** Layout shift that the variant adds. */
  layoutShift: number;
  /** Pictures without the variant, with it, and of the difference. */
  pictures: {
    before: EvidencePointer | null;
    after: EvidencePointer | null;
    difference: EvidencePointer | null;
  };
};

/** What a check found about the assertion of a requirement. */
export type CheckedRequirement = {
  id: string;
  status: "pass" | "fail" | "unchecked";
  /** Why the assertion does not hold, or why it was not checked. */
  message: string | null;
};

/** A session to create. Later requests cannot change these settings, except `budget`. */
export type CreateSession = {
  /** Messages, at least one of them from the user. The last user message starts the turn. */
  messages: Array<Message>;
  /** Page to work on. */
  targetUrl?: string | undefined;
  /** Additional pages to work on. */
  targetPageUrls?: Array<string> | undefined;
  /** Opaque caller metadata, stored with the session. */
  metadata?: Record<string, unknown> | undefined;
  /** A replay with the same key and an equal body returns the original session and creates no duplicate. */
  idempotencyKey?: string | undefined;
  /** Stable caller identity, used to attribute turns. */
  userId?: string | undefined;
  /** Attribution that every event contains. No value makes a turn count as started by a person. */
  source?: "web" | "api" | "slack" | "cli" | undefined;
  callback?: Callback | undefined;
  /** JSON Schema of the result, at most 64 KiB. Every turn ends with a JSON value that is valid against it. The schema must be an object, accept at least one finite value and compile within the time limit. While too many schemas of one API key are being checked, further ones are refused with 429. */
  outputSchema?: Record<string, unknown> | undefined;
  tools?: ToolPolicy | undefined;
  /** Caller instructions, appended to the agent's base prompt. */
  systemPrompt?: string | undefined;
  /** Remote tool servers by id, at most 10. The id `builtin` adds no server: it pins the built-in server to the given `url`. */
  mcpServers?: Record<string, McpServer> | undefined;
  capabilities?: Capabilities | undefined;
  /** Lets the agent delegate to sub-agents. With `source: "web"`, the deployment's feature flag decides instead. */
  subAgents?: boolean | undefined;
  delegation?: DelegationCaps | undefined;
  budget?: Budget | undefined;
};

/** Limits on live sub-agents. Has no effect unless `subAgents` is enabled. */
export type DelegationCaps = {
  /** Maximum number of live sub-agents. At most the deployment's ceiling. */
  maxLiveChildren?: number | undefined;
  /** Maximum number of live sub-agents with their own browser. At most the deployment's ceiling and at most `maxLiveChildren`. */
  maxLiveBrowsers?: number | undefined;
};

/** Typed result of a run in a structured session, that is, a session with an `outputSchema`. */
export type Deliverable = PendingDeliverable | ReadyDeliverable | FailedDeliverable;

/** The run produced no valid result. */
export type DeliverableFailedEvent = {
  kind: "deliverable.failed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** The run will produce a result. */
export type DeliverablePendingEvent = {
  kind: "deliverable.pending";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** The result is ready and valid. */
export type DeliverableReadyEvent = {
  kind: "deliverable.ready";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** A callback delivery with its attempts. */
export type DeliveryRecord = {
  /** The delivery's id, sent as `X-Service-Delivery`. */
  id: string;
  event: "run.started" | "run.completed";
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  state: "pending" | "sending" | "delivered" | "dropped";
  attempts: Array<{
    /** Time in ISO 8601 format, UTC. */
    at: string;
    /** HTTP status of the response. Null if there was no response. */
    status: number | null;
    latencyMs: number;
    /** Why the attempt failed. Null if it succeeded. */
    error: string | null;
    /** Number of the cycle of attempts. Each redelivery starts a new cycle. */
    cycle: number;
    /** Start of the response body, as plain text. */
    excerpt: string | null;
  }>;
  /** Time of the next attempt. ISO 8601, UTC. Null if none is scheduled. */
  nextAttemptAt: string | null;
};

export type DeliveryRecordPage = {
  success: true;
  data: Array<DeliveryRecord>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** The result of an import into the session. */
export type DocumentImported = {
  success: true;
  import: ImportSummary;
  leftOut: Array<LeftOut>;
};

/** A document was imported into the session. */
export type DocumentImportedEvent = {
  kind: "document.imported";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  import: ImportSummary;
};

/** A stored event of the session. Ignore unknown kinds. */
export type DomainEvent = RunStartedEvent | MessageCompletedEvent | ToolCallEvent | ToolResultEvent | McpSkippedEvent | TurnCompactingEvent | TurnCompactedEvent | TurnSteeredEvent | TurnWaitingEvent | TurnResumedEvent | AgentSpawnedEvent | AgentProgressEvent | AgentSettledEvent | DeliverablePendingEvent | DeliverableReadyEvent | DeliverableFailedEvent | BrowserStatusEvent | BrowserWaitingEvent | BrowserDialogEvent | BrowserDownloadEvent | AnnotationSubmittedEvent | ElicitationRequestedEvent | ElicitationResolvedEvent | VariantUpdatedEvent | PreviewUpdatedEvent | PublicationCreatedEvent | ReportPublishedEvent | PlanUpdatedEvent | RequirementUpdatedEvent | PageDeployedEvent | PageUpdatedEvent | TestsStartedEvent | TestsProgressEvent | TestsCompletedEvent | DocumentImportedEvent | RunCompletedEvent;

export type Done = {
  success: true;
};

/** A question that the agent asked. */
export type Elicitation = {
  elicitationId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Id of the tool call that asked. */
  toolCallId: string;
  question: string;
  /** Suggested answers. Any other text is accepted too. */
  options: Array<string> | null;
  /** The fields to fill in. Null for a plain question. */
  form: ElicitationForm | null;
  /** When the question is closed if it has not been answered by then. */
  expiresAt: string;
  state: "open" | "answered" | "declined" | "unanswered" | "withdrawn";
  answer: ElicitationAnswer | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time in ISO 8601 format, UTC. */
  resolvedAt: string | null;
};

/** A text. For a form, the values by field name. */
export type ElicitationAnswer = string | Record<string, string | number | boolean | Array<string>>;

/** A flat JSON Schema of text, number, boolean, choice, multiple choice and date fields. */
export type ElicitationForm = {
  type: "object";
  properties: Record<string, {
    type: "string" | "number" | "integer" | "boolean" | "array";
    title?: string | undefined;
    description?: string | undefined;
    default?: string | number | boolean | Array<string> | undefined;
    enum?: Array<string> | undefined;
    oneOf?: Array<{
      const: string;
      title?: string | undefined;
    }> | undefined;
    items?: {
      type?: "string" | undefined;
      enum?: Array<string> | undefined;
      anyOf?: Array<{
        const: string;
        title?: string | undefined;
      }> | undefined;
    } | undefined;
    format?: "date" | "date-time" | "email" | "uri" | undefined;
    minLength?: number | undefined;
    maxLength?: number | undefined;
    minimum?: number | undefined;
    maximum?: number | undefined;
    minItems?: number | undefined;
    maxItems?: number | undefined;
  }>;
  required: Array<string>;
};

export type ElicitationPage = {
  success: true;
  data: Array<Elicitation>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** The agent asked a question. */
export type ElicitationRequestedEvent = {
  kind: "elicitation.requested";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  elicitationId: string;
  /** Id of the tool call. */
  toolCallId: string;
  question: string;
  /** Suggested answers. Any other text is accepted too. */
  options: Array<string> | null;
  /** The fields to fill in. Null for a plain question. */
  form: ElicitationForm | null;
  /** When the question is closed if it has not been answered by then. */
  expiresAt: string;
};

/** A question is no longer open. */
export type ElicitationResolvedEvent = {
  kind: "elicitation.resolved";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  elicitationId: string;
  /** `unanswered`: no one answered in time. `withdrawn`: a message or a stop of the turn ended the question. */
  state: "answered" | "declined" | "unanswered" | "withdrawn";
  answer: ElicitationAnswer | null;
};

export type EncryptionRotated = {
  success: true;
  /** Number of values that this call has encrypted with the current key. */
  resealed: number;
  /** Number of values that this call could not decrypt, because the key that they are encrypted with is not configured. */
  unreadable: number;
  /** Number of values in the database that are not encrypted with the current key. */
  remaining: number;
  /** Send it with the next call. Null when all secrets are encrypted with the current key. */
  nextCursor: string | null;
};

/** Evidence that a tool stored. Download it as an artifact. */
export type EvidencePointer = {
  id: string;
  kind: "screenshot" | "preview" | "html" | "file";
  title: string;
  /** Page that the evidence was captured on. */
  url: string | null;
  mediaType: string;
};

/** A sub-agent. Its session can be exported separately. */
export type ExportedAgent = {
  id: string;
  parentId: string;
  name: string;
  objective: string;
  depth: number;
  /** Outcome of the sub-agent. Null while it works. */
  status: "succeeded" | "failed" | "cancelled" | null;
  /** Start of the result as JSON text, at most 4,096 characters. */
  result: string | null;
  isResultCut: boolean;
};

/** A picture, page or file that a tool stored. */
export type ExportedEvidence = {
  id: string;
  kind: "screenshot" | "preview" | "html" | "file";
  title: string;
  url: string | null;
  mediaType: string;
  sizeBytes: number;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** The bytes as a data URL. Present only if the export was requested with `evidence=true`. */
  data?: string | undefined;
};

/** A document that was imported into the session. */
export type ExportedImport = {
  id: string;
  documentId: string;
  format: "agent-session" | "agent-session-variant" | "growthbook" | "posthog";
  title: string | null;
  sourceSessionId: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  messages: Array<ExportedMessage>;
};

/** A message of a conversation. */
export type ExportedMessage = {
  id: string;
  role: "user" | "assistant";
  /** `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`. */
  parts: Array<{
    type: string;
    [field: string]: unknown;
  }>;
  /** Results of the message's tool calls. */
  results: Array<ExportedToolResult>;
  /** The `userId` that the caller sent with the message. */
  author: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

/** A landing page, without its files. */
export type ExportedPage = {
  slug: string;
  url: string;
  /** The version that is served. Null while unpublished. */
  version: number | null;
  note: string | null;
};

/** The plan of the session. */
export type ExportedPlan = {
  mode: "off" | "plan_first" | "agreed";
  author: "agent" | "person" | null;
  items: Array<{
    id: string;
    text: string;
    status: "todo" | "in_progress" | "done" | "dropped";
  }>;
};

/** The newest version of a report. */
export type ExportedReport = {
  id: string;
  title: string;
  version: number;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  counts: SeverityCounts;
  tested: Array<{
    variant: string;
    revision: number;
    check: {
      status: "pass" | "warn" | "fail";
      /** Time in ISO 8601 format, UTC. */
      at: string;
    } | null;
  }>;
  /** Markdown. */
  summary: string;
  /** Most severe first. */
  findings: Array<{
    severity: "critical" | "serious" | "moderate" | "minor" | "info";
    title: string;
    /** Markdown. */
    detail: string;
    url: string | null;
    selector: string | null;
    steps: Array<string>;
    evidence: Array<{
      id: string;
      kind: "screenshot" | "preview" | "html" | "file";
      title: string;
      url: string | null;
      mediaType: string;
    }>;
  }>;
};

/** A requirement. A session has at most 100. */
export type ExportedRequirement = {
  id: string;
  text: string;
  status: "open" | "met" | "failed" | "waived";
  note: string | null;
  author: "agent" | "person";
  assertion: {
    url: string;
    selector: string;
    is: "visible" | "hidden" | "text" | "count";
    /** `text`: the whole text of the element. `count`: the number of matching elements. */
    value?: string | number | undefined;
  } | null;
  outcome: {
    status: "pass" | "fail" | "unchecked";
    /** Time in ISO 8601 format, UTC. */
    at: string;
    variant: string;
    revision: number;
    message: string | null;
  } | null;
  evidenceIds: Array<string>;
};

/** The newest revision of a variant. */
export type ExportedSessionVariant = {
  /** Key of the variant. */
  key: string;
  /** Number of the newest revision. */
  revision: number;
  author: "agent" | "person";
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  document: VariantDocument;
  check: {
    status: "pass" | "warn" | "fail";
    /** Time in ISO 8601 format, UTC. */
    at: string;
  } | null;
  publication: Publication | null;
};

/** Result of a tool call of the message. */
export type ExportedToolResult = {
  toolCallId: string;
  toolName: string;
  state: "started" | "succeeded" | "failed" | "unknown";
  /** Why a `failed` call was not run. `plan_first`: a person wants to agree to the plan first. Absent for a call that was run. */
  refusal?: "plan_first" | undefined;
  /** Start of the result, at most 2,000 characters. */
  text: string;
  /** Whether the text is cut off. */
  isCut: boolean;
};

/** A revision in a format of this service or of another tool. */
export type ExportedVariant = {
  success: true;
  format: "json" | "growthbook" | "posthog";
  /** Key of the variant. */
  variant: string;
  /** Number of the revision. */
  revision: number;
  /** The variant in the requested format. */
  document: unknown;
  /** Parts of the revision that the format cannot represent. */
  omitted: Array<{
    /** Id of the change. Null if the part is a page's style sheet, script or URL pattern. */
    changeId: string | null;
    /** URL of the page entry. */
    url: string;
    reason: string;
  }>;
};

export type FailedDeliverable = {
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  status: "failed";
  /** The provider's message, or why there is no valid result. */
  error: string;
  /** The model's raw output. */
  rawText?: string | undefined;
  /** Each violation of `outputSchema`, if the model returned a JSON value. */
  violations?: Array<{
    /** JSON Pointer to the invalid value, as if the result had the structure that `outputSchema` describes. */
    path: string;
    message: string;
    /** JSON Pointer to the same value in `rawText`. Absent if `rawText` does not contain it. */
    rawPath?: string | undefined;
  }> | undefined;
};

/** A follow-up message: exactly one of `text`, `message` and `messages`. */
export type FollowUp = {
  /** Text of one user message. */
  text?: string | undefined;
  /** One user message. */
  message?: Message | undefined;
  /** Messages, at least one of them from the user. The last user message starts the turn. */
  messages?: Array<Message> | undefined;
  /** `queue`: starts its own turn after the queued messages before it. `steer`: the running turn reads it between two of its steps; if no turn runs, or the running turn already collects its structured result, it starts its own turn. `interrupt`: cancels the running turn, then starts its own turn. */
  mode?: "queue" | "steer" | "interrupt" | undefined;
  /** A replay with the same key and an equal body returns the original response and changes nothing. */
  idempotencyKey?: string | undefined;
  /** Stable caller identity, stored as the message's author. */
  userId?: string | undefined;
};

export type FollowUpAccepted = {
  success: true;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Path to poll for the request's status. */
  statusUrl: string;
  /** Path of the request's event stream. */
  streamUrl: string;
  /** Whether the message waits for a running turn or will be read by it. */
  queued: boolean;
};

export type Health = {
  ok: true;
};

/** An import with a page of its conversation. */
export type ImportDetail = {
  success: true;
  import: ImportSummary;
  leftOut: Array<LeftOut>;
  /** Messages of the conversation, oldest first. */
  data: Array<ExportedMessage>;
  nextCursor: string | null;
};

/** A document that was imported into the session. */
export type ImportSummary = {
  id: string;
  /** `agent-session`: the JSON export of a session. `agent-session-variant`: the JSON export of a variant. `growthbook`, `posthog`: a document of that tool. */
  format: "agent-session" | "agent-session-variant" | "growthbook" | "posthog";
  /** Id of the document, or its hash if it has no id. A session imports the same document only once. */
  documentId: string;
  /** Title of the exported session. Null for other documents. */
  title: string | null;
  /** Id of the exported session. */
  sourceSessionId: string | null;
  /** Time in ISO 8601 format, UTC. */
  exportedAt: string | null;
  /** Who imported the document. */
  author: "agent" | "person";
  /** Variants that the import created. `from` is the key of the variant in the document. */
  variants: Array<{
    from: string;
    key: string;
    revision: number;
  }>;
  /** Number of messages in the imported conversation. */
  messageCount: number;
  /** Number of items in the imported plan. */
  planItemCount: number;
  /** Number of requirements that the import added. */
  requirementCount: number;
  /** Number of parts of the document that were left out. */
  leftOutCount: number;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type ImportSummaryPage = {
  success: true;
  data: Array<ImportSummary>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** The variant after an import. */
export type ImportedVariant = {
  success: true;
  variant: VariantSummary;
  /** Parts of the document that the variant does not contain, one sentence each. */
  omitted: Array<string>;
};

export type KeyCreated = {
  success: true;
  /** The API key. It is returned only once. */
  key: string;
  record: ApiKey;
};

export type KeyRevoked = {
  success: true;
  record: ApiKey;
};

/** The new key, and the old key with its new expiry. */
export type KeyRotated = {
  success: true;
  /** The API key. It is returned only once. */
  key: string;
  record: ApiKey;
  old: ApiKey;
};

export type KeyUpdated = {
  success: true;
  record: ApiKey;
};

/** A page of static files that the agent deployed. */
export type LandingPage = {
  slug: string;
  url: string;
  /** Number of the version that is served. Null while the page is unpublished. */
  version: number | null;
  /** Number of the newest version. */
  newestVersion: number;
  /** Number of files of the served version. */
  files: number | null;
  /** Size of the files of the served version. */
  bytes: number | null;
  /** What the agent noted about the served version. */
  note: string | null;
  /** Time in ISO 8601 format, UTC. */
  updatedAt: string;
};

/** A landing page after it was changed. */
export type LandingPageChanged = {
  success: true;
  page: LandingPage;
};

export type LandingPagePage = {
  success: true;
  data: Array<LandingPage>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

export type LandingPageRead = {
  success: true;
  page: OwnedLandingPage;
};

/** An immutable version of a landing page. */
export type LandingPageVersion = {
  /** Number of the version. */
  number: number;
  /** Number of files. */
  files: number;
  /** Size of the files. */
  bytes: number;
  /** The agent's note about the version. */
  note: string | null;
  /** Whether this version is served. */
  isCurrent: boolean;
  /** Id of the session that deployed the version. The session may have been deleted since. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type LandingPageVersionPage = {
  success: true;
  data: Array<LandingPageVersion>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A part of a document that was left out, and why. */
export type LeftOut = {
  /** What was left out. */
  field: string;
  reason: string;
};

/** A text frame from a client. Coordinates are CSS pixels of the page. */
export type LiveClientFrame = {
  type: "auth";
  token: string;
} | {
  type: "view.subscribe";
} | {
  type: "view.unsubscribe";
} | {
  type: "control.take";
} | {
  type: "control.release";
} | {
  type: "ping";
} | {
  type: "input.mouse";
  action: "move" | "down" | "up";
  button: "left" | "middle" | "right" | "none";
  clickCount: number;
  x: number;
  y: number;
  /** Pressed modifier keys, as a bit field: Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
} | {
  type: "input.wheel";
  deltaX: number;
  deltaY: number;
  x: number;
  y: number;
  /** Pressed modifier keys, as a bit field: Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
} | {
  type: "input.key";
  action: "down" | "up";
  key: string;
  code: string;
  /** Pressed modifier keys, as a bit field: Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
  text?: string | undefined;
} | {
  type: "input.text";
  text: string;
} | {
  type: "input.paste";
  text: string;
};

/** A text frame from the service. `type` determines its fields. Ignore unknown types. */
export type LiveFrame = {
  type: "ready";
  lastSeq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    role: "view" | "comment" | "drive";
    watching: number;
    /** Id of this connection. The page sends it with each navigation, so that the service knows whether this connection has control. */
    connectionId: string;
  };
} | {
  type: "run.started";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RunStartedEvent;
} | {
  type: "message.completed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: MessageCompletedEvent;
} | {
  type: "tool.call";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ToolCallEvent;
} | {
  type: "tool.result";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ToolResultEvent;
} | {
  type: "mcp.skipped";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: McpSkippedEvent;
} | {
  type: "turn.compacting";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TurnCompactingEvent;
} | {
  type: "turn.compacted";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TurnCompactedEvent;
} | {
  type: "turn.steered";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TurnSteeredEvent;
} | {
  type: "turn.waiting";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TurnWaitingEvent;
} | {
  type: "turn.resumed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TurnResumedEvent;
} | {
  type: "agent.spawned";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AgentSpawnedEvent;
} | {
  type: "agent.progress";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AgentProgressEvent;
} | {
  type: "agent.settled";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AgentSettledEvent;
} | {
  type: "deliverable.pending";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: DeliverablePendingEvent;
} | {
  type: "deliverable.ready";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: DeliverableReadyEvent;
} | {
  type: "deliverable.failed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: DeliverableFailedEvent;
} | {
  type: "browser.status";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: BrowserStatusEvent;
} | {
  type: "browser.waiting";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: BrowserWaitingEvent;
} | {
  type: "browser.dialog";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: BrowserDialogEvent;
} | {
  type: "browser.download";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: BrowserDownloadEvent;
} | {
  type: "annotation.submitted";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AnnotationSubmittedEvent;
} | {
  type: "elicitation.requested";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ElicitationRequestedEvent;
} | {
  type: "elicitation.resolved";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ElicitationResolvedEvent;
} | {
  type: "variant.updated";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: VariantUpdatedEvent;
} | {
  type: "preview.updated";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: PreviewUpdatedEvent;
} | {
  type: "publication.created";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: PublicationCreatedEvent;
} | {
  type: "report.published";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ReportPublishedEvent;
} | {
  type: "plan.updated";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: PlanUpdatedEvent;
} | {
  type: "requirement.updated";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RequirementUpdatedEvent;
} | {
  type: "page.deployed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: PageDeployedEvent;
} | {
  type: "page.updated";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: PageUpdatedEvent;
} | {
  type: "tests.started";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TestsStartedEvent;
} | {
  type: "tests.progress";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TestsProgressEvent;
} | {
  type: "tests.completed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TestsCompletedEvent;
} | {
  type: "document.imported";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: DocumentImportedEvent;
} | {
  type: "run.completed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RunCompletedEvent;
} | {
  type: "message.delta";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: MessageDelta;
} | {
  type: "watching";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    watching: number;
  };
} | {
  type: "control";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    holder: "you" | "someone" | null;
  };
} | {
  type: "cursor";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    cursor: string;
  };
} | {
  type: "pointer";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    kind: "move" | "down";
    x: number;
    y: number;
  };
} | {
  type: "queue";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: Record<string, never>;
} | {
  type: "pong";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: Record<string, never>;
};

/** A browser that is signed in on the landing page. */
export type Login = {
  id: string;
  /** `link` for a login link, `oidc` for an account at the identity provider. */
  method: "link" | "oidc";
  /** E-mail address or subject of the account. Null for a login link. */
  account: string | null;
  /** `User-Agent` of the browser. At most 200 characters. */
  userAgent: string | null;
  /** Time of the sign-in. ISO 8601, UTC. */
  createdAt: string;
  /** Time of the last use, accurate to the minute. ISO 8601, UTC. */
  lastSeenAt: string;
  /** When the login ends if it is not used again before. ISO 8601, UTC. */
  expiresAt: string;
  /** Whether this login made the request. */
  isCurrent: boolean;
};

export type LoginPage = {
  success: true;
  data: Array<Login>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A remote tool server. Its tools appear to the agent as `mcp_<id>__<tool>`. */
export type McpServer = {
  url: string;
  /** Transport of the server. `http` means Streamable HTTP. */
  type?: "http" | "sse" | undefined;
  /** Request headers for this server. They are encrypted at rest and sent only to this server. No response contains them. */
  headers?: Record<string, string> | undefined;
};

/** Tools of an MCP server are unavailable in this turn. */
export type McpSkippedEvent = {
  kind: "mcp.skipped";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  serverId: string;
  reason: string;
  /** Some of the unavailable tools. Absent if the whole server is unavailable. */
  tools?: Array<string> | undefined;
  /** Number of unavailable tools. */
  toolCount?: number | undefined;
};

export type McpToken = {
  success: true;
  /** Short-lived secret. Send it as `Authorization: Bearer <token>`. */
  token: string;
  /** URL of the built-in MCP server. Only this server accepts the token. */
  url: string;
  /** When the token expires. ISO 8601, UTC. You can create a new token at any time. */
  expiresAt: string;
};

/** A message of the transcript. */
export type Message = {
  role: "user" | "assistant";
  parts: Array<{
    type: "text";
    text: string;
  }>;
};

/** A complete message of the transcript. It is published again with the same `id` when the turn's deliverable is added as a `data-deliverable` part: keep the last one. */
export type MessageCompletedEvent = {
  kind: "message.completed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  message: MessageRecord;
};

/** A chunk of a message that the model is writing. It has no `seq`, and `message.completed` replaces it. */
export type MessageDelta = {
  kind: "message.delta";
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  source: Source;
  /** Id of a message in the transcript. */
  messageId: string;
  part: "text" | "reasoning";
  /** Number of the attempt. A later attempt replaces the text of an earlier one. */
  attempt: number;
  /** Number of characters of this part before this chunk. */
  offset: number;
  text: string;
};

/** `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`. Ignore unknown types. */
export type MessagePart = {
  type: string;
  [field: string]: unknown;
};

/** A message of the transcript. */
export type MessageRecord = {
  /** Id of a message in the transcript. */
  id: string;
  /** Position in the transcript, starting at 1. */
  seq: number;
  role: "user" | "assistant";
  parts: Array<MessagePart>;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  /** The `userId` that the caller sent with the message. */
  author: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type MessageRecordPage = {
  success: true;
  data: Array<MessageRecord>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** Requirements to add. */
export type NewRequirements = {
  requirements: Array<{
    text: string;
    /** A condition that a check of the page can verify. */
    assertion?: {
      url: string;
      selector: string;
      is: "visible" | "hidden" | "text" | "count";
      /** `text`: the whole text of the element. `count`: the number of matching elements. */
      value?: string | number | undefined;
    } | undefined;
  }>;
};

export type OwnShareLinks = {
  success: true;
  data: Array<ShareLink>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
  /** Path of the session's own `shareUrl`. */
  shareUrl: string;
};

/** A landing page. Its session may have been deleted. */
export type OwnedLandingPage = {
  slug: string;
  url: string;
  /** Number of the version that is served. Null while the page is unpublished. */
  version: number | null;
  /** Number of the newest version. */
  newestVersion: number;
  /** Number of files of the served version. */
  files: number | null;
  /** Size of the files of the served version. */
  bytes: number | null;
  /** What the agent noted about the served version. */
  note: string | null;
  /** Time in ISO 8601 format, UTC. */
  updatedAt: string;
  /** Id of the session that deployed the page last. Null after that session was deleted. */
  sessionId: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type OwnedLandingPagePage = {
  success: true;
  data: Array<OwnedLandingPage>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A published variant. Its session may have been deleted. */
export type OwnedPublication = {
  /** Id of the publication. */
  id: string;
  /** Id of the session. Null after the session was deleted. */
  sessionId: string | null;
  /** Key of the variant. */
  variant: string;
  /** The current release. Null if nothing is published. */
  publication: Publication | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time in ISO 8601 format, UTC. */
  updatedAt: string;
};

export type OwnedPublicationPage = {
  success: true;
  data: Array<OwnedPublication>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** The agent deployed a landing page, which is served at once. */
export type PageDeployedEvent = {
  kind: "page.deployed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  page: LandingPage;
};

/** A landing page was rolled back to one of its versions, or unpublished. */
export type PageUpdatedEvent = {
  kind: "page.updated";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  page: LandingPage;
};

export type PendingDeliverable = {
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  status: "pending";
};

/** The plan of a session and its sub-agents. */
export type Plan = {
  /** `plan_first`: tools that change pages, files or publications are refused until a person agrees to the plan. `agreed`: a person has agreed. */
  mode: "off" | "plan_first" | "agreed";
  items: Array<PlanItem>;
  /** Increases with each change of the items. 0 if the plan was never written. */
  revision: number;
  /** Who made the newest revision. Null if the plan was never written. */
  author: "agent" | "person" | null;
  /** Time in ISO 8601 format, UTC. */
  updatedAt: string | null;
};

/** The current plan. */
export type PlanAnswer = {
  success: true;
  plan: Plan;
};

/** Edits of single items. Edits of different items never conflict. */
export type PlanEdits = {
  edits: Array<{
    action: "add";
    text: string;
    /** Id of the item before the new one. Null for the first place, absent for the last. */
    after?: string | null | undefined;
  } | {
    action: "setText";
    id: string;
    text: string;
    /** The item's text as the editor last saw it. If the item now has a different text, the edit is refused with 409. */
    was: string;
  } | {
    action: "setStatus";
    id: string;
    status: "todo" | "in_progress" | "done" | "dropped";
  }>;
};

/** A step of the plan. */
export type PlanItem = {
  id: string;
  text: string;
  status: "todo" | "in_progress" | "done" | "dropped";
};

/** Switches the mode `plan_first` on or off. */
export type PlanModeChange = {
  mode: "off" | "plan_first";
};

/** The plan or its mode changed. */
export type PlanUpdatedEvent = {
  kind: "plan.updated";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  plan: Plan;
};

/** A picture of a page that people look at, with or without a variant. */
export type Preview = {
  title: string;
  /** Page that the picture shows. */
  url: string;
  viewport: {
    name: "desktop" | "tablet" | "phone" | null;
    width: number;
    height: number;
  };
  /** Key of the variant. Null if the picture shows the page without a variant. */
  variant: string | null;
  /** Revision of the variant that the picture shows. */
  revision: number | null;
  caption: string | null;
  /** The picture. Null if it was not taken. */
  evidence: EvidencePointer | null;
  /** Why there is no picture. */
  error: string | null;
  /** Time in ISO 8601 format, UTC. */
  takenAt: string | null;
};

export type PreviewPage = {
  success: true;
  data: Array<Preview>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** The previews of the session changed. */
export type PreviewUpdatedEvent = {
  kind: "preview.updated";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  previews: Array<Preview>;
};

/** The published release of a variant. */
export type Publication = {
  /** Id of the publication. */
  id: string;
  /** Id of the release. */
  release: string;
  /** Number of the release. */
  number: number;
  /** Revision that is published. A newer one may exist. */
  revision: number;
  /** Whether it was published without a check that passed. */
  isUnchecked: boolean;
  /** URL of the publication's script. It always serves the current release, also after a new release or a rollback. */
  scriptUrl: string;
  /** URL of the script of this release, which never changes. */
  pinnedScriptUrl: string;
  /** Subresource Integrity of the script of this release. */
  integrity: string;
};

/** A publication after it was changed. */
export type PublicationChanged = {
  success: true;
  /** The current release. Null if nothing is published. */
  publication: Publication | null;
};

/** A release of a variant was published. */
export type PublicationCreatedEvent = {
  kind: "publication.created";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Key of the variant. */
  variant: string;
  /** Who published the release. */
  author: "agent" | "person";
  publication: Publication;
};

/** The publication with its new release. */
export type Published = {
  success: true;
  publication: Publication;
  variant: VariantSummary;
};

export type Queue = {
  success: true;
  data: Array<QueuedMessage>;
  nextCursor: null;
};

export type QueuedMessage = {
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** `steer` messages are read by the running turn between two of its steps. Other messages start their own turn. */
  mode: "queue" | "steer" | "interrupt";
  text: string;
  author: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type Readiness = {
  ok: boolean;
  /** State of each part. Present only for callers with an API key and for processes on the service's own machine. */
  checks?: {
    database: ReadinessCheck;
    engine: ReadinessCheck;
    browser: ReadinessCheck;
    sandbox: ReadinessCheck;
    model: ReadinessCheck;
  } | undefined;
};

export type ReadinessCheck = {
  ok: boolean;
  detail: string;
};

export type ReadyDeliverable = {
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  status: "ready";
  /** The result. It is valid against the caller's `outputSchema`. */
  value: unknown;
};

/** The same delivery with the same body and id, in a new cycle of attempts. */
export type Redelivered = {
  success: true;
  delivery: DeliveryRecord;
};

/** An immutable release of a variant. */
export type Release = {
  /** Id of the release. */
  id: string;
  /** Number of the release. */
  number: number;
  /** Number of the revision. */
  revision: number;
  /** Who published the release. */
  author: "agent" | "person";
  /** Check of the revision at the time of publication. Null if it was not checked. */
  check: {
    status: "pass" | "warn" | "fail";
    /** Time in ISO 8601 format, UTC. */
    at: string;
  } | null;
  /** Whether it was published without a passed check. */
  isUnchecked: boolean;
  /** Whether this is the current release. */
  isCurrent: boolean;
  /** Whether the script of this release was withdrawn by unpublishing. */
  isUnpublished: boolean;
  /** URL of the release's script, which never changes. */
  pinnedScriptUrl: string;
  /** Subresource Integrity of the release's script. */
  integrity: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type ReleasePage = {
  success: true;
  data: Array<Release>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A QA report. */
export type Report = {
  /** Id of the report. */
  id: string;
  title: string;
  /** Number of the version among the session's reports with this title. The highest number is the newest version. */
  version: number;
  /** Path of the report's page, for visitors of the session page. */
  url: string;
  counts: SeverityCounts;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the newest version of the report. Equal to `id` if this is the newest version. */
  newest: {
    /** Id of the report. */
    id: string;
    version: number;
    /** Path of the page of this version. */
    url: string;
  };
  /** The session's variants when the report was published. */
  tested: Array<TestedVariant>;
  /** Markdown. */
  summary: string;
  /** Sorted by severity, most severe first. */
  findings: Array<ReportFinding>;
};

export type ReportFinding = {
  /** The impact levels of axe-core, and `info` for findings that need no repair. */
  severity: "critical" | "serious" | "moderate" | "minor" | "info";
  title: string;
  /** Markdown. */
  detail: string;
  /** Page that the finding is about. */
  url: string | null;
  selector: string | null;
  /** How to reproduce the finding. */
  steps: Array<string>;
  /** Download each as an artifact of the session. */
  evidence: Array<EvidencePointer>;
};

/** The agent published a QA report. */
export type ReportPublishedEvent = {
  kind: "report.published";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  report: ReportSummary;
};

export type ReportRead = {
  success: true;
  report: Report;
};

/** A QA report and the number of its findings. */
export type ReportSummary = {
  /** Id of the report. */
  id: string;
  title: string;
  /** Number of the version among the session's reports with this title. The highest number is the newest version. */
  version: number;
  /** Path of the report's page, for visitors of the session page. */
  url: string;
  counts: SeverityCounts;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type ReportSummaryPage = {
  success: true;
  data: Array<ReportSummary>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

export type RequestStatus = {
  success: true;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the request's newest run. Each retry is a new run. */
  runId: string;
  status: "pending" | "running" | "completed";
};

/** A requirement of a session and its sub-agents. */
export type Requirement = {
  id: string;
  text: string;
  status: "open" | "met" | "failed" | "waived";
  note: string | null;
  /** Ids of the evidence that the requirement is met: artifacts of the session or of its sub-agents. */
  evidenceIds: Array<string>;
  evidence: Array<RequirementEvidence>;
  assertion: RequirementAssertion | null;
  /** Result of the newest check of the assertion. Null until the first check, and again after the assertion has been changed. */
  outcome: AssertionOutcome | null;
  /** Who added the requirement. */
  author: "agent" | "person";
  /** Time in ISO 8601 format, UTC. */
  updatedAt: string;
};

/** The current requirement. */
export type RequirementAnswer = {
  success: true;
  requirement: Requirement;
};

/** A condition that a check of the page tests. */
export type RequirementAssertion = {
  /** Page that the assertion is about. Query and fragment are ignored. */
  url: string;
  selector: string;
  is: "visible" | "hidden" | "text" | "count";
  /** For `text`, the expected text of the element. For `count`, the expected number of elements. */
  value?: string | number | undefined;
};

/** Fields to change. Omitted fields stay unchanged. */
export type RequirementChange = {
  text?: string | undefined;
  /** `waived`: the requirement no longer counts. `open`: it counts again. Only the agent reports `met` and `failed`. */
  status?: "open" | "waived" | undefined;
  note?: string | null | undefined;
  /** Null removes the assertion. */
  assertion?: {
    url: string;
    selector: string;
    is: "visible" | "hidden" | "text" | "count";
    /** `text`: the whole text of the element. `count`: the number of matching elements. */
    value?: string | number | undefined;
  } | null | undefined;
};

/** Evidence that a requirement is met. */
export type RequirementEvidence = {
  id: string;
  /** Id of the session or sub-agent that the artifact belongs to. */
  sessionId: string;
  kind: "screenshot" | "preview" | "html" | "file";
  title: string;
  /** Page that the evidence was captured on. */
  url: string | null;
  mediaType: string;
};

export type RequirementPage = {
  success: true;
  data: Array<Requirement>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** Requirements were added or changed, or a check has tested their assertions. */
export type RequirementUpdatedEvent = {
  kind: "requirement.updated";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** The requirements that were added or changed, at most 20. If there are more, several events are emitted. */
  requirements: Array<Requirement>;
};

/** The added requirements. */
export type RequirementsAdded = {
  success: true;
  requirements: Array<Requirement>;
};

export type Retarget = {
  /** URL to navigate to. */
  url: string;
};

/** The retarget was accepted, but the navigation is not complete yet. Poll the browser's status. */
export type RetargetAccepted = {
  accepted: true;
  /** The requested URL. */
  url: string;
  /** Path to poll for the browser's status. */
  statusUrl: string;
};

/** Body of a `run.completed` callback. */
export type RunCompletedCallback = {
  event: "run.completed";
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RunCompletedEvent;
};

/** A run ended. */
export type RunCompletedEvent = {
  kind: "run.completed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  outcome: RunOutcome;
  error?: string | undefined;
  deliverable?: Deliverable | undefined;
  /** The variants of the session. Absent in structured sessions without variants, and in sub-agents. */
  variants?: Array<VariantSummary> | undefined;
  /** The newest version of each report of the session. Absent if there is none. */
  reports?: Array<ReportSummary> | undefined;
  /** The landing pages of the session. Absent in structured sessions without pages, and in sub-agents. */
  pages?: Array<LandingPage> | undefined;
  usage: Usage;
  /** The automatic retry that follows. Without it, this is the request's last event. */
  willRetry?: {
    /** Id of the run. A run is one attempt at the turn of a request. */
    runId: string;
    attempt: number;
    delayMs: number;
  } | undefined;
};

/** Outcome of a run. */
export type RunOutcome = "succeeded" | "errored" | "cancelled";

/** Body of a `run.started` callback. */
export type RunStartedCallback = {
  event: "run.started";
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RunStartedEvent;
};

/** A run started. */
export type RunStartedEvent = {
  kind: "run.started";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Number of this run among the runs of the request, starting at 1. */
  attempt: number;
  /** What started the run. */
  origin: "person" | "external" | "continuation" | "retry" | "subagent";
};

export type SessionCreated = {
  success: true;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Path that opens the session in a browser, to watch or join. For API keys without `sessions:write` it only allows watching. */
  shareUrl: string;
  /** Path to poll for the request's status. */
  statusUrl: string;
  /** Path of the request's event stream. */
  streamUrl: string;
};

/** Numbers of deleted records, and the data that is still to be removed. Deleting the session again returns 404. */
export type SessionDeleted = {
  success: true;
  deleted: {
    /** The session and its sub-agent sessions. */
    sessions: number;
    /** Accepted messages. */
    requests: number;
    /** Runs. An open run was stopped. */
    runs: number;
    /** Messages of the transcript and the queue. */
    messages: number;
    /** Events of the log. */
    events: number;
    /** Tool calls with their results. */
    toolCalls: number;
    /** Typed results. */
    deliverables: number;
    /** Annotations. */
    annotations: number;
    /** Questions that the agent asked. */
    elicitations: number;
    /** Callback deliveries with their attempts. Pending ones are not sent. */
    deliveries: number;
    /** Screenshots, previews and saved pages. */
    evidence: number;
    /** Size of the evidence in bytes. */
    evidenceBytes: number;
    /** Encrypted secrets: callback secrets, headers of MCP servers, and URLs with a query. */
    secrets: number;
    /** Created share links. The session's `shareUrl` stops working too. */
    shareLinks: number;
    /** Revisions of variants. */
    variantRevisions: number;
    /** QA reports. */
    reports: number;
    /** Previews. */
    previews: number;
    /** Started workspaces. */
    workspaces: number;
    /** Running browsers. */
    browsers: number;
  };
  /** Data that could not be removed yet, such as files on disk. The service retries until all of it is removed, also after a restart. `rows` means that a check found remaining rows in the database. Empty when the deletion is complete. */
  pending: Array<{
    /** Id of the session or of a sub-agent session. */
    sessionId: string;
    part: "run" | "browser" | "workspace" | "evidence" | "rows";
    reason: string;
  }>;
  /** Published variants of the session. They stay published until you call `POST /api/publications/:publicationId/unpublish`. */
  publications: Array<{
    /** Id of the publication. */
    id: string;
    /** Key of the variant. */
    variant: string;
    /** URL of the publication's script. */
    scriptUrl: string;
  }>;
  /** Published landing pages of the session. They stay published until you call `POST /api/pages/:slug/unpublish`. */
  pages: Array<{
    slug: string;
    url: string;
  }>;
};

export type SessionDetail = {
  success: true;
  session: {
    /** Id of the session. */
    id: string;
    title: string;
    /** The `targetUrl` that the session was created with. */
    targetUrl: string | null;
    source: Source;
    /** Whether the session has an `outputSchema`. */
    isStructured: boolean;
    /** What the session is doing, or how its last turn ended. `waiting`: the agent waits for a person's answer, or a person has yet to agree to its plan. `done`: the turn succeeded. `no_result`: the turn succeeded without a valid result. `page_error`: the turn succeeded but did not reach its page. */
    state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
    /** Reason for the states `waiting`, `retrying`, `failed`, `no_result` and `page_error`. */
    stateReason: string | null;
    turnState: TurnState;
    lastOutcome: RunOutcome | null;
    /** Time in ISO 8601 format, UTC. */
    createdAt: string;
    /** Path that opens the session in a browser, to watch or join. For API keys without `sessions:write` it only allows watching. */
    shareUrl: string;
    /** Id of the session whose agent delegated to this one. */
    parentSessionId: string | null;
    userId: string | null;
    /** Metadata that the caller sent. */
    metadata: Record<string, unknown> | null;
    /** Target pages from the session's creation and from later retargets. */
    targetPageUrls: Array<string>;
    outputSchema: Record<string, unknown> | null;
    systemPrompt: string | null;
    tools: {
      include: Array<string>;
      exclude: Array<string>;
      externalTurnExclude: Array<string>;
    };
    /** Remote tool servers without their headers. Values in the query of a URL are replaced by `***`. */
    mcpServers: Record<string, {
      url: string;
      type: "http" | "sse";
    }>;
    capabilities: {
      browser: boolean;
      sandbox: boolean;
    };
    subAgents: boolean;
    /** Effective limits on live sub-agents. */
    delegation: {
      maxLiveChildren: number;
      maxLiveBrowsers: number;
    };
    callback: CallbackRecord | null;
    startupStatus: "uninitialized" | "starting" | "ready" | "error";
    /** Time in ISO 8601 format, UTC. */
    updatedAt: string;
  };
};

/** A session as a file, format version 1. */
export type SessionExport = {
  format: "agent-session";
  version: 1;
  /** Built from the id of the session and the number of its last event, so exports of an unchanged session have the same id. */
  id: string;
  /** Time in ISO 8601 format, UTC. */
  exportedAt: string;
  session: {
    id: string;
    title: string;
    source: "web" | "api" | "slack" | "cli";
    /** Time in ISO 8601 format, UTC. */
    createdAt: string;
    state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
    stateReason: string | null;
    targetUrl: string | null;
    targetPageUrls: Array<string>;
    outputSchema: Record<string, unknown> | null;
    capabilities: {
      browser: boolean;
      sandbox: boolean;
    };
    subAgents: boolean;
    /** The skills that the session was created with, and the SHA-256 of each. */
    skills: Array<{
      name: string;
      version: string;
    }>;
  };
  messages: Array<ExportedMessage>;
  variants: Array<ExportedSessionVariant>;
  /** The plan. Null if it was never written. */
  plan: ExportedPlan | null;
  requirements: Array<ExportedRequirement>;
  reports: Array<ExportedReport>;
  pages: Array<ExportedPage>;
  deliverables: Array<Deliverable>;
  previews: Array<Preview>;
  annotations: Array<{
    id: string;
    event: string;
    /** Time in ISO 8601 format, UTC. */
    createdAt: string;
    [field: string]: unknown;
  }>;
  agents: Array<ExportedAgent>;
  imports: Array<ExportedImport>;
  evidence: Array<ExportedEvidence>;
  leftOut: Array<LeftOut>;
  [field: string]: unknown;
};

export type SessionSummary = {
  /** Id of the session. */
  id: string;
  title: string;
  /** The `targetUrl` that the session was created with. */
  targetUrl: string | null;
  source: Source;
  /** Whether the session has an `outputSchema`. */
  isStructured: boolean;
  /** What the session is doing, or how its last turn ended. `waiting`: the agent waits for a person's answer, or a person has yet to agree to its plan. `done`: the turn succeeded. `no_result`: the turn succeeded without a valid result. `page_error`: the turn succeeded but did not reach its page. */
  state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
  /** Reason for the states `waiting`, `retrying`, `failed`, `no_result` and `page_error`. */
  stateReason: string | null;
  turnState: TurnState;
  lastOutcome: RunOutcome | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Path that opens the session in a browser, to watch or join. For API keys without `sessions:write` it only allows watching. */
  shareUrl: string;
};

export type SessionSummaryPage = {
  success: true;
  data: Array<SessionSummary>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

export type Settled = {
  success: true;
};

/** Number of findings by severity. */
export type SeverityCounts = {
  critical: number;
  serious: number;
  moderate: number;
  minor: number;
  info: number;
};

/** A share link without its secret. Only a hash of the secret is stored. */
export type ShareLink = {
  /** Id of the link. */
  id: string;
  /** `view` can watch, `comment` can also annotate, and `drive` can also message the agent and control the browser. */
  role: "view" | "comment" | "drive";
  label: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the link expires. ISO 8601, UTC. Null if it never expires. */
  expiresAt: string | null;
  /** When the link was revoked. ISO 8601, UTC. Null if it is not revoked. */
  revokedAt: string | null;
};

export type ShareLinkCreated = {
  success: true;
  /** Path of the link, including its secret. The secret is returned only once. */
  shareUrl: string;
  record: ShareLink;
};

export type ShareLinkPage = {
  success: true;
  data: Array<ShareLink>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

export type ShareLinkRevoked = {
  success: true;
  record: ShareLink;
};

export type SharesRevoked = {
  success: true;
  /** Number of links that this call revoked. */
  revoked: number;
  /** Path of the session's new `shareUrl`. */
  shareUrl: string;
};

/** The variant that the live browser shows. */
export type ShownVariant = {
  success: true;
  /** Null for the page without a variant. */
  variant: string | null;
};

export type Skill = {
  name: string;
  description: string;
  /** SHA-256 of the skill's files. It stays the same for the session even if the deployment changes the skill. */
  version: string;
  /** `built_in` for a skill of the service, `deployment` for a skill in the operator's `SKILLS_DIR`. */
  source: "built_in" | "deployment";
  /** Number of files, including `SKILL.md`. */
  files: number;
};

export type SkillPage = {
  success: true;
  data: Array<Skill>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** Attribution that the session was created with. */
export type Source = "web" | "api" | "slack" | "cli";

/** A file that a test produced: a picture, a trace, or an attachment of its own. */
export type TestAttachment = {
  name: string;
  mediaType: string;
  sizeBytes: number;
  /** Id of the stored file. Download the file as an artifact of the session. Null if it was not stored. */
  evidenceId: string | null;
  /** Why the file was not stored. Null if it was stored. */
  problem: string | null;
};

/** Number of tests by result. A test that runs against control and variant counts twice. `flaky`: failed first, and passed in a retry. */
export type TestCounts = {
  total: number;
  passed: number;
  failed: number;
  flaky: number;
  skipped: number;
};

/** A test of a test run against one target. */
export type TestResult = {
  /** `control`: the page without the variant. `variant`: the page with it. */
  target: "control" | "variant";
  file: string;
  line: number;
  /** Titles of the groups that contain the test, then the title of the test. */
  titles: Array<string>;
  status: "passed" | "failed" | "flaky" | "skipped";
  /** Total duration of all attempts in milliseconds. */
  durationMs: number;
  /** Number of attempts: 1 plus the number of retries. */
  attempts: number;
  /** Errors of the last failed attempt, with their location in the test. */
  errors: Array<string>;
  /** Steps of the last attempt. */
  steps: Array<TestStep>;
  attachments: Array<TestAttachment>;
  annotations: Array<{
    type: string;
    description?: string | undefined;
  }>;
  /** Output of the test, truncated to 4,000 characters. */
  output: string;
};

/** A run of Playwright tests of the session's workspace. */
export type TestRun = {
  /** Id of the test run. */
  id: string;
  /** Number of this test run among the session's test runs. */
  number: number;
  /** `failed`: a test failed, or the run ended before all tests had run. `interrupted`: the service could not finish the run in two attempts. */
  status: "queued" | "running" | "passed" | "failed" | "cancelled" | "interrupted";
  startedBy: "agent" | "person";
  /** Test files and folders of the workspace. An empty list means every test file. */
  files: Array<string>;
  /** `control`: the page without the variant. `variant`: the page with it. */
  against: Array<"control" | "variant">;
  /** Key of the variant. Null if only the control is tested. */
  variant: string | null;
  /** Revision of the variant that was tested. Null before the run starts. */
  revision: number | null;
  /** Regular expression that the titles of the tests match. */
  grep: string | null;
  retries: number;
  /** URL that relative URLs in the tests are resolved against. */
  baseUrl: string | null;
  viewport: "desktop" | "tablet" | "phone";
  timeoutSeconds: number;
  counts: TestCounts;
  /** Explains why tests have no result, or which hosts the tests could not reach. Null if there is nothing to explain. */
  problem: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time in ISO 8601 format, UTC. */
  startedAt: string | null;
  /** Time in ISO 8601 format, UTC. */
  endedAt: string | null;
};

export type TestRunAnswer = {
  success: true;
  testRun: TestRunResults;
};

export type TestRunPage = {
  success: true;
  data: Array<TestRun>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A test run with the results of its tests. */
export type TestRunResults = {
  /** Id of the test run. */
  id: string;
  /** Number of this test run among the session's test runs. */
  number: number;
  /** `failed`: a test failed, or the run ended before all tests had run. `interrupted`: the service could not finish the run in two attempts. */
  status: "queued" | "running" | "passed" | "failed" | "cancelled" | "interrupted";
  startedBy: "agent" | "person";
  /** Test files and folders of the workspace. An empty list means every test file. */
  files: Array<string>;
  /** `control`: the page without the variant. `variant`: the page with it. */
  against: Array<"control" | "variant">;
  /** Key of the variant. Null if only the control is tested. */
  variant: string | null;
  /** Revision of the variant that was tested. Null before the run starts. */
  revision: number | null;
  /** Regular expression that the titles of the tests match. */
  grep: string | null;
  retries: number;
  /** URL that relative URLs in the tests are resolved against. */
  baseUrl: string | null;
  viewport: "desktop" | "tablet" | "phone";
  timeoutSeconds: number;
  counts: TestCounts;
  /** Explains why tests have no result, or which hosts the tests could not reach. Null if there is nothing to explain. */
  problem: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Time in ISO 8601 format, UTC. */
  startedAt: string | null;
  /** Time in ISO 8601 format, UTC. */
  endedAt: string | null;
  /** Id of the session. */
  sessionId: string;
  /** Sorted by start time. Empty until the run has ended. */
  results: Array<TestResult>;
};

export type TestRunStarted = {
  success: true;
  testRun: TestRun;
};

/** A step of a test, with its nested steps. */
export type TestStep = {
  title: string;
  durationMs: number;
  error?: string | undefined;
  steps?: Array<TestStep> | undefined;
};

/** A variant of the session when a report was published. */
export type TestedVariant = {
  /** Key of the variant. */
  variant: string;
  /** Number of the variant's newest revision when the report was published. */
  revision: number;
  /** Newest check of that revision. Null if it was not checked. */
  check: {
    status: "pass" | "warn" | "fail";
    /** Time in ISO 8601 format, UTC. */
    at: string;
  } | null;
};

/** A test run ended. */
export type TestsCompletedEvent = {
  kind: "tests.completed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  testRun: TestRun;
};

/** The tests of a test run are about to start, or some have ended. At most one event in 2 s. */
export type TestsProgressEvent = {
  kind: "tests.progress";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the test run. */
  testRunId: string;
  counts: TestCounts;
};

/** A test run was started. It may still wait for a free browser. */
export type TestsStartedEvent = {
  kind: "tests.started";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  testRun: TestRun;
};

/** A tool call started. */
export type ToolCallEvent = {
  kind: "tool.call";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the message that contains the call. Null for calls that an external agent makes through the MCP server. */
  messageId: string | null;
  /** Id of the tool call. */
  toolCallId: string;
  toolName: string;
  /** Any JSON value. */
  input: unknown;
};

/** Tool policy of the session. */
export type ToolPolicy = {
  /** Tools to add that the analysis profile leaves out. Has effect only with `outputSchema`. */
  include?: Array<string> | undefined;
  /** Tools to remove for the whole session. Wins over every other rule. A trailing `*` matches any suffix. */
  exclude?: Array<string> | undefined;
  /** Tools to remove on turns that no person started from the session page. */
  externalTurnExclude?: Array<string> | undefined;
};

/** A tool call ended. */
export type ToolResultEvent = {
  kind: "tool.result";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the tool call. */
  toolCallId: string;
  toolName: string;
  /** `unknown`: the call was interrupted, and it is not safe to repeat. */
  state: "succeeded" | "failed" | "unknown";
  /** Why a `failed` call was not run. `plan_first`: a person wants to agree to the plan first. Absent for a call that was run. */
  refusal?: "plan_first" | undefined;
  resultId: string;
  /** Start of the result, at most 2,000 characters. */
  preview: string;
  evidence: Array<EvidencePointer>;
  /** Duration in milliseconds. */
  durationMs: number;
};

/** Compaction of the agent's context ended. */
export type TurnCompactedEvent = {
  kind: "turn.compacted";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  how: "offloaded" | "summarized";
  tokensBefore: number;
  tokensAfter: number;
  messagesReplaced: number;
};

/** Compaction of the agent's context started. */
export type TurnCompactingEvent = {
  kind: "turn.compacting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  tokens: number;
  budgetTokens: number;
};

/** The turn continues after a wait. */
export type TurnResumedEvent = {
  kind: "turn.resumed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** `settled`: the turn got what it waited for. `deadline`: the deadline of the wait passed. `message`: a message steers the turn. `stopped`: the turn was stopped. */
  reason: "settled" | "deadline" | "message" | "stopped";
};

/** `running` as soon as a request is accepted, until no request is open. A request is open until its last retry has ended. */
export type TurnState = "idle" | "running" | "compacting";

/** The running turn read `steer` messages between two of its steps. */
export type TurnSteeredEvent = {
  kind: "turn.steered";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  /** Id of the request. A request is one accepted message. */
  steerRequestId: string;
  messageIds: Array<string>;
};

export type TurnStopped = {
  success: true;
  /** Id of the session. */
  sessionId: string;
  /** Id of the run that is being stopped, or null if no turn was running. */
  runId: string | null;
};

/** The turn waits for something outside of the service. No process runs it until it continues. */
export type TurnWaitingEvent = {
  kind: "turn.waiting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  waitingOn: WaitingOn;
};

/** Resource usage of a run. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
  modelCalls: number;
  toolCalls: number;
  /** Duration in milliseconds. */
  durationMs: number;
  /** The usage of sub-agents, at every depth, that no earlier run of the session has reported. Absent if there is none. */
  delegated?: UsageSum | undefined;
};

/** Total resource usage of one or more runs. */
export type UsageSum = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
  modelCalls: number;
  toolCalls: number;
  /** Duration in milliseconds. */
  durationMs: number;
};

/** A variant after a person's edit or check. */
export type VariantAnswer = {
  success: true;
  variant: VariantSummary;
};

/** A change of a page. */
export type VariantChange = {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setText";
  text: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setHtml";
  /** HTML without scripts and event handlers. */
  html: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setAttribute";
  name: string;
  value: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "removeAttribute";
  name: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "addClass";
  className: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "removeClass";
  className: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setStyle";
  /** CSS properties and values. */
  style: Record<string, string>;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "insert";
  position: "before" | "start" | "end" | "after";
  /** HTML without scripts and event handlers. */
  html: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "move";
  position: "before" | "start" | "end" | "after";
  /** CSS selector of the element that the position is relative to. */
  target: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** The element appears after the page has loaded, so it need not exist now. */
  late?: boolean | undefined;
  /** The change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "remove";
};

/** The content of a revision. */
export type VariantDocument = {
  pages: Array<VariantPage>;
};

/** The changes of the pages that one address pattern matches. */
export type VariantPage = {
  url: string;
  /** `exact`: the whole address without its fragment. `path`: origin and path. `prefix`: the address begins with `url`. `glob`: `*` matches any characters except `/`, `**` matches any characters. */
  match: "exact" | "path" | "prefix" | "glob";
  changes: Array<VariantChange>;
  /** Style sheet of the page, applied at document start. */
  css: string;
  /** Script that runs once in each document of the page, as a function body. */
  js: string;
};

/** A revision of a variant. */
export type VariantRevision = {
  /** Key of the variant. */
  variant: string;
  /** Number of the revision. */
  revision: number;
  author: "agent" | "person";
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Whether the live browser shows the variant. */
  isShown: boolean;
  document: VariantDocument;
  /** Newest check of the revision. Null if the revision was not checked. */
  check: CheckReport | null;
};

/** A revision as it was stored, with its newest check. */
export type VariantRevisionRead = {
  success: true;
  revision: VariantRevision;
};

/** A variant and the state of its newest revision. */
export type VariantSummary = {
  key: string;
  /** Number of the newest revision. */
  revision: number;
  /** Newest check of that revision. Null if it was not checked. */
  check: {
    status: "pass" | "warn" | "fail";
    /** Time in ISO 8601 format, UTC. */
    at: string;
  } | null;
  /** The published release. Null if the variant is not published. */
  publication: Publication | null;
};

export type VariantSummaryPage = {
  success: true;
  data: Array<VariantSummary>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A variant has a new revision, its check or its publication changed, or the live browser began or stopped showing it. */
export type VariantUpdatedEvent = {
  kind: "variant.updated";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string | null;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string | null;
  source: Source;
  variant: VariantSummary;
  /** Who wrote the revision. */
  author: "agent" | "person";
  /** Number of changes in the revision. */
  changeCount: number;
  /** Whether the live browser shows the variant. */
  isShown: boolean;
};

/** What a turn waits for outside of the service. */
export type WaitingOn = {
  /** `person`: an answer to a question. `control`: a person has control of the browser. `agents`: sub-agents. `tests`: test results. `budget`: a budget is used up. */
  kind: "person" | "agents" | "tests" | "control" | "budget";
  /** Ids of the open questions, sub-agents or test runs. Empty for `control` and `budget`. */
  ids: Array<string>;
  /** Time in ISO 8601 format, UTC. */
  since: string;
  /** When the wait ends if there is no answer or result by then. Null if there is no such deadline. */
  until: string | null;
  /** For `budget`: which budget is used up, and when the turn continues. */
  reason?: string | undefined;
};

/** An error without the envelope: only the message. */
export type BareError = {
  error: string;
};

/** An error. */
export type Error = {
  success: false;
  /** Error message. It starts with the path of the invalid field, if there is one. */
  error: string;
  code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "gone" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "internal" | "auth_unavailable" | "unavailable";
};

/** Parameters, body and response of every operation for programs. */
export type Operations = {
  /** Create a session and start its first turn. Stores the session, its messages and the job for its first turn in one transaction: a 2xx means stored. Later requests cannot change the session's settings, except its budget. A replay with the same `idempotencyKey` and an equal body returns 200 with the original ids. With an `outputSchema`, every turn ends with a typed deliverable. */
  createSession: {
    parameters: {  };
    body: CreateSession;
    answer: SessionCreated;
  };
  /** List sessions, newest first. Lists the sessions of the key's owner. A cursor is valid until its session is deleted. */
  listSessions: {
    parameters: { limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: SessionSummaryPage;
  };
  /** Read a session. Returns the session with its fixed settings. It does not include headers of tool servers or the callback's secret. */
  readSession: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SessionDetail;
  };
  /** Delete a session and everything that belongs to it. Stops the turn, then deletes the rows, files, browser and secrets of the session and its sub-agents. The response counts what was deleted. `pending` lists data that could not be removed from disk yet; the service retries until it is removed. Deleting the session again returns 404. */
  deleteSession: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SessionDeleted;
  };
  /** Read the budget of a session and what it has spent. Returns the limits of the session and what the session and its sub-agents have spent. A sub-agent has the budget of its root. */
  readBudget: {
    parameters: { sessionId: string };
    body: undefined;
    answer: BudgetAnswer;
  };
  /** Change the budget of a session and continue its turn. Sets, raises, lowers or removes limits. Turns of the session and its sub-agents that wait for a budget continue if their budget is no longer used up. The call can be repeated. */
  changeBudget: {
    parameters: { sessionId: string };
    body: BudgetChange;
    answer: BudgetAnswer;
  };
  /** List the sub-agents below a session. Lists every sub-agent below the session, at every depth: parents before their children. Each sub-agent has its own session, which the session's key can read but not control. */
  listAgents: {
    parameters: { sessionId: string };
    body: undefined;
    answer: AgentTree;
  };
  /** Create a token for the built-in MCP server. Gives an external agent access to tools of the session. With the token, an MCP client connects to the built-in server at `url` over Streamable HTTP. It is offered the server's utilities and those of the session's tools that the tool policy allows on a turn that no person started, without `elicit_user_input`, the tools for planning, requirements, delegation and skills, and the tools that act for the whole session (`publish_variant`, `deploy_landing_page`, `publish_qa_report`, `import_legacy_session`). */
  createMcpToken: {
    parameters: { sessionId: string };
    body: undefined;
    answer: McpToken;
  };
  /** Read a request's status. `pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows. Read the outcome from the `run.completed` event, the callback or the agent's status. */
  readRequestStatus: {
    parameters: { sessionId: string; requestId: string };
    body: undefined;
    answer: RequestStatus;
  };
  /** Follow a request's events. Streams the request's events as Server-Sent Events. Each stored event has its `seq` as `id`, its `kind` as `event` and the whole event as JSON in `data`. A replay is identical byte for byte. `message.delta` is sent live only and has no `id`. The stream covers all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; if no events are left, the response is 204, so that an `EventSource` stops reconnecting. A heartbeat comment is sent every 15 s. */
  streamRequest: {
    parameters: { sessionId: string; requestId: string; after?: number | undefined };
    body: undefined;
    answer: Response;
  };
  /** Read the agent's status. Read the deliverable of a structured session here: poll, or read it once after `run.completed`. */
  readAgentStatus: {
    parameters: { sessionId: string };
    body: undefined;
    answer: AgentStatus;
  };
  /** Post a follow-up message. Send exactly one of `text`, `message` and `messages`. A turn that this operation starts never counts as started by a person. `queued` is true if the message waits for a running turn or will be read by it. A session queues at most 100 messages; a further one is refused with 409 `conflict`. */
  postMessage: {
    parameters: { sessionId: string };
    body: FollowUp;
    answer: FollowUpAccepted;
  };
  /** Stop the running turn. Ends the run with the outcome `cancelled`. Queued messages run afterwards. */
  cancelTurn: {
    parameters: { sessionId: string };
    body: undefined;
    answer: TurnStopped;
  };
  /** List queued messages. Lists messages in the order in which the agent will get them. */
  listQueue: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Queue;
  };
  /** Edit a queued message. Replaces the text of the message. Returns 409 once its turn has started. */
  editQueued: {
    parameters: { sessionId: string; requestId: string };
    body: {
      text: string;
    };
    answer: Settled;
  };
  /** Remove a queued message. Completes the message's request as cancelled. Returns 409 once its turn has started. */
  removeQueued: {
    parameters: { sessionId: string; requestId: string };
    body: undefined;
    answer: Settled;
  };
  /** List the agent's questions, newest first */
  listElicitations: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: ElicitationPage;
  };
  /** Answer the agent's question. A question can be answered or declined once. The turn continues with the answer. Returns 400 if a value does not fit its field, and the question stays open. Returns 409 if the question is no longer open. */
  answerElicitation: {
    parameters: { sessionId: string; elicitationId: string };
    body: {
      /** A text. For a form, the values by field name. */
      answer: string | Record<string, unknown>;
    } | {
      decline: true;
    };
    answer: Settled;
  };
  /** Read the browser's status */
  readBrowser: {
    parameters: { sessionId: string };
    body: undefined;
    answer: BrowserStatus;
  };
  /** Retarget the live browser. A 202 means that the retarget is accepted. Poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` tells why the navigation was refused. If no browser runs, one is started first, which can take about 30 s. A session with `browser: false` returns 409. */
  retargetBrowser: {
    parameters: { sessionId: string };
    body: Retarget;
    answer: RetargetAccepted;
  };
  /** Read the last screenshot of the page. Returns a screenshot taken when the browser last became idle or closed. Pages show it while no browser runs. Returns 404 if there is none. */
  readPagePicture: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Response;
  };
  /** List the transcript. Lists messages, oldest first. Queued messages are not part of the transcript. */
  listMessages: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: number | undefined };
    body: undefined;
    answer: MessageRecordPage;
  };
  /** Submit annotations. The annotation overlay in the pages of the live browser calls this webhook, from any origin and without an API key: the unguessable session id is the credential. An annotation never starts a turn. */
  submitAnnotation: {
    parameters: { sessionId: string };
    body: AnnotationSubmission;
    answer: AnnotationAccepted;
  };
  /** List annotations, newest first */
  listAnnotations: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: AnnotationRecordPage;
  };
  /** Download an artifact. Returns evidence that a tool stored. Images are sent inline, everything else as a download. */
  readArtifact: {
    parameters: { sessionId: string; artifactId: string };
    body: undefined;
    answer: Response;
  };
  /** List callbacks and their attempts. Lists deliveries, newest first, each with all its attempts. */
  listDeliveries: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: DeliveryRecordPage;
  };
  /** Send a callback again. Sends the delivery again with the same body and id, in up to five more attempts. Returns 409 while the delivery is still pending. */
  redeliverCallback: {
    parameters: { sessionId: string; deliveryId: string };
    body: undefined;
    answer: Redelivered;
  };
  /** Replace the callback secret. Replaces the secret of the session's callback, or adds one. Until the overlap ends, `X-Service-Signature` is the signature with the new secret, `X-Service-Signature-Previous` the one with the old secret, and `Webhook-Signature` has both. Sending the same secret again changes nothing. Returns 409 if the session has no callback. */
  rotateCallbackSecret: {
    parameters: { sessionId: string };
    body: {
      /** The new secret. */
      secret: string;
      /** Hours for which deliveries are also signed with the old secret. */
      overlapHours?: number | undefined;
    };
    answer: CallbackChanged;
  };
  /** Enable callbacks to a host that was disabled. Callbacks to a host are disabled for their owner if every delivery there was dropped for days; deliveries are then dropped without a request. This enables them again. Send dropped deliveries again with `redeliver`. Returns 409 if the session has no callback. */
  enableCallback: {
    parameters: { sessionId: string };
    body: undefined;
    answer: CallbackChanged;
  };
  /** List share links, newest first. Lists active, expired and revoked links, without their secrets. */
  listShareLinks: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: ShareLinkPage;
  };
  /** Create a share link. The secret is random, stored only as a hash, and returned only once. The link opens the session page with its role until it expires or is revoked. */
  createShareLink: {
    parameters: { sessionId: string };
    body: {
      /** `view` can watch, `comment` can also annotate, and `drive` can also message the agent and control the browser. */
      role: "view" | "comment" | "drive";
      /** Label for lists, for example the recipient. */
      label?: string | undefined;
      /** When the link expires. ISO 8601 with a time zone. Omit for a link that never expires. */
      expiresAt?: string | undefined;
    };
    answer: ShareLinkCreated;
  };
  /** Revoke every share link and the shareUrl. Ends all share links, the `shareUrl` and the `liveViewUrl` of the session, with their cookies and open connections. Returns the new `shareUrl`. */
  revokeAllShareLinks: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SharesRevoked;
  };
  /** Revoke a share link. Ends the link, its cookies and its open connections within a second. Revoking it again changes nothing. */
  revokeShareLink: {
    parameters: { sessionId: string; linkId: string };
    body: undefined;
    answer: ShareLinkRevoked;
  };
  /** List variants */
  listVariants: {
    parameters: { sessionId: string };
    body: undefined;
    answer: VariantSummaryPage;
  };
  /** Read a revision with its newest check */
  readRevision: {
    parameters: { sessionId: string; variantKey: string; revision: string };
    body: undefined;
    answer: VariantRevisionRead;
  };
  /** List previews */
  listPreviews: {
    parameters: { sessionId: string };
    body: undefined;
    answer: PreviewPage;
  };
  /** Publish the newest revision of a variant. Makes an immutable release of the newest revision, whose script pages load within a minute. The newest check of the revision must have passed (`pass` or `warn`); `unchecked: true` publishes without a passed check. Returns 200 without a new release if the revision is already the current release. The session page calls this operation with a share cookie of the role `drive`. */
  publishVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      /** The newest revision that the caller has seen. If there is a newer one, the answer is 409. */
      revision?: number | undefined;
      /** Publishes without a passed check. The release is permanently marked as unchecked. */
      unchecked?: boolean | undefined;
    };
    answer: Published;
  };
  /** Make another release of a variant the current one. Makes the given release the current one, within a minute. It can also republish a release that was unpublished, and does not ask for `unchecked` again. */
  rollbackVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      /** Number or id of the release that becomes the current one. */
      release: number | string;
    };
    answer: PublicationChanged;
  };
  /** Unpublish a variant. The script of the current release becomes empty, so that pages which load it continue to work without errors. The scripts of single releases answer 410, also after a new release. Idempotent. */
  unpublishVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: undefined;
    answer: PublicationChanged;
  };
  /** List the releases of a variant, newest first */
  listReleases: {
    parameters: { sessionId: string; variantKey: string };
    body: undefined;
    answer: ReleasePage;
  };
  /** Export a revision */
  exportRevision: {
    parameters: { sessionId: string; variantKey: string; revision: string; format?: "script" | "json" | "growthbook" | "posthog" | undefined };
    body: undefined;
    answer: ExportedVariant;
  };
  /** Import a variant */
  importVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      format: "json" | "growthbook" | "posthog";
      /** An export of this service (its `document`, or the whole answer), GrowthBook's visual changesets or SDK payload, or PostHog's web experiments. */
      document: unknown;
      /** The newest revision, which the import replaces. 0 for a variant that does not exist yet. */
      baseRevision?: number | undefined;
      /** URL of the page for changes whose URL pattern has no equivalent in this service. */
      url?: string | undefined;
      /** Key, id or name of the experiment. Default: the first with changes. */
      experiment?: string | undefined;
      /** Key, name or number of the variation. Default: the first treatment with changes. */
      variation?: string | undefined;
    };
    answer: ImportedVariant;
  };
  /** List publications, newest first. Lists the publications of the key's owner, including those of deleted sessions and unpublished ones. */
  listPublications: {
    parameters: { limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: OwnedPublicationPage;
  };
  /** List the releases of a publication, newest first */
  listPublicationReleases: {
    parameters: { publicationId: string };
    body: undefined;
    answer: ReleasePage;
  };
  /** Make another release of a publication the current one */
  rollbackPublication: {
    parameters: { publicationId: string };
    body: {
      /** Number or id of the release that becomes the current one. */
      release: number | string;
    };
    answer: PublicationChanged;
  };
  /** Unpublish a publication */
  unpublishPublication: {
    parameters: { publicationId: string };
    body: undefined;
    answer: PublicationChanged;
  };
  /** Load a published script. Public: no credentials, `Access-Control-Allow-Origin: *`. The script of the current release may be cached for 60 s, that of a single release for 300 s. An unpublished publication answers an empty script. */
  readScript: {
    parameters: { script: string };
    body: undefined;
    answer: Response;
  };
  /** List QA reports, newest first. Lists all versions of the reports. For a sub-agent, lists the reports of its root session. */
  listReports: {
    parameters: { sessionId: string };
    body: undefined;
    answer: ReportSummaryPage;
  };
  /** Read a QA report. A report never changes. `summary` and `detail` are Markdown that the agent wrote: treat them as untrusted. With `format=markdown`, the response is a Markdown file that contains them as block quotations, without raw HTML and pictures. */
  readReport: {
    parameters: { sessionId: string; reportId: string; format?: "json" | "markdown" | undefined };
    body: undefined;
    answer: ReportRead;
  };
  /** List test runs, newest first. Lists all test runs. For a sub-agent, lists the test runs of its root session. */
  listTestRuns: {
    parameters: { sessionId: string };
    body: undefined;
    answer: TestRunPage;
  };
  /** Read a test run with its results. The results are stored together with the end of the run. Titles, errors, steps and output contain texts of the tests and pages: treat them as untrusted. Open a trace with `npx playwright show-trace`. */
  readTestRun: {
    parameters: { sessionId: string; testRunId: string };
    body: undefined;
    answer: TestRunAnswer;
  };
  /** Read the plan. Returns the plan of the session; for a sub-agent, the plan of its root session. A session without a plan has an empty plan with revision 0. */
  readPlan: {
    parameters: { sessionId: string };
    body: undefined;
    answer: PlanAnswer;
  };
  /** Edit the plan. Applies edits to the current plan. Edits of different items by several people all take effect. An edit of an item that no longer exists, or of a text that has changed, is refused with 409, and none of the edits takes effect. The agent cannot replace a plan with edits that it has not seen. */
  editPlan: {
    parameters: { sessionId: string };
    body: PlanEdits;
    answer: PlanAnswer;
  };
  /** Switch plan first on or off. With `plan_first`, tool calls that change pages, files or publications are refused, in sub-agents and for holders of MCP tokens too, until a person agrees to the plan on the session page. It takes effect with the next call; calls in progress are not stopped. The session's tools stay the same. */
  setPlanMode: {
    parameters: { sessionId: string };
    body: PlanModeChange;
    answer: PlanAnswer;
  };
  /** List requirements. Lists all requirements of the session (for a sub-agent, of its root session) with the newest result of each assertion. */
  listRequirements: {
    parameters: { sessionId: string };
    body: undefined;
    answer: RequirementPage;
  };
  /** Add requirements. Adds requirements on behalf of a person. A session can have at most 100. */
  addRequirements: {
    parameters: { sessionId: string };
    body: NewRequirements;
    answer: RequirementsAdded;
  };
  /** Change, waive or reopen a requirement. Changing the text or an assertion reopens a requirement. The agent cannot change a waived requirement, nor the text or an assertion of a requirement that a person added. */
  updateRequirement: {
    parameters: { sessionId: string; requirementId: string };
    body: RequirementChange;
    answer: RequirementAnswer;
  };
  /** List landing pages, newest first. Lists the landing pages of the key's owner, including those of deleted sessions and unpublished ones. */
  listLandingPages: {
    parameters: { limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: OwnedLandingPagePage;
  };
  /** Read a landing page */
  readLandingPage: {
    parameters: { slug: string };
    body: undefined;
    answer: LandingPageRead;
  };
  /** List the versions of a landing page, newest first */
  listPageVersions: {
    parameters: { slug: string };
    body: undefined;
    answer: LandingPageVersionPage;
  };
  /** Serve another version of a landing page. Serves the given version, within a second in every process. It also publishes an unpublished page again. */
  rollbackPage: {
    parameters: { slug: string };
    body: {
      /** Number of the version to serve. */
      version: number;
    };
    answer: LandingPageChanged;
  };
  /** Unpublish a landing page. Every URL of the page returns 410, within a second in every process. Its slug stays reserved. A rollback or a new deploy publishes it again. Idempotent. */
  unpublishPage: {
    parameters: { slug: string };
    body: undefined;
    answer: LandingPageChanged;
  };
  /** List the landing pages of a session. Lists the pages whose newest version the session deployed, oldest first. For a sub-agent, lists the pages of its root session. */
  listSessionPages: {
    parameters: { sessionId: string };
    body: undefined;
    answer: LandingPagePage;
  };
  /** Export a session. Downloads the session as one file. The JSON has its conversation, the newest revision of each variant, results, previews, annotations, sub-agents and evidence; `leftOut` lists the parts that it does not have. The HTML has the same content for people: one file without scripts and network access. Neither contains credentials, headers, callbacks, share links, the system prompt or metadata. The response is streamed. */
  exportSession: {
    parameters: { sessionId: string; format?: "json" | "html" | undefined; evidence?: "true" | "false" | undefined };
    body: undefined;
    answer: SessionExport;
  };
  /** Import a document into a session. Imports a document that another session, GrowthBook or PostHog has exported. Its variants become new variants; a key that already exists gets a number. Its conversation can be read at `imports/:importId`, and the agent can read it too. The document is validated as a whole before anything is stored. Returns 200 without a change if the document was imported before. `leftOut` lists the parts that were not imported. */
  importIntoSession: {
    parameters: { sessionId: string };
    body: {
      [field: string]: unknown;
    };
    answer: DocumentImported;
  };
  /** List imports, newest first */
  listImports: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: ImportSummaryPage;
  };
  /** Read an import and its conversation */
  readImport: {
    parameters: { sessionId: string; importId: string; limit?: number | undefined; cursor?: number | undefined };
    body: undefined;
    answer: ImportDetail;
  };
  /** List skills. Lists the skills that the session was created with, ordered by name: procedures in the Agent Skills format that its agent reads, and scripts that it runs in the sandbox. Empty for a session without a sandbox, and for a session from before the service had skills. */
  listSkills: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SkillPage;
  };
  /** Check liveness */
  readHealth: {
    parameters: {  };
    body: undefined;
    answer: Health;
  };
  /** Check readiness. Returns 200 if every part that a turn needs is available, otherwise 503. Needs no key; with a valid API key, and to processes on the machine of a service whose `BASE_URL` is a loopback address, `checks` has the state of each part. */
  readReadiness: {
    parameters: {  };
    body: undefined;
    answer: Readiness;
  };
  /** Read the OpenAPI document. Send the `ETag` as `If-None-Match` to get a 304 if the document has not changed. */
  readOpenApi: {
    parameters: {  };
    body: undefined;
    answer: Response;
  };
};

/** Method and path of every operation for programs. */
export const OPERATIONS = {
  createSession: {"method":"POST","path":"/api/session","query":[],"hasBody":true,"isRaw":false},
  listSessions: {"method":"GET","path":"/api/sessions","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  readSession: {"method":"GET","path":"/api/sessions/:sessionId","query":[],"hasBody":false,"isRaw":false},
  deleteSession: {"method":"DELETE","path":"/api/sessions/:sessionId","query":[],"hasBody":false,"isRaw":false},
  readBudget: {"method":"GET","path":"/api/sessions/:sessionId/budget","query":[],"hasBody":false,"isRaw":false},
  changeBudget: {"method":"PATCH","path":"/api/sessions/:sessionId/budget","query":[],"hasBody":true,"isRaw":false},
  listAgents: {"method":"GET","path":"/api/sessions/:sessionId/agents","query":[],"hasBody":false,"isRaw":false},
  createMcpToken: {"method":"POST","path":"/api/sessions/:sessionId/mcp-token","query":[],"hasBody":false,"isRaw":false},
  readRequestStatus: {"method":"GET","path":"/api/sessions/:sessionId/requests/:requestId","query":[],"hasBody":false,"isRaw":false},
  streamRequest: {"method":"GET","path":"/api/sessions/:sessionId/requests/:requestId/stream","query":["after"],"hasBody":false,"isRaw":true},
  readAgentStatus: {"method":"GET","path":"/api/sessions/:sessionId/agent/status","query":[],"hasBody":false,"isRaw":false},
  postMessage: {"method":"POST","path":"/api/sessions/:sessionId/agent/messages","query":[],"hasBody":true,"isRaw":false},
  cancelTurn: {"method":"POST","path":"/api/sessions/:sessionId/agent/cancel","query":[],"hasBody":false,"isRaw":false},
  listQueue: {"method":"GET","path":"/api/sessions/:sessionId/queue","query":[],"hasBody":false,"isRaw":false},
  editQueued: {"method":"PATCH","path":"/api/sessions/:sessionId/queue/:requestId","query":[],"hasBody":true,"isRaw":false},
  removeQueued: {"method":"DELETE","path":"/api/sessions/:sessionId/queue/:requestId","query":[],"hasBody":false,"isRaw":false},
  listElicitations: {"method":"GET","path":"/api/sessions/:sessionId/elicitations","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  answerElicitation: {"method":"POST","path":"/api/sessions/:sessionId/elicitations/:elicitationId","query":[],"hasBody":true,"isRaw":false},
  readBrowser: {"method":"GET","path":"/api/sessions/:sessionId/browser","query":[],"hasBody":false,"isRaw":false},
  retargetBrowser: {"method":"POST","path":"/api/sessions/:sessionId/browser","query":[],"hasBody":true,"isRaw":false},
  readPagePicture: {"method":"GET","path":"/api/sessions/:sessionId/live/picture","query":[],"hasBody":false,"isRaw":true},
  listMessages: {"method":"GET","path":"/api/sessions/:sessionId/messages","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  submitAnnotation: {"method":"POST","path":"/api/sessions/:sessionId/annotations/webhook","query":[],"hasBody":true,"isRaw":false},
  listAnnotations: {"method":"GET","path":"/api/sessions/:sessionId/annotations","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  readArtifact: {"method":"GET","path":"/api/sessions/:sessionId/artifacts/:artifactId","query":[],"hasBody":false,"isRaw":true},
  listDeliveries: {"method":"GET","path":"/api/sessions/:sessionId/deliveries","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  redeliverCallback: {"method":"POST","path":"/api/sessions/:sessionId/deliveries/:deliveryId/redeliver","query":[],"hasBody":false,"isRaw":false},
  rotateCallbackSecret: {"method":"POST","path":"/api/sessions/:sessionId/callback/secret","query":[],"hasBody":true,"isRaw":false},
  enableCallback: {"method":"POST","path":"/api/sessions/:sessionId/callback/enable","query":[],"hasBody":false,"isRaw":false},
  listShareLinks: {"method":"GET","path":"/api/sessions/:sessionId/share-links","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  createShareLink: {"method":"POST","path":"/api/sessions/:sessionId/share-links","query":[],"hasBody":true,"isRaw":false},
  revokeAllShareLinks: {"method":"POST","path":"/api/sessions/:sessionId/share-links/revoke-all","query":[],"hasBody":false,"isRaw":false},
  revokeShareLink: {"method":"DELETE","path":"/api/sessions/:sessionId/share-links/:linkId","query":[],"hasBody":false,"isRaw":false},
  listVariants: {"method":"GET","path":"/api/sessions/:sessionId/variants","query":[],"hasBody":false,"isRaw":false},
  readRevision: {"method":"GET","path":"/api/sessions/:sessionId/variants/:variantKey/revisions/:revision","query":[],"hasBody":false,"isRaw":false},
  listPreviews: {"method":"GET","path":"/api/sessions/:sessionId/previews","query":[],"hasBody":false,"isRaw":false},
  publishVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/publish","query":[],"hasBody":true,"isRaw":false},
  rollbackVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/rollback","query":[],"hasBody":true,"isRaw":false},
  unpublishVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/unpublish","query":[],"hasBody":false,"isRaw":false},
  listReleases: {"method":"GET","path":"/api/sessions/:sessionId/variants/:variantKey/releases","query":[],"hasBody":false,"isRaw":false},
  exportRevision: {"method":"GET","path":"/api/sessions/:sessionId/variants/:variantKey/revisions/:revision/export","query":["format"],"hasBody":false,"isRaw":false},
  importVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/import","query":[],"hasBody":true,"isRaw":false},
  listPublications: {"method":"GET","path":"/api/publications","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  listPublicationReleases: {"method":"GET","path":"/api/publications/:publicationId/releases","query":[],"hasBody":false,"isRaw":false},
  rollbackPublication: {"method":"POST","path":"/api/publications/:publicationId/rollback","query":[],"hasBody":true,"isRaw":false},
  unpublishPublication: {"method":"POST","path":"/api/publications/:publicationId/unpublish","query":[],"hasBody":false,"isRaw":false},
  readScript: {"method":"GET","path":"/v/:script","query":[],"hasBody":false,"isRaw":true},
  listReports: {"method":"GET","path":"/api/sessions/:sessionId/reports","query":[],"hasBody":false,"isRaw":false},
  readReport: {"method":"GET","path":"/api/sessions/:sessionId/reports/:reportId","query":["format"],"hasBody":false,"isRaw":false},
  listTestRuns: {"method":"GET","path":"/api/sessions/:sessionId/tests","query":[],"hasBody":false,"isRaw":false},
  readTestRun: {"method":"GET","path":"/api/sessions/:sessionId/tests/:testRunId","query":[],"hasBody":false,"isRaw":false},
  readPlan: {"method":"GET","path":"/api/sessions/:sessionId/plan","query":[],"hasBody":false,"isRaw":false},
  editPlan: {"method":"POST","path":"/api/sessions/:sessionId/plan/edits","query":[],"hasBody":true,"isRaw":false},
  setPlanMode: {"method":"POST","path":"/api/sessions/:sessionId/plan/mode","query":[],"hasBody":true,"isRaw":false},
  listRequirements: {"method":"GET","path":"/api/sessions/:sessionId/requirements","query":[],"hasBody":false,"isRaw":false},
  addRequirements: {"method":"POST","path":"/api/sessions/:sessionId/requirements","query":[],"hasBody":true,"isRaw":false},
  updateRequirement: {"method":"PATCH","path":"/api/sessions/:sessionId/requirements/:requirementId","query":[],"hasBody":true,"isRaw":false},
  listLandingPages: {"method":"GET","path":"/api/pages","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  readLandingPage: {"method":"GET","path":"/api/pages/:slug","query":[],"hasBody":false,"isRaw":false},
  listPageVersions: {"method":"GET","path":"/api/pages/:slug/versions","query":[],"hasBody":false,"isRaw":false},
  rollbackPage: {"method":"POST","path":"/api/pages/:slug/rollback","query":[],"hasBody":true,"isRaw":false},
  unpublishPage: {"method":"POST","path":"/api/pages/:slug/unpublish","query":[],"hasBody":false,"isRaw":false},
  listSessionPages: {"method":"GET","path":"/api/sessions/:sessionId/pages","query":[],"hasBody":false,"isRaw":false},
  exportSession: {"method":"GET","path":"/api/sessions/:sessionId/export","query":["format","evidence"],"hasBody":false,"isRaw":false},
  importIntoSession: {"method":"POST","path":"/api/sessions/:sessionId/import","query":[],"hasBody":true,"isRaw":false},
  listImports: {"method":"GET","path":"/api/sessions/:sessionId/imports","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  readImport: {"method":"GET","path":"/api/sessions/:sessionId/imports/:importId","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  listSkills: {"method":"GET","path":"/api/sessions/:sessionId/skills","query":[],"hasBody":false,"isRaw":false},
  readHealth: {"method":"GET","path":"/api/health","query":[],"hasBody":false,"isRaw":false},
  readReadiness: {"method":"GET","path":"/api/ready","query":[],"hasBody":false,"isRaw":false},
  readOpenApi: {"method":"GET","path":"/api/openapi.json","query":[],"hasBody":false,"isRaw":true},
} as const;
