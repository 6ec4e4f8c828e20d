// Generated from the contract by `npm run build:client`. Do not edit: a test compares it with the contract.

/** Who accepted that the check could not examine a change, and when. */
export type AcceptedChange = {
  /** `caller`: a client with an API key. `person`: a visitor of the session page who may control the session. */
  by: "caller" | "person";
  /** Time in ISO 8601 format, UTC. */
  at: string;
  /** Number of the revision that was accepted. */
  revision: number;
};

/** A sub-agent reported its progress. */
export type AgentProgressEvent = {
  kind: "agent.progress";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Name of the sub-agent, unique in its tree. */
  name: string;
  /** The task that the sub-agent was given. */
  objective: string;
  browser: "own" | "shared" | "none";
  /** Outcome of the sub-agent's last turn. `running` until that turn has ended, even while it waits, and again after a message from its parent has started a new turn. */
  status: "running" | "succeeded" | "failed" | "cancelled";
  /** The last step of the sub-agent, in words. Null before its first step. */
  lastStep: string | null;
  /** The last progress report of the sub-agent. Null if there is none. */
  progress: string | null;
  /** The result that the sub-agent submitted. If it succeeded without submitting a result, its last text. Absent if there is no result. */
  result?: unknown | undefined;
  /** Why the sub-agent failed. Null if it has not failed. */
  error: string | null;
  /** Whether the sub-agent submitted `result` itself. If false, `result` is its last text or absent. */
  submitted: boolean;
  /** Usage of the finished turns of the sub-agent and of the sub-agents below it. */
  usage: UsageSum;
  statusUrl: string;
  streamUrl: string;
  /** Absolute URL of the live view of the browser that the sub-agent uses, which may be its parent's. Null unless that browser is ready. */
  liveViewUrl: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the sub-agent's last turn ended. ISO 8601, UTC. Null while the turn runs. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Name of the sub-agent, unique in its tree. */
  name: string;
  status: "succeeded" | "failed" | "cancelled";
  /** Whether the sub-agent submitted `result` itself. If false, `result` is its last text or absent. */
  submitted: boolean;
  /** The result. If its JSON is longer than 4 KiB, the beginning of that JSON as a string, and `isResultCut` is true. Absent if there is no result. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the run in progress. Null if no run is in progress. */
  activeRunId: string | null;
  /** Id of the newest run that has started. Null before the first run starts. */
  lastRunId: string | null;
  /** Result of the newest run. It is final when `turnState` is not `running`, the result's `runId` equals `lastRunId` and the result's `status` is not `pending`. Null in a session without an `outputSchema`, and before the first run starts. */
  deliverable: Deliverable | null;
  /** The limits on live sub-agents that apply now: those of the session, or the deployment's if they are lower. */
  delegation: {
    maxLiveChildren: number;
    maxLiveBrowsers: number;
  };
  /** State of the session's workspace. `uninitialized` until it starts for the first time. */
  startupStatus: "uninitialized" | "starting" | "ready" | "error";
  /** Outcome of the newest run, whose id is `lastRunId`. Null before the first run starts and while the newest run is in progress. */
  lastRun: {
    outcome: RunOutcome;
    /** Why the run failed. Null unless `outcome` is `errored`. */
    error: string | null;
  } | null;
  /** Number of queued messages. */
  queued: number;
  /** Budget of the session. Null if it has none. In a session with sub-agents, `spent` may be up to 15 s old. */
  budget: BudgetState | null;
  /** The host of the browser that the session uses, which may be its parent's. Null if no browser of the session runs or starts. */
  browserHost: RunningHost | null;
  /** How the scripts of `browser_execute` are confined, or why this deployment runs none. */
  scripts: string;
  /** Tools that no session of this deployment has, because they cannot work on it, by reason. */
  missingTools: Array<{
    tools: Array<string>;
    reason: string;
  }>;
  /** Variants of the session's pages. Empty for a sub-agent: variants belong to its root session. */
  variants: Array<VariantSummary>;
  /** The newest version of each QA report of the session. Empty for a sub-agent. */
  reports: Array<ReportSummary>;
  /** Landing pages that the session deployed. Empty for a sub-agent. */
  pages: Array<LandingPage>;
};

/** The sub-agents below a session. */
export type AgentTree = {
  success: true;
  agents: Array<AgentRecord>;
};

/** A sub-agent, as the session page lists it. `objective` is cut off after 500 characters. */
export type AgentView = {
  /** Id of the sub-agent, which is also the id of its session. */
  agentId: string;
  /** Id of the session that started the sub-agent. */
  parentId: string;
  /** Depth in the tree of sub-agents. 1 for a sub-agent whose parent session is not a sub-agent itself. */
  depth: number;
  /** Name of the sub-agent, unique in its tree. */
  name: string;
  /** The task that the sub-agent was given. */
  objective: string;
  browser: "own" | "shared" | "none";
  /** Outcome of the sub-agent's last turn. `running` until that turn has ended, even while it waits, and again after a message from its parent has started a new turn. */
  status: "running" | "succeeded" | "failed" | "cancelled";
  /** The last step of the sub-agent, in words. Null before its first step. */
  lastStep: string | null;
  /** The last progress report of the sub-agent. Null if there is none. */
  progress: string | null;
  /** The result that the sub-agent submitted. If it succeeded without submitting a result, its last text. Absent if there is no result. */
  result?: unknown | undefined;
  /** Why the sub-agent failed. Null if it has not failed. */
  error: string | null;
  /** Whether the sub-agent submitted `result` itself. If false, `result` is its last text or absent. */
  submitted: boolean;
  /** Usage of the finished turns of the sub-agent and of the sub-agents below it. */
  usage: UsageSum;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the sub-agent's last turn ended. ISO 8601, UTC. Null while the turn runs. */
  settledAt: string | null;
  /** True if the JSON of the result is longer than 4,096 characters: `result` is then the beginning of that JSON as a string. Absent otherwise. */
  isResultCut?: boolean | undefined;
  /** What the sub-agent's turn waits for. Null if it does not wait. */
  waitingOn: "person" | "agents" | "tests" | "control" | "budget" | null;
  /** When the last screenshot of the page that the sub-agent works on was taken. ISO 8601, UTC. Null if there is none. */
  pictureTakenAt: string | null;
};

/** The sub-agents below a session, as its page lists them: at most 100. If there are more, the oldest of those that have ended are left out. */
export type AgentViews = {
  success: true;
  agents: Array<AgentView>;
};

export type AnnotationAccepted = {
  ok: true;
};

/** The annotation after the change. */
export type AnnotationAnswer = {
  success: true;
  annotation: AnnotationRecord;
};

export type AnnotationChange = {
  /** `open`: the annotation can be sent to the agent again. `resolved`: nothing is left to do. */
  status: "open" | "resolved";
  /** What was done. Only with `resolved`. */
  resolution?: string | undefined;
};

/** The status of an annotation changed. */
export type AnnotationChangedEvent = {
  kind: "annotation.changed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  annotationId: string;
  /** `sent`: a message to the agent contains the annotation. `lost`: none of its elements was on its page when the service looked for them; when one is back, the annotation is `open` again. */
  status: "open" | "sent" | "resolved" | "lost";
  /** What was done about the annotation. Null unless it is resolved, or if no text was given. */
  resolution: string | null;
  /** `person` is also a program with an API key. Null unless the annotation is resolved. */
  resolvedBy: "agent" | "person" | null;
  /** The request with whose message the annotation was last sent. Null if it was not sent. */
  sentRequestId: string | null;
};

/** A submission of annotations, with every field that was sent. Fields of the service replace sent ones of the same name. */
export type AnnotationRecord = {
  id: string;
  event: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** `sent`: a message to the agent contains the annotation. `lost`: none of its elements was on its page when the service looked for them; when one is back, the annotation is `open` again. */
  status: "open" | "sent" | "resolved" | "lost";
  /** What was done about the annotation. Null unless it is resolved, or if no text was given. */
  resolution: string | null;
  /** `person` is also a program with an API key. Null unless the annotation is resolved. */
  resolvedBy: "agent" | "person" | null;
  /** The request with whose message the annotation was last sent. Null if it was not sent. */
  sentRequestId: string | null;
  [field: string]: unknown;
};

export type AnnotationRecordPage = {
  success: true;
  data: Array<AnnotationRecord>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** An annotation was removed. */
export type AnnotationRemovedEvent = {
  kind: "annotation.removed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  annotationId: string;
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Why the assertion does not hold, or why it was not checked. Null if it holds. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  dialogType: string;
  message: string;
  answer: "accepted" | "dismissed";
  /** Who answered. `script`: the agent's script. `default`: the service, because no script listened. `timeout`: the service, because the script that listened did not answer in time. `person`: the person who had control of the browser. */
  answeredBy: "script" | "default" | "timeout" | "person";
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  name: string;
  url: string;
  /** Path of the file in the session's workspace. Null if the file was not stored. */
  path: string | null;
  /** Size of the file in bytes. Null if the file was not stored. */
  size: number | null;
  /** Why the file was not stored. Null if it was stored. */
  error: string | null;
};

export type BrowserStatus = {
  /** `idle`: the session has not used a browser yet. `creating`: a browser starts, or the session waits for one. `ready`: the browser runs. `expired`: the browser was closed, for example because it was idle. `error`: the browser could not start or crashed. After `expired` and `error`, the next use starts a browser again. */
  status: "idle" | "creating" | "ready" | "expired" | "error";
  /** Id of the session that the browser belongs to. For a sub-agent that shares its parent's browser, the id of the parent. It is set even if the session has not used a browser yet; null only if the session is removed while its status is read. */
  sessionId: string | null;
  /** Absolute URL of a read-only page with only the live view. Anyone with the link can open it. Null unless `status` is `ready`. Revoking all share links replaces it. */
  liveViewUrl: string | null;
  /** The page that the session currently targets. Null if it targets none. */
  desiredUrl: string | null;
  /** The last page that the browser reached; null if it has reached none yet. After a successful retarget, this is the requested URL, even if that URL redirects. So a client can poll until this field equals the requested URL. When a retarget or a browser start begins to load the URL that is already in this field, the field is set to null until the browser has reached the page again. */
  lastNavigatedUrl: string | null;
  /** The address that the browser currently shows, after redirects. Null if it has not shown a page yet. */
  currentUrl: string | null;
  /** Why the last navigation was refused, or why the browser could not start. Null again once the browser reaches a page. */
  lastError: string | null;
  /** What happened when the running browser was started in a session that had one already: whether logins were restored. Absent for the session's first browser, and while none runs. */
  restartNotice?: string | undefined;
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  status: "idle" | "creating" | "ready" | "expired" | "error";
  /** The page that the session currently targets. Null if it targets none. */
  desiredUrl: string | null;
  /** The last page that the browser reached. Follows the same rules as `lastNavigatedUrl` of `BrowserStatus`. */
  lastNavigatedUrl: string | null;
  /** The address that the browser currently shows, after redirects. Null if it has not shown a page yet. */
  currentUrl: string | null;
  /** Why the last navigation was refused, or why the browser could not start. Null again once the browser reaches a page. */
  lastError: string | null;
  /** What happened when the running browser was started in a session that had one already: whether logins were restored. Absent for the session's first browser, and while none runs. */
  restartNotice?: string | undefined;
  /** When the last screenshot of the page was taken. ISO 8601, UTC. Null if there is none. Present only while no browser runs (`expired`, `error`). */
  pictureTakenAt?: string | null | undefined;
};

/** All browsers that may run are in use, so the session waits for one. The wait ends with a `browser.status` event whose status is not `creating`. */
export type BrowserWaitingEvent = {
  kind: "browser.waiting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** Position in the queue. 1 is next. */
  position: number;
};

/** What the session and its sub-agents may spend together, over all of their turns. When a limit is reached, the turn waits until the budget is raised. Limits are compared before each model call, so the last call may exceed a limit. */
export type Budget = {
  /** Limit on the cost of model calls, in US dollars. Refused with 400 if the deployment has no price for its model (`MODEL_PRICES`). */
  usd?: number | undefined;
  /** Limit on the tokens of all model calls: the sum of input, cached input and output. */
  tokens?: number | undefined;
  /** Limit on the total working time of all turns, in minutes, including the turns of sub-agents. Time during which a turn waits does not count. If several sub-agents work at the same time, the time of each one counts. */
  minutes?: number | undefined;
};

export type BudgetAnswer = {
  success: true;
  budget: BudgetState;
};

/** New limits of a session. An omitted limit stays unchanged; null removes a limit. */
export type BudgetChange = {
  /** Limit on the cost of model calls, in US dollars. Refused with 400 if the deployment has no price for its model (`MODEL_PRICES`). */
  usd?: number | null | undefined;
  /** Limit on the tokens of all model calls: the sum of input, cached input and output. */
  tokens?: number | null | undefined;
  /** Limit on the total working time of all turns, in minutes, including the turns of sub-agents. Time during which a turn waits does not count. If several sub-agents work at the same time, the time of each one counts. */
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
    /** Spent US dollars, at the price at the time of each call. Null if the deployment has no price for its model. */
    usd: number | null;
    /** Spent tokens. */
    tokens: number;
    /** Spent working minutes. */
    minutes: number;
  };
};

/** Webhook registration for run lifecycle events. */
export type Callback = {
  /** URL that receives events by POST. Loopback, private and link-local hosts are refused. */
  url: string;
  /** When present, every delivery is signed with HMAC-SHA256. */
  secret?: string | undefined;
  /** Events to deliver. By default `run.started` and `run.completed`; `run.waiting` and `run.resumed` are delivered only if they are named. */
  events?: Array<"run.started" | "run.completed" | "run.waiting" | "run.resumed"> | undefined;
};

export type CallbackChanged = {
  success: true;
  callback: CallbackRecord;
};

export type CallbackRecord = {
  /** URL of the receiver. Values in its query and its fragment are replaced by `***`. */
  url: string;
  events: Array<"run.started" | "run.completed" | "run.waiting" | "run.resumed">;
  /** Whether deliveries are signed with a secret. */
  isSigned: boolean;
  /** Until when deliveries are also signed with the replaced secret. ISO 8601, UTC. Null if no replaced secret is in use. */
  previousSecretExpiresAt: string | null;
  /** When callbacks to this host began to fail: the time of the first dropped callback since the last accepted one. Callbacks of all sessions of the same owner count. ISO 8601, UTC. Null if none was dropped since then. */
  failingSince: string | null;
  /** If callbacks to this host are disabled, the time of the last failed delivery. One hour after it, the service sends deliveries to the host again: an accepted one enables the host, a failed one starts the next hour. ISO 8601, UTC. Null if callbacks are not disabled. */
  disabledAt: string | null;
};

export type Capabilities = {
  /** `false` removes the browser and its tools. */
  browser?: boolean | undefined;
  /** `false` removes the workspace and its tools. The browser runs in the sandbox, so the browser and its tools are removed too. */
  sandbox?: boolean | undefined;
};

/** A problem that a check found. */
export type CheckFinding = {
  level: "fail" | "warn";
  code: "nothing_to_check" | "page_failed" | "no_match" | "several_matches" | "wide_pattern" | "not_applied" | "no_effect" | "not_visible" | "not_examined" | "lost_at_hydration" | "lost_at_render" | "fight" | "lost_at_navigation" | "stayed_after_leaving" | "repeated" | "revert_left_trace" | "script_error" | "console_error" | "failed_request" | "overflow" | "covered" | "accessibility" | "duplicate_id" | "layout_shift" | "flicker" | "slow_script" | "slow_mutations" | "leak" | "dead_link" | "dead_form" | "dead_control" | "trapped" | "focus_lost" | "csp_blocks_script" | "requirement";
  /** Id of the change that the finding is about. Null if it is not about a single change. */
  changeId: string | null;
  /** Id of the requirement whose assertion does not hold. Absent for other findings. */
  requirementId?: string | undefined;
  url: string;
  /** Viewport that the finding is about. Null if it is not about a single viewport. */
  viewport: "desktop" | "tablet" | "phone" | null;
  /** What was found and, where known, what to do about it. */
  message: string;
  /** Picture of the part of the page that the finding is about, with the variant. At most 12 findings of the level `fail` have one. */
  picture?: EvidencePointer | undefined;
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
  /** One sentence for each part that the check could not examine. */
  notes: Array<string>;
};

/** What a check found about one change on one page. `not_applicable` means that the check could not test this, for example because the change was not applied. */
export type CheckedChange = {
  /** Id of the change, unique in the variant. */
  id: string;
  /** Number of elements that the change's selector matched when the check loaded the page. For `remove`, their number without the variant. */
  matched: number;
  /** What the check concludes about the change. `not_examined`: the change is in the document, and the check could not see its effect; the check passes only if this is accepted. Absent in reports of earlier versions of the service. */
  outcome?: "proved" | "failed" | "not_examined" | undefined;
  /** Why the change was not examined. Null for the other outcomes. */
  reason?: string | null | undefined;
  accepted?: AcceptedChange | undefined;
  applied: "ok" | "failed" | "not_applicable";
  /** Whether the change stayed applied while the page's scripts started. */
  hydration: "ok" | "failed" | "not_applicable";
  /** Whether the change was applied again after its element was rendered again. */
  rerender: "ok" | "failed" | "not_applicable";
  /** Whether the change was applied again after the browser left the page and returned. */
  navigation: "ok" | "failed" | "not_applicable";
  /** Whether reverting the change restored the page completely. */
  revert: "ok" | "failed" | "not_applicable";
  /** `true` if the change's selector matched an element in a shadow root, where other tools do not search. Otherwise absent. */
  isInShadow?: boolean | undefined;
};

/** What a check found on one page at one viewport width. */
export type CheckedPage = {
  /** Page that was opened. */
  url: string;
  viewport: "desktop" | "tablet" | "phone";
  changes: Array<CheckedChange>;
  /** Time from the first paint until the last change was applied, in milliseconds. 0 if all changes were applied before the first paint. Null if no change was applied or the page painted nothing. */
  paintToAppliedMs: number | null;
  /** How much the variant increases the page's layout shift score, compared with the page without the variant. */
  layoutShift: number;
  /** Pictures of the page without the variant (`before`), with the variant (`after`), and of the difference. Null for a picture that was not taken. */
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
  /** Why the assertion does not hold, or why it was not checked. Null if it holds. */
  message: string | null;
};

/** A person has control of the browser no longer. */
export type ControlEndedEvent = {
  kind: "control.ended";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  name: string;
  /** `given_back`: by the person. `idle`: two minutes without input. `away`: the person's connection ended 30 s ago. `taken`: another person took control. `revoked`: the person may not control the browser any more. `host`: the browser is gone. */
  reason: "given_back" | "idle" | "away" | "taken" | "revoked" | "host";
  takenBy: string | null;
  /** The person's note to the agent. */
  note: string | null;
  /** Address of the page at the end. */
  address: string | null;
  /** Names of the fields that the person filled, at most 20, never a value. */
  fields: Array<string>;
  clicks: number;
};

/** A person took control of the browser. */
export type ControlTakenEvent = {
  kind: "control.taken";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  name: string;
  /** Name of the person who had control until then. */
  from: string | null;
};

/** A session to create. Later requests cannot change these settings, except `budget` and the secret of `callback`. */
export type CreateSession = {
  /** Messages, at least one of them from the user. The last user message starts the turn. */
  messages: Array<Message>;
  /** Page to work on. */
  targetUrl?: string | undefined;
  /** Additional pages to work on. */
  targetPageUrls?: Array<string> | undefined;
  /** Opaque caller metadata, stored with the session. */
  metadata?: Record<string, unknown> | undefined;
  /** A replay with the same key and an equal body returns the original session and creates no duplicate. The same key with a different body is refused with 422. Sessions of different owners do not share keys. */
  idempotencyKey?: string | undefined;
  /** Stable caller identity, used to attribute turns. */
  userId?: string | undefined;
  /** Attribution of the session, which every event contains. No value makes a turn count as started by a person. */
  source?: "web" | "api" | "slack" | "cli" | undefined;
  callback?: Callback | undefined;
  /** JSON Schema of the result, at most 64 KiB. Every turn ends with a JSON value that is valid against the schema, or with a failed deliverable. The root of the schema must have the type `object`. The schema must accept at least one finite JSON value and compile within the time limit. While too many schemas of the same owner are being checked, further ones are refused with 429. */
  outputSchema?: Record<string, unknown> | undefined;
  tools?: ToolPolicy | undefined;
  /** Caller instructions, appended to the agent's base prompt. */
  systemPrompt?: string | undefined;
  /** Remote tool servers by id, at most 10. The id `builtin` does not count and adds no server: its `url` replaces the deployment's URL of the built-in server. `headers`, `auth` and `type: sse` are refused for it. */
  mcpServers?: Record<string, McpServer> | undefined;
  capabilities?: Capabilities | undefined;
  /** Lets the agent delegate to sub-agents. With `source: "web"`, `true` has an effect only if the deployment's feature flag is on for the `userId`. */
  subAgents?: boolean | undefined;
  delegation?: DelegationCaps | undefined;
  interaction?: Interaction | undefined;
  budget?: Budget | undefined;
};

/** Limits on live sub-agents, that is, sub-agents whose turn has not ended. They have no effect unless `subAgents` is enabled. */
export type DelegationCaps = {
  /** Maximum number of sub-agents that are live at the same time. A value above the deployment's ceiling is refused. Omit for the ceiling. */
  maxLiveChildren?: number | undefined;
  /** Maximum number of live sub-agents with their own browser. A value above the deployment's ceiling or above `maxLiveChildren` is refused. Omit for the smaller of the two. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** The service has looked up the values of a run's result in what the session saw. It comes after `run.completed` and belongs to no request and no run, so the stream of a request does not have it. */
export type DeliverableReceiptsEvent = {
  kind: "deliverable.receipts";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** The run that made the result. */
  resultRunId: string;
  /** Number of values by status. */
  counts: {
    seen: number;
    elsewhere: number;
    derived: number;
    weak: number;
    unseen: number;
    unchecked: number;
  };
};

/** A callback delivery with its attempts. */
export type DeliveryRecord = {
  /** The delivery's id, sent as `X-Service-Delivery`. */
  id: string;
  event: "run.started" | "run.completed" | "run.waiting" | "run.resumed";
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** `pending`: the next attempt has yet to start. `sending`: an attempt is in progress or waits because of the rate limit for its host. `held`: callbacks to the host are disabled; the delivery is sent when the host accepts callbacks again, within 7 days. `delivered`: the receiver accepted the delivery. `dropped`: all attempts failed, or the delivery was held for 7 days. */
  state: "pending" | "sending" | "held" | "delivered" | "dropped";
  attempts: Array<{
    /** Time in ISO 8601 format, UTC. */
    at: string;
    /** HTTP status of the response. Null if there was no response. */
    status: number | null;
    /** Duration of the attempt in milliseconds. */
    latencyMs: number;
    /** Why the attempt failed. Null if it succeeded. */
    error: string | null;
    /** Number of the cycle that the attempt belongs to, starting at 1. Each redelivery starts a new cycle of up to five attempts. */
    cycle: number;
    /** Start of the response body, as plain text. Null if there is none. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  import: ImportSummary;
};

/** A stored event of the session. Ignore unknown kinds. */
export type DomainEvent = RunStartedEvent | MessageCompletedEvent | ToolCallEvent | ToolResultEvent | McpSkippedEvent | TurnCompactingEvent | TurnCompactedEvent | TurnSteeredEvent | TurnWaitingEvent | TurnResumedEvent | RunWaitingEvent | RunResumedEvent | TurnStoppingEvent | AgentSpawnedEvent | AgentProgressEvent | AgentSettledEvent | DeliverablePendingEvent | DeliverableReadyEvent | DeliverableFailedEvent | DeliverableReceiptsEvent | BrowserStatusEvent | BrowserWaitingEvent | ControlTakenEvent | ControlEndedEvent | BrowserDialogEvent | BrowserDownloadEvent | WorkspaceChangedEvent | AnnotationSubmittedEvent | AnnotationChangedEvent | AnnotationRemovedEvent | ElicitationRequestedEvent | ElicitationResolvedEvent | VariantUpdatedEvent | PreviewUpdatedEvent | PublicationCreatedEvent | ReportPublishedEvent | PlanUpdatedEvent | RequirementUpdatedEvent | PageDeployedEvent | PageUpdatedEvent | TestsStartedEvent | TestsProgressEvent | TestsCompletedEvent | DocumentImportedEvent | RunCompletedEvent;

export type Done = {
  success: true;
};

/** A box in CSS pixels of the page's viewport. */
export type ElementBox = {
  x: number;
  y: number;
  width: number;
  height: number;
};

/** A question that the agent asked. */
export type Elicitation = {
  elicitationId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Id of the tool call that asked the question. */
  toolCallId: string;
  question: string;
  /** Suggested answers. Any other text is accepted too. Null if there are none. */
  options: Array<string> | null;
  /** The fields to fill in. Null for a question that is answered with a text. */
  form: ElicitationForm | null;
  /** When the question is closed if it has not been answered or declined. ISO 8601, UTC. */
  expiresAt: string;
  /** `open`: the question waits for an answer. `declined`: a person declined to answer. `unanswered`: no one answered in time. `withdrawn`: a message or a stop of the turn ended the question. */
  state: "open" | "answered" | "declined" | "unanswered" | "withdrawn";
  /** The answer. Null unless `state` is `answered`. */
  answer: ElicitationAnswer | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the question was closed. ISO 8601, UTC. Null while it is open. */
  resolvedAt: string | null;
};

/** An answer: a text or, for a question with a form, the values by field name. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  elicitationId: string;
  /** Id of the tool call. */
  toolCallId: string;
  question: string;
  /** Suggested answers. Any other text is accepted too. Null if there are none. */
  options: Array<string> | null;
  /** The fields to fill in. Null for a question that is answered with a text. */
  form: ElicitationForm | null;
  /** When the question is closed if it has not been answered or declined. ISO 8601, UTC. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  elicitationId: string;
  /** `unanswered`: no one answered in time. `withdrawn`: a message or a stop of the turn ended the question. */
  state: "answered" | "declined" | "unanswered" | "withdrawn";
  /** The answer. Null unless `state` is `answered`. */
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
  /** Send it as `cursor` with the next call. Null when all values have been processed: only unreadable values may then remain. */
  nextCursor: string | null;
};

/** Evidence that a tool stored. Download it with `GET /api/sessions/:sessionId/artifacts/:artifactId`, with its `id` as `artifactId`. */
export type EvidencePointer = {
  id: string;
  kind: "screenshot" | "preview" | "html" | "file";
  title: string;
  /** Page that the evidence was captured on. Null if it was not captured on a page. */
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
  /** Start of the result as JSON text, at most 4,096 characters. Null if there is no result. */
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
  /** The bytes as a data URL. Present only if the export was requested with `evidence=true`, for at most 20 MiB of evidence in total. */
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
  /** Parts of the message. `type` determines the fields of a part: `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`; `attachment` is a file that was attached to the message, which the export does not contain; `annotation` is an annotation of the page that was sent with the message, and has its `annotationId`, a `text` and, if there was a picture of it, its `evidenceId`, which the export does not contain. */
  parts: Array<{
    type: string;
    [field: string]: unknown;
  }>;
  /** Results of the message's tool calls. */
  results: Array<ExportedToolResult>;
  /** Always null, because an export does not name users. Earlier versions exported the message's `userId`; an import leaves it out. */
  author: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

/** A landing page, without its files. */
export type ExportedPage = {
  slug: string;
  url: string;
  /** Number of the version that is served. Null while the page is unpublished. */
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
  /** Summary of the report, as Markdown. */
  summary: string;
  /** Findings of the report, most severe first. */
  findings: Array<{
    severity: "critical" | "serious" | "moderate" | "minor" | "info";
    title: string;
    /** Details of the finding, as Markdown. */
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
  state: "started" | "succeeded" | "failed" | "unknown" | "interrupted";
  /** Why a `failed` call was not run. `plan_first`: a person has to agree to the plan first. `not_approved`: the call needs a person's approval, and has none. Absent for a call that was run. */
  refusal?: "plan_first" | "not_approved" | undefined;
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
    /** `url` of the entry in the variant's `pages` that contains the part. */
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
  /** The model's raw output. Absent if there is none. */
  rawText?: string | undefined;
  /** The violations of `outputSchema`. Absent if `rawText` could not be compared with the schema, for example because it is not JSON. */
  violations?: Array<{
    /** JSON Pointer to the invalid value in the result, in the structure that `outputSchema` describes. Empty for the whole result. */
    path: string;
    message: string;
    /** JSON Pointer to the same value in `rawText`, whose structure can differ. Absent if `rawText` does not contain the value. */
    rawPath?: string | undefined;
  }> | undefined;
};

/** A follow-up message: exactly one of `text`, `message` and `messages`. */
export type FollowUp = {
  /** Text of one user message. It may be empty only if `attachments` or `annotations` names something. */
  text?: string | undefined;
  /** Paths of files of the workspace that belong to `text`. The agent is told the paths, and is shown PNG, JPEG, WebP and GIF pictures of at most 5 MiB. Upload a file with `PUT …/files/<path>`. */
  attachments?: Array<string> | undefined;
  /** Ids of open or lost annotations of the session that belong to `text`, with at most 64,000 characters together. The agent is sent their elements and comments, and each becomes `sent`. Visitors need the role `drive`. */
  annotations?: Array<string> | undefined;
  /** One user message. */
  message?: Message | undefined;
  /** Messages, at least one of them from the user. The last user message starts the turn. */
  messages?: Array<Message> | undefined;
  /** `queue`: the message starts its own turn after the queued messages before it. `steer`: the running turn reads the message between two of its steps. The message starts its own turn instead, as with `queue`, if no turn runs, if the running turn is being stopped, has reached its step limit or already collects its structured result, if a person started the running turn and the message is sent with an API key, or if a person sends it and the running turn lacks tools because no person started it. `interrupt`: cancels the running turn, then the message starts its own turn. */
  mode?: "queue" | "steer" | "interrupt" | undefined;
  /** A replay with the same key and an equal body returns the original response and changes nothing. The same key with a different body is refused with 422. Different sessions do not share keys. */
  idempotencyKey?: string | undefined;
  /** Stable caller identity, stored as the message's author. Default: the `userId` of the session. */
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
  /** True if the message waits: until the turns before it have ended or, with `steer`, until the running turn reads it. False if it starts a turn at once. */
  queued: boolean;
};

/** What the page of a frame shows. */
export type Frame = {
  success: true;
  /** `live-view` if the token is that of a `liveViewUrl`, which shows nothing else of the session. */
  scope: "session" | "live-view";
  /** The service's `EMBED_ORIGINS`. */
  origins: Array<string>;
  /** Those of `origins` that the link names. Null if it names none. */
  linkOrigins: Array<string> | null;
  /** What the page shows at first. Its form is internal and changes without notice. */
  snapshot: unknown;
};

export type Health = {
  ok: true;
};

/** An open item of the inbox on the landing page. */
export type HomeInboxItem = {
  /** Id of the item. */
  id: string;
  /** Id of the session; for a sub-agent, of its root session. */
  sessionId: string;
  /** Id of the run that waits. Null for a plan that a person wrote, and for a call of another agent over MCP. */
  runId: string | null;
  /** `question`: the agent, or a tool server, asks a question. `approval`: a tool call waits for approval. `handover`: the agent needs a person in its browser. `budget`: the turn waits for a larger budget. `plan`: the plan waits for agreement. */
  kind: "question" | "approval" | "handover" | "budget" | "plan";
  /** Name of the sub-agent that waits. Absent if the session itself waits. */
  agentName?: string | undefined;
  /** The item in one line. That of a sub-agent begins with its name. */
  title: string;
  /** The whole text. */
  body: string;
  /** Answers to choose from. Another text is accepted too. */
  options?: Array<string> | undefined;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the item expires. Null if it has no deadline. */
  expiresAt: string | null;
  /** `open`: waits. `answered`, `declined`: for a question. `approved`, `denied`: for a call; a plan that is agreed is `approved`, too. `done`: a person has done what a handover asked for, or the budget is larger; a handover can be `declined`, too. `expired`: no one settled it in time. `withdrawn`: a message or a stop ended the wait, or its reason is gone. */
  state: "open" | "answered" | "approved" | "denied" | "done" | "declined" | "expired" | "withdrawn";
  /** Who settled the item: a person on the session page, or a program with an API key. Absent if the service closed it. */
  settledBy?: "person" | "program" | undefined;
  /** When the item was settled. ISO 8601, UTC. Absent while it is open. */
  settledAt?: string | undefined;
  /** Title of the session. */
  sessionTitle: string;
  /** Path of the session's page, where the item is settled. It allows what the login allows. */
  shareUrl: string;
};

export type HomeInboxItemPage = {
  success: true;
  data: Array<HomeInboxItem>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
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
  /** Id of the exported session. Null for other documents. */
  sourceSessionId: string | null;
  /** When the session was exported. ISO 8601, UTC. Null for other documents. */
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
  /** Number of plan items that the import added to the session's plan. 0 if the session already had plan items, and if the agent imported the document. */
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

/** Something that waits for a person. */
export type InboxItem = {
  /** Id of the item. */
  id: string;
  /** Id of the session; for a sub-agent, of its root session. */
  sessionId: string;
  /** Id of the run that waits. Null for a plan that a person wrote, and for a call of another agent over MCP. */
  runId: string | null;
  /** `question`: the agent, or a tool server, asks a question. `approval`: a tool call waits for approval. `handover`: the agent needs a person in its browser. `budget`: the turn waits for a larger budget. `plan`: the plan waits for agreement. */
  kind: "question" | "approval" | "handover" | "budget" | "plan";
  /** Name of the sub-agent that waits. Absent if the session itself waits. */
  agentName?: string | undefined;
  /** The item in one line. That of a sub-agent begins with its name. */
  title: string;
  /** The whole text. */
  body: string;
  /** Answers to choose from. Another text is accepted too. */
  options?: Array<string> | undefined;
  /** The call to approve. */
  call?: {
    toolCallId: string;
    toolName: string;
    /** The exact arguments. Absent in a list if their JSON has more than 16,384 characters: read the item. */
    input?: unknown | undefined;
    /** The beginning of the JSON of the arguments, if `input` is absent. */
    inputPreview?: string | undefined;
  } | undefined;
  /** The form to fill in. */
  form?: ElicitationForm | undefined;
  /** Link to a page on which anyone who has the link settles this item, once, until it expires. Only for open questions, approvals and handovers, and only for an API key with the scope `sessions:write`. */
  answerUrl?: string | undefined;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the item expires. Null if it has no deadline. */
  expiresAt: string | null;
  /** `open`: waits. `answered`, `declined`: for a question. `approved`, `denied`: for a call; a plan that is agreed is `approved`, too. `done`: a person has done what a handover asked for, or the budget is larger; a handover can be `declined`, too. `expired`: no one settled it in time. `withdrawn`: a message or a stop ended the wait, or its reason is gone. */
  state: "open" | "answered" | "approved" | "denied" | "done" | "declined" | "expired" | "withdrawn";
  /** Who settled the item: a person on the session page, or a program with an API key. Absent if the service closed it. */
  settledBy?: "person" | "program" | undefined;
  /** When the item was settled. ISO 8601, UTC. Absent while it is open. */
  settledAt?: string | undefined;
};

/** One item of the inbox. */
export type InboxItemAnswer = {
  success: true;
  item: InboxItem;
};

export type InboxItemPage = {
  success: true;
  data: Array<InboxItem>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
};

/** The item after it was settled. */
export type InboxItemSettled = {
  success: true;
  item: InboxItem;
};

/** Whether turns that no person started ask people. Sub-agents inherit it. */
export type Interaction = {
  /** `ask`: turns that no person started ask people too, and wait for their answers. `decline`, the default of a session without `interaction`: such turns are told at once that no person can answer. */
  mode: "ask" | "decline";
  /** How long such a turn waits for an answer. */
  timeoutSeconds?: number | undefined;
  /** What happens if no one answers in time. `continue`: the agent is told so. `fail`: the run ends `errored`, without a retry. */
  onTimeout?: "continue" | "fail" | undefined;
};

export type InteractionRecord = {
  mode: "ask" | "decline";
  timeoutSeconds: number;
  onTimeout: "continue" | "fail";
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
  /** Slug of the landing page: its name in the URL. */
  slug: string;
  url: string;
  /** Number of the version that is served. Null while the page is unpublished. */
  version: number | null;
  /** Number of the newest version. */
  newestVersion: number;
  /** Number of files of the served version. Null while the page is unpublished. */
  files: number | null;
  /** Total size of the files of the served version, in bytes. Null while the page is unpublished. */
  bytes: number | null;
  /** The agent's note about the served version. Null if there is none, and while the page is unpublished. */
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
  /** Total size of the files in bytes. */
  bytes: number;
  /** The agent's note about the version. Null if there is none. */
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
  /** Path or name of the part that was left out. */
  field: string;
  reason: string;
};

/** An item of the inbox, with the link that settles it. */
export type LinkedItem = {
  /** Id of the item in the inbox. */
  id: string;
  kind: "question" | "approval" | "handover" | "budget" | "plan";
  /** Name of the sub-agent that waits, if one does. */
  agentName?: string | undefined;
  title: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the item expires. Null if it has no deadline. */
  expiresAt: string | null;
  /** Link to a page on which anyone who has the link settles this item, once, until it expires. Absent for a budget. */
  answerUrl?: string | undefined;
};

/** A text frame from a client. Coordinates are CSS pixels of the page. */
export type LiveClientFrame = {
  type: "auth";
  token: string;
} | {
  type: "view.subscribe";
  /** Also send `stage` frames. While a connection with `stage` watches, the dialogs and file choosers of pages wait for the person who has control. */
  stage?: true | undefined;
} | {
  type: "view.unsubscribe";
} | {
  type: "control.take";
} | {
  type: "control.resume";
  token: string;
} | {
  type: "control.keep";
} | {
  type: "control.release";
  /** A note to the agent, which its next tool result begins with. */
  note?: string | undefined;
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
  /** Whether the key was already down, because a person holds it. */
  isRepeat?: boolean | undefined;
  /** Editing commands that the key stands for, instead of what it does by itself. */
  commands?: Array<"DeleteToBeginningOfLine" | "DeleteToEndOfLine"> | undefined;
} | {
  type: "input.touch";
  action: "start" | "move" | "end" | "cancel";
  /** The fingers that are on the page after the action. */
  points: Array<{
    id: number;
    x: number;
    y: number;
  }>;
  /** Pressed modifier keys, as a bit field: Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
} | {
  type: "input.compose";
  text: string;
  selectionStart: number;
  selectionEnd: number;
} | {
  type: "input.copy";
  action: "copy" | "cut";
  id: number;
} | {
  type: "viewport.set";
  size: {
    width: number;
    height: number;
  } | null;
  scale: number;
} | {
  type: "input.text";
  text: string;
} | {
  type: "input.paste";
  text: string;
  html?: string | undefined;
  isEvent?: boolean | undefined;
} | {
  type: "input.widget";
  widgetId: string;
  answer: {
    kind: "dialog";
    isAccepted: boolean;
    text?: string | undefined;
    isMuted?: boolean | undefined;
  } | {
    kind: "option";
    /** Number of the option, counted from 0. */
    chosen: number;
  } | {
    kind: "value";
    value: string;
  } | {
    kind: "files";
  } | {
    kind: "cancel";
  };
} | {
  type: "input.tab";
  action: "show" | "close";
  tabId: string;
} | {
  type: "input.stop";
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
  type: "run.waiting";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RunWaitingEvent;
} | {
  type: "run.resumed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: RunResumedEvent;
} | {
  type: "turn.stopping";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: TurnStoppingEvent;
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
  type: "deliverable.receipts";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: DeliverableReceiptsEvent;
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
  type: "control.taken";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ControlTakenEvent;
} | {
  type: "control.ended";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: ControlEndedEvent;
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
  type: "workspace.changed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: WorkspaceChangedEvent;
} | {
  type: "annotation.submitted";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AnnotationSubmittedEvent;
} | {
  type: "annotation.changed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AnnotationChangedEvent;
} | {
  type: "annotation.removed";
  seq: number;
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: AnnotationRemovedEvent;
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
    /** Name of the person who has control: the label of their share link, or `Someone`. Null if no person has control. */
    name: string | null;
    /** When the person loses control, if that is near. Null otherwise. */
    expiresAt: string | null;
    /** `idle`: there was no input; input or `control.keep` keeps control. `away`: the person's connection has ended. */
    expiresBecause: "idle" | "away" | null;
    /** Why the last person's control ended. Null while a person has control. */
    ended: "given_back" | "idle" | "away" | "taken" | "revoked" | "host" | null;
    /** Whether the browser is handed over to a person. Only the connection that has control gets frames then. */
    isPrivate: boolean;
    /** Why this connection's `control.take` had no effect. */
    problem?: string | undefined;
  };
} | {
  type: "control.token";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    token: string;
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
  type: "clipboard";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    id: number;
    text: string | null;
    html: string | null;
  };
} | {
  type: "stage";
  /** Id of the session. */
  sessionId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  data: {
    /** The tabs, in the order in which they were opened. Empty while no browser runs. */
    tabs: Array<{
      id: string;
      title: string;
      url: string;
      isShown: boolean;
    }>;
    isLoading: boolean;
    /** The document that could not be shown last. The page of before stays. */
    failure: {
      id: number;
      url: string;
      kind: "refused" | "name" | "connection" | "certificate" | "other";
      reason: string;
    } | null;
    /** The control that waits for the person who has control. */
    widget: {
      id: string;
      kind: "dialog";
      dialog: "alert" | "confirm" | "prompt" | "beforeunload";
      /** Host of the page that asks. Empty for a page without one. */
      host: string;
      message: string;
      /** Text with which a prompt begins. */
      defaultText: string;
      /** Whether an answer may turn off the page's further dialogs. */
      mayMute: boolean;
    } | {
      id: string;
      kind: "select";
      /** Where the control is, in CSS pixels of the page. */
      box: {
        x: number;
        y: number;
        width: number;
        height: number;
      };
      label: string;
      options: Array<{
        label: string;
        group: string | null;
        isDisabled: boolean;
        isSelected: boolean;
      }>;
      /** Number of options that are not listed. */
      omitted: number;
    } | {
      id: string;
      kind: "picker";
      /** Where the control is, in CSS pixels of the page. */
      box: {
        x: number;
        y: number;
        width: number;
        height: number;
      };
      label: string;
      type: "date" | "time" | "month" | "week" | "datetime-local" | "color";
      value: string;
      min: string;
      max: string;
      step: string;
    } | {
      id: string;
      kind: "suggestions";
      /** Where the control is, in CSS pixels of the page. */
      box: {
        x: number;
        y: number;
        width: number;
        height: number;
      };
      label: string;
      options: Array<{
        value: string;
        label: string;
      }>;
    } | {
      id: string;
      kind: "files";
      isMultiple: boolean;
      /** The `accept` attribute of the field. */
      accept: string;
      /** The files added so far. */
      files: Array<{
        name: string;
        sizeBytes: number;
      }>;
    } | null;
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
  /** `link` for a login link, `oidc` for an account at the identity provider, `key` for an API key. */
  method: "link" | "oidc" | "key";
  /** E-mail address or subject of the account, or the owner of the API key. Null for a login link. */
  account: string | null;
  /** `User-Agent` of the browser, cut off after 200 characters. Null if the browser did not send one. */
  userAgent: string | null;
  /** Time of the sign-in. ISO 8601, UTC. */
  createdAt: string;
  /** Time of the last use, accurate to the minute. ISO 8601, UTC. */
  lastSeenAt: string;
  /** When the login ends if it is not used again. Each use extends it, up to a maximum lifetime. ISO 8601, UTC. */
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

/** What a person marks on the picture of the page, in CSS pixels of its viewport: the element at a point, an area, or the text between two points. */
export type MarkedPart = {
  kind: "element";
  x: number;
  y: number;
} | {
  kind: "area";
  x: number;
  y: number;
  width: number;
  height: number;
} | {
  kind: "text";
  from: {
    x: number;
    y: number;
  };
  to: {
    x: number;
    y: number;
  };
};

export type MarkedTarget = {
  success: true;
  /** Null if there is nothing, no browser runs, or the page does not answer. */
  target: {
    page: {
      title: string;
      url: string;
    };
    /** The fields of a note for an annotation, without its comment. `boundingBox` and `area` are in CSS pixels of the page. */
    note: {
      type: "element" | "area" | "text";
      selector: string;
      shadowSelector?: string | undefined;
      frame?: string | undefined;
      frameUrl?: string | undefined;
      element: string;
      role?: string | undefined;
      name?: string | undefined;
      text: string;
      boundingBox: ElementBox;
      quote?: string | undefined;
      area?: ElementBox | undefined;
    };
    box: ElementBox;
  } | null;
};

/** OAuth client credentials. They are encrypted at rest and sent only to the token endpoint; access tokens are sent only to this server. No response contains them. */
export type McpAuth = {
  type: "client_credentials";
  clientId: string;
  clientSecret: string;
  /** The token endpoint. Omit it to follow the metadata of the tool server, which then chooses who gets the client's secret. */
  tokenUrl?: string | undefined;
  scope?: string | undefined;
};

export type McpResource = {
  /** URL of the built-in MCP server. */
  resource: string;
  resource_name: string;
  bearer_methods_supported: Array<"header">;
  scopes_supported: Array<"sessions:read" | "sessions:write">;
  resource_documentation: string;
};

/** A remote tool server. Its tools appear to the agent as `mcp_<id>__<tool>`. */
export type McpServer = {
  url: string;
  /** Transport of the server. `http` means Streamable HTTP. */
  type?: "http" | "sse" | undefined;
  /** Request headers for this server. They are encrypted at rest and sent only to this server. No response contains them. */
  headers?: Record<string, string> | undefined;
  auth?: McpAuth | undefined;
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  serverId: string;
  reason: string;
  /** Names of the unavailable tools, at most 20. Absent if the whole server is unavailable. */
  tools?: Array<string> | undefined;
  /** Number of unavailable tools. Absent if the whole server is unavailable. */
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

/** A complete message of the transcript. When the turn's deliverable is added to a message as a `data-deliverable` part, the message is published again with the same `id`: keep the last one. */
export type MessageCompletedEvent = {
  kind: "message.completed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  message: MessageRecord;
};

/** A chunk of a message that the model is writing. It is not stored and has no `seq`. The event `message.completed` replaces all chunks of its message. */
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
  /** Number of the run's attempt, as in `run.started`. The text of a later attempt replaces that of an earlier one. */
  attempt: number;
  /** Number of UTF-16 code units of the message's text or reasoning (see `part`) before this chunk. */
  offset: number;
  text: string;
};

/** A part of a message. `type` determines its fields: `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`; `attachment` is a file of the workspace that was attached to the message and has its `path`, `mediaType` and `sizeBytes` at that time, and `evidenceId`, the evidence with the picture as it was attached, or null; `annotation` is an annotation of the page that was sent with the message and has its `annotationId`, a `text` with its elements and comments, and `evidenceId`, the evidence with a picture of the page there, if there is one. Ignore unknown types. */
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
  /** The `userId` that the caller sent with the message. Null if there was none, and for messages of the agent. */
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
  /** Path of the session's own share link, which is not in `data`. */
  shareUrl: string;
};

/** A landing page. Its session may have been deleted. */
export type OwnedLandingPage = {
  /** Slug of the landing page: its name in the URL. */
  slug: string;
  url: string;
  /** Number of the version that is served. Null while the page is unpublished. */
  version: number | null;
  /** Number of the newest version. */
  newestVersion: number;
  /** Number of files of the served version. Null while the page is unpublished. */
  files: number | null;
  /** Total size of the files of the served version, in bytes. Null while the page is unpublished. */
  bytes: number | null;
  /** The agent's note about the served version. Null if there is none, and while the page is unpublished. */
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

/** A publication in the list of its owner. If it is currently unpublished, `publication` is null. If its session has been deleted, `sessionId` is null. */
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

/** An action of the agent's script on the live page. */
export type PageAction = {
  did: "opened" | "reloaded" | "went_back" | "went_forward" | "clicked" | "hovered" | "filled" | "chose" | "checked" | "unchecked" | "uploaded" | "dragged" | "typed" | "pressed";
  /** For `opened`: the address, without query and fragment. For `pressed`: the key. Otherwise: the name of the element, as the page or the script calls it. At most 120 characters. Null if it has none. Values that were filled in are never included. */
  what: string | null;
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** `off`: the agent needs no agreement. `plan_first`: the service refuses tool calls that change pages, files or publications until a person agrees to the plan. `agreed`: a person has agreed. */
  mode: "off" | "plan_first" | "agreed";
  items: Array<PlanItem>;
  /** Increases with each change of the items. 0 if the plan was never written. */
  revision: number;
  /** Who made the newest revision. Null if the plan was never written. */
  author: "agent" | "person" | null;
  /** When the plan or its mode last changed. ISO 8601, UTC. Null if neither was ever set. */
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
    /** Id of the item after which the new item is added. Null adds it at the beginning; omit to add it at the end. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  plan: Plan;
};

/** A picture of a page, with or without a variant, that the agent shows to people. */
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
  /** Revision of the variant that the picture shows. Null if the picture shows no variant, and if there is no picture. */
  revision: number | null;
  caption: string | null;
  /** The picture. Null if it could not be taken. */
  evidence: EvidencePointer | null;
  /** Why the picture could not be taken. Null if there is a picture. */
  error: string | null;
  /** When the picture was taken. ISO 8601, UTC. Null if there is no picture. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Number of the published revision. The variant may have a newer one. */
  revision: number;
  /** Whether the release was published without a passed check. */
  isUnchecked: boolean;
  /** URL of the publication's script. It stays the same and always serves the current release, also after a new release or a rollback. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** `steer`: the running turn will read the message between two of its steps. `queue` and `interrupt`: the message will start its own turn. A message that was sent with `steer` but starts its own turn is listed as `queue`. */
  mode: "queue" | "steer" | "interrupt";
  text: string;
  /** Paths of the files that are attached to the message. */
  attachments: Array<string>;
  /** Ids of the annotations that were sent with the message. */
  annotations: Array<string>;
  /** The `userId` that the caller sent with the message. Null if there was none. */
  author: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
};

export type Readiness = {
  ok: boolean;
  /** State of each part. Present only for callers with a valid API key and, if the service's `BASE_URL` is a loopback address, for processes on the same machine. The same holds for the other details. */
  checks?: {
    database: ReadinessCheck;
    engine: ReadinessCheck;
    browser: ReadinessCheck;
    sandbox: ReadinessCheck;
    model: ReadinessCheck;
  } | undefined;
  /** The browser hosts that run now, at most 100. Empty before the first browser, which starts one. Null if the database does not answer. */
  browserHosts?: Array<RunningHost> | null | undefined;
  /** How the scripts of `browser_execute` are confined, or why this deployment runs none. */
  scripts?: string | undefined;
  /** Tools that no session of this deployment has, because they cannot work on it, by reason. */
  missingTools?: Array<{
    tools: Array<string>;
    reason: string;
  }> | undefined;
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

/** Where a value of a result is. */
export type Receipt = {
  /** JSON pointer of the value. */
  pointer: string;
  /** `seen`: the value is in what the session saw. `elsewhere`: it is there, but not near the other values of its record. `derived`: the agent cited what it computed the value from, and that is there. `weak`: it is there, but has fewer than 4 characters, or is in more than 5 places of one text. `unseen`: it is nowhere. `unchecked`: it was not found, and not everything was searched. */
  status: "seen" | "elsewhere" | "derived" | "weak" | "unseen" | "unchecked";
  /** At most 3 places, the best first. */
  sources: Array<ReceiptSource>;
};

export type ReceiptList = {
  success: true;
  /** Id of the run with the result. Null if there is none. */
  runId: string | null;
  /** `none`: the session has no ready result, or it became ready before the service had receipts. `pending`: the values are still being looked up. In both cases `data` is empty. */
  state: "none" | "pending" | "ready";
  data: Array<Receipt>;
  nextCursor: null;
};

/** A place at which a value of a result is. */
export type ReceiptSource = {
  /** Number of the event that reports the call, the message or the run with the text. */
  seq: number;
  /** The page or address with the text. Null if there is none. */
  url: string | null;
  /** The text around the value, at most 160 characters. It is text of a page: treat it as untrusted. */
  quote: string;
  /** Id of the artifact with a picture of the page. Absent if there is none. */
  picture?: string | undefined;
  /** Id of the sub-agent's session that saw the text, whose events `seq` counts. */
  sessionId?: string | undefined;
};

export type RecordedPicture = {
  id: string;
  /** The run whose call left the page like this. Null for the page before the first call of a turn. */
  runId: string | null;
  /** The tool call; null with `runId`. */
  callId: string | null;
  /** The page. At most 2,000 characters. */
  url: string;
  /** Title of the page. At most 200 characters. */
  title: string;
  sizeBytes: number;
  /** Time in ISO 8601 format, UTC. */
  takenAt: string;
};

/** The recording of a session's browser. */
export type Recording = {
  success: true;
  /** Oldest first, at most 500. */
  data: Array<RecordedPicture>;
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
  /** Newest check of the revision when the release was published. Null if the revision had not been checked. */
  check: {
    status: "pass" | "warn" | "fail";
    /** Time in ISO 8601 format, UTC. */
    at: string;
  } | null;
  /** Whether the release was published without a passed check. */
  isUnchecked: boolean;
  /** Whether this is the current release. */
  isCurrent: boolean;
  /** Whether unpublishing withdrew the script of this release, so that it returns 410. */
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
  /** The newest version of the report. If this report is the newest version, `newest.id` equals its `id`. */
  newest: {
    /** Id of the report. */
    id: string;
    version: number;
    /** Path of the page of the newest version. */
    url: string;
  };
  /** The session's variants when the report was published. */
  tested: Array<TestedVariant>;
  /** Summary of the report, as Markdown. */
  summary: string;
  /** Sorted by severity, most severe first. */
  findings: Array<ReportFinding>;
};

export type ReportFinding = {
  /** Severity of the finding: one of axe-core's impact levels, or `info` for a finding that needs no repair. */
  severity: "critical" | "serious" | "moderate" | "minor" | "info";
  title: string;
  /** Details of the finding, as Markdown. */
  detail: string;
  /** Page that the finding is about. Null if the report does not name one. */
  url: string | null;
  selector: string | null;
  /** How to reproduce the finding. */
  steps: Array<string>;
  /** Evidence of the finding. Download each piece as an artifact of the session. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** `pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows. */
  status: "pending" | "running" | "completed";
};

/** A requirement of a session and its sub-agents. */
export type Requirement = {
  id: string;
  text: string;
  status: "open" | "met" | "failed" | "waived";
  /** Note on the status, for example why the requirement failed. Null if there is none. */
  note: string | null;
  /** Ids of the evidence that the requirement is met: artifacts of the session or of its sub-agents. */
  evidenceIds: Array<string>;
  evidence: Array<RequirementEvidence>;
  assertion: RequirementAssertion | null;
  /** Result of the newest check of the assertion. Null without an assertion, until the first check of the assertion, and again after the assertion has changed. */
  outcome: AssertionOutcome | null;
  /** Who added the requirement. */
  author: "agent" | "person";
  /** Time in ISO 8601 format, UTC. */
  updatedAt: string;
};

/** The requirement after the change. */
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
  /** For `text`, the expected whole text of the element. For `count`, the expected number of matching elements. Absent for `visible` and `hidden`. */
  value?: string | number | undefined;
};

/** Fields to change. Omitted fields stay unchanged. */
export type RequirementChange = {
  text?: string | undefined;
  /** `waived`: the requirement no longer counts. `open`: it counts again. Only the agent can set `met` and `failed`. */
  status?: "open" | "waived" | undefined;
  note?: string | null | undefined;
  /** The new assertion. Null removes the assertion. */
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
  /** Page that the evidence was captured on. Null if it was not captured on a page. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** The requirements that were added, changed or checked, at most 20. If there are more, the service emits several events. */
  requirements: Array<Requirement>;
};

/** The added requirements. */
export type RequirementsAdded = {
  success: true;
  requirements: Array<Requirement>;
};

/** An item of the inbox that has ended, without its details. */
export type ResumedItem = {
  /** Id of the item in the inbox. */
  id: string;
  kind: "question" | "approval" | "handover" | "budget" | "plan";
  /** Name of the sub-agent that waits, if one does. */
  agentName?: string | undefined;
  title: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the item expires. Null if it has no deadline. */
  expiresAt: string | null;
  /** How the item ended. */
  state: "answered" | "approved" | "denied" | "done" | "declined" | "expired" | "withdrawn";
  /** Who settled the item. Absent if the service closed it. */
  settledBy?: "person" | "program" | undefined;
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** The automatic retry that follows: its run starts after `delayMs` milliseconds. Absent if no retry follows; this is then the request's last event. */
  willRetry?: {
    /** Id of the run. A run is one attempt at the turn of a request. */
    runId: string;
    attempt: number;
    delayMs: number;
  } | undefined;
};

/** Outcome of a run. `errored`: the run failed. `cancelled`: the run was stopped, or its message was removed from the queue before it started. */
export type RunOutcome = "succeeded" | "errored" | "cancelled";

/** Body of a `run.resumed` callback. */
export type RunResumedCallback = {
  event: "run.resumed";
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  item: ResumedItem;
  data: RunResumedEvent;
};

/** The run waits no longer for an item that a `run.waiting` has named. Stored once for each item; not stored for an item that is open when the run ends. */
export type RunResumedEvent = {
  kind: "run.resumed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  item: ResumedItem;
};

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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** Number of this run among the runs of the request, starting at 1. */
  attempt: number;
  /** What started the run. `person`: a person on the session page or the landing page. `external`: a request with an API key. `retry`: the automatic retry of a failed run. `subagent`: the run belongs to a sub-agent. `continuation`: the service itself. */
  origin: "person" | "external" | "continuation" | "retry" | "subagent";
};

/** Body of a `run.waiting` callback. */
export type RunWaitingCallback = {
  event: "run.waiting";
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  item: LinkedItem;
  data: RunWaitingEvent;
};

/** The run was parked and waits for a person: for an item of the inbox. Stored once for each item. */
export type RunWaitingEvent = {
  kind: "run.waiting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  item: WaitingItem;
};

/** A browser host: a process that runs the browsers of sessions. */
export type RunningHost = {
  /** Where the host runs. `local`: on a machine of the service, which started it. `remote`: started by an operator. `sandbox`: in the sandbox of one session. */
  home: "local" | "remote" | "sandbox";
  /** Number of sessions whose browser runs, starts or waits at the host. Up to 5 s old. */
  sessions: number;
  /** Number of browsers that the host runs at most. */
  places: number;
};

export type SessionCreated = {
  success: true;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request. A request is one accepted message. */
  requestId: string;
  /** Id of the run. A run is one attempt at the turn of a request. */
  runId: string;
  /** Path that opens the session in a browser, to watch or join. If the API key of the request lacks `sessions:write`, the path only allows watching. */
  shareUrl: string;
  /** Path to poll for the request's status. */
  statusUrl: string;
  /** Path of the request's event stream. */
  streamUrl: string;
};

/** Numbers of deleted records, the data that is still to be removed, and what stays published. Deleting the session again returns 404. */
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
    /** Callback deliveries with their attempts. Pending deliveries are no longer sent. */
    deliveries: number;
    /** Screenshots, previews and saved pages. */
    evidence: number;
    /** Size of the evidence in bytes. */
    evidenceBytes: number;
    /** Encrypted secrets: callback secrets, headers of MCP servers, and URLs with a query or fragment. */
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
  /** Data that could not be removed yet, such as files on disk. The service retries until all of it is removed, also after a restart. `run` means that a process still works on a run, `rows` that a check found remaining rows in the database. Empty when the deletion is complete. */
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
    /** The `targetUrl` that the session was created with. Null if it was created without one. */
    targetUrl: string | null;
    source: Source;
    /** Whether the session has an `outputSchema`. */
    isStructured: boolean;
    /** What the session is doing, or how its last turn ended. `ready`: no turn has started yet. `starting`: the next turn is about to start. `working`: a turn runs, or waits for sub-agents or tests. `waiting`: the turn waits for a person's answer, for a person to release control of the browser or for a larger budget, or the turn has ended and a person has yet to agree to its plan. `compacting`: the turn shortens the agent's context. `retrying`: the last run failed and its retry is about to start. `done`: the turn succeeded. `no_result`: the turn succeeded without a valid result. `page_error`: the turn succeeded but did not reach its page. `failed`: the turn failed. `stopped`: the turn was stopped. */
    state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
    /** Explains the states `waiting`, `retrying`, `failed`, `no_result` and `page_error` in one sentence. Null in the other states. */
    stateReason: string | null;
    turnState: TurnState;
    /** Outcome of the newest run that has started. Null before the first run starts and while the newest run is in progress. */
    lastOutcome: RunOutcome | null;
    /** Time in ISO 8601 format, UTC. */
    createdAt: string;
    /** Path that opens the session in a browser, to watch or join. If the API key of the request lacks `sessions:write`, the path only allows watching. */
    shareUrl: string;
    /** Id of the session whose agent started this session as a sub-agent. Null if the session is not a sub-agent. */
    parentSessionId: string | null;
    /** The `userId` that the session was created with. Null if it was created without one. */
    userId: string | null;
    /** The `metadata` that the session was created with. Null if it was created without any. */
    metadata: Record<string, unknown> | null;
    /** Target pages from the session's creation and from later retargets. */
    targetPageUrls: Array<string>;
    /** The `outputSchema` that the session was created with. Null if it was created without one. */
    outputSchema: Record<string, unknown> | null;
    /** The `systemPrompt` that the session was created with. Null if it was created without one. */
    systemPrompt: string | null;
    tools: {
      include: Array<string>;
      exclude: Array<string>;
      externalTurnExclude: Array<string>;
      approve?: Array<string> | undefined;
    };
    /** Remote tool servers without their headers. Values in the query and the fragment of a URL are replaced by `***`. */
    mcpServers: Record<string, {
      url: string;
      type: "http" | "sse";
    }>;
    capabilities: {
      browser: boolean;
      sandbox: boolean;
    };
    subAgents: boolean;
    /** The limits on live sub-agents that apply now: those of the session, or the deployment's if they are lower. */
    delegation: {
      maxLiveChildren: number;
      maxLiveBrowsers: number;
    };
    /** Whether turns that no person started ask people. Null if the session was created without `interaction`, so that they do not. */
    interaction: InteractionRecord | null;
    /** The session's callback. Null if it has none. */
    callback: CallbackRecord | null;
    startupStatus: "uninitialized" | "starting" | "ready" | "error";
    /** Time in ISO 8601 format, UTC. */
    updatedAt: string;
  };
};

/** A session as a file, format version 1. The export of a sub-agent has no variants, plan, requirements and previews: they belong to its root session. */
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
  /** The plan. Null if it was never written, and in the export of a sub-agent. */
  plan: ExportedPlan | null;
  requirements: Array<ExportedRequirement>;
  reports: Array<ExportedReport>;
  pages: Array<ExportedPage>;
  deliverables: Array<Deliverable>;
  /** Where the values of the results are, as the service answers it. Absent in exports of earlier versions. */
  receipts?: Array<{
    runId: string;
    receipts: Array<{
      [field: string]: unknown;
    }>;
    [field: string]: unknown;
  }> | undefined;
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

export type SessionRenamed = {
  success: true;
  session: SessionSummary;
};

export type SessionSummary = {
  /** Id of the session. */
  id: string;
  title: string;
  /** The `targetUrl` that the session was created with. Null if it was created without one. */
  targetUrl: string | null;
  source: Source;
  /** Whether the session has an `outputSchema`. */
  isStructured: boolean;
  /** What the session is doing, or how its last turn ended. `ready`: no turn has started yet. `starting`: the next turn is about to start. `working`: a turn runs, or waits for sub-agents or tests. `waiting`: the turn waits for a person's answer, for a person to release control of the browser or for a larger budget, or the turn has ended and a person has yet to agree to its plan. `compacting`: the turn shortens the agent's context. `retrying`: the last run failed and its retry is about to start. `done`: the turn succeeded. `no_result`: the turn succeeded without a valid result. `page_error`: the turn succeeded but did not reach its page. `failed`: the turn failed. `stopped`: the turn was stopped. */
  state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
  /** Explains the states `waiting`, `retrying`, `failed`, `no_result` and `page_error` in one sentence. Null in the other states. */
  stateReason: string | null;
  turnState: TurnState;
  /** Outcome of the newest run that has started. Null before the first run starts and while the newest run is in progress. */
  lastOutcome: RunOutcome | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** Path that opens the session in a browser, to watch or join. If the API key of the request lacks `sessions:write`, the path only allows watching. */
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
  /** Origins whose pages may show the link in a frame. Null for all of the service's `EMBED_ORIGINS`. */
  embedOrigins: Array<string> | null;
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
  /** Path of the session's new own share link, which replaces the earlier `shareUrl`. */
  shareUrl: string;
};

/** The variant that the live browser shows. */
export type ShownVariant = {
  success: true;
  /** Key of the variant. Null if the live browser shows the page without a variant. */
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

export type SoughtAnnotations = {
  success: true;
  data: Array<{
    id: string;
    /** One entry for each of the annotation's elements. `unknown`: the page changed meanwhile, or a frame did not answer. */
    elements: Array<{
      state: "found";
      /** What found the element: its selector, its role with its name, or its tag with its text. */
      by: "selector" | "role" | "text";
      /** Null if the element is not rendered. */
      box: ElementBox | null;
    } | {
      state: "gone" | "unknown";
    }>;
  }>;
};

/** Attribution that the session was created with. */
export type Source = "web" | "api" | "slack" | "cli";

/** A file that a test run stored for a test: a picture, a trace, or a file that the test itself attached. */
export type TestAttachment = {
  name: string;
  mediaType: string;
  sizeBytes: number;
  /** Id of the stored file. Download the file as an artifact of the session. Null if it was not stored. */
  evidenceId: string | null;
  /** Why the file was not stored. Null if it was stored. */
  problem: string | null;
};

/** Number of tests by result. A test that runs against both control and variant counts twice. `flaky`: the test failed first and passed in a retry. */
export type TestCounts = {
  total: number;
  passed: number;
  failed: number;
  flaky: number;
  skipped: number;
};

/** A test of a test run against one target. */
export type TestResult = {
  /** `control`: the page without the variant. `variant`: the page with the variant. */
  target: "control" | "variant";
  file: string;
  line: number;
  /** Titles of the groups that contain the test, then the title of the test. */
  titles: Array<string>;
  status: "passed" | "failed" | "flaky" | "skipped";
  /** Total duration of all attempts in milliseconds. */
  durationMs: number;
  /** Number of attempts that were made: the first one and the retries that followed. */
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
  /** `passed`: every test has a result and none failed. `failed`: a test failed, or the run ended before every test had a result. `interrupted`: the service could not finish the run in two attempts. */
  status: "queued" | "running" | "passed" | "failed" | "cancelled" | "interrupted";
  startedBy: "agent" | "person";
  /** Test files and folders of the workspace that run. An empty list means every test file. */
  files: Array<string>;
  /** What the tests run against. `control`: the page without the variant. `variant`: the page with the variant. */
  against: Array<"control" | "variant">;
  /** Key of the variant. Null if only the control is tested. */
  variant: string | null;
  /** Revision of the variant that was tested. Null until the run has ended, and if only the control is tested. */
  revision: number | null;
  /** Regular expression: only tests whose titles match it run. Null if all tests run. */
  grep: string | null;
  retries: number;
  /** URL that relative URLs in the tests are resolved against. Null if there is none. */
  baseUrl: string | null;
  viewport: "desktop" | "tablet" | "phone";
  /** Time limit for all tests of the run together, in seconds. */
  timeoutSeconds: number;
  counts: TestCounts;
  /** Explains why tests have no result, or which hosts the tests could not reach. Null if there is nothing to explain. */
  problem: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the run started. ISO 8601, UTC. Null if it has not started. */
  startedAt: string | null;
  /** When the run ended. ISO 8601, UTC. Null until then. */
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
  /** `passed`: every test has a result and none failed. `failed`: a test failed, or the run ended before every test had a result. `interrupted`: the service could not finish the run in two attempts. */
  status: "queued" | "running" | "passed" | "failed" | "cancelled" | "interrupted";
  startedBy: "agent" | "person";
  /** Test files and folders of the workspace that run. An empty list means every test file. */
  files: Array<string>;
  /** What the tests run against. `control`: the page without the variant. `variant`: the page with the variant. */
  against: Array<"control" | "variant">;
  /** Key of the variant. Null if only the control is tested. */
  variant: string | null;
  /** Revision of the variant that was tested. Null until the run has ended, and if only the control is tested. */
  revision: number | null;
  /** Regular expression: only tests whose titles match it run. Null if all tests run. */
  grep: string | null;
  retries: number;
  /** URL that relative URLs in the tests are resolved against. Null if there is none. */
  baseUrl: string | null;
  viewport: "desktop" | "tablet" | "phone";
  /** Time limit for all tests of the run together, in seconds. */
  timeoutSeconds: number;
  counts: TestCounts;
  /** Explains why tests have no result, or which hosts the tests could not reach. Null if there is nothing to explain. */
  problem: string | null;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the run started. ISO 8601, UTC. Null if it has not started. */
  startedAt: string | null;
  /** When the run ended. ISO 8601, UTC. Null until then. */
  endedAt: string | null;
  /** Id of the session. */
  sessionId: string;
  /** Results of the tests, sorted by start time. Empty until the run has ended. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  testRun: TestRun;
};

/** The tests of a test run are about to start, or some have ended. At most one event every 2 s. */
export type TestsProgressEvent = {
  kind: "tests.progress";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Tools to add that the analysis profile leaves out. Has effect only with `outputSchema`. The analysis profile is the reduced set of tools of a session with an `outputSchema`. */
  include?: Array<string> | undefined;
  /** Tools to remove for the whole session. Wins over every other rule. A trailing `*` matches any suffix. */
  exclude?: Array<string> | undefined;
  /** Tools to remove on turns that no person started from the session page or the landing page. A trailing `*` matches any suffix. */
  externalTurnExclude?: Array<string> | undefined;
  /** Tools whose calls wait for a person's approval. A trailing `*` matches any suffix. `@destructive` stands for tools of the caller's servers that are not declared `destructiveHint: false`. Where no person can be asked, such calls are denied at once. */
  approve?: Array<string> | undefined;
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** Id of the tool call. */
  toolCallId: string;
  toolName: string;
  /** `unknown`: the service was interrupted during the call, and does not repeat it because it may have had an effect. `interrupted`: a person took control of the browser while the call ran. */
  state: "succeeded" | "failed" | "unknown" | "interrupted";
  /** Name of the person who interrupted the call. Only with the state `interrupted`. */
  interruptedBy?: string | undefined;
  /** Why a `failed` call was not run. `plan_first`: a person has to agree to the plan first. `not_approved`: the call needs a person's approval, and has none. Absent for a call that was run. */
  refusal?: "plan_first" | "not_approved" | undefined;
  /** True if the turn was stopped during the call; absent otherwise. */
  stopped?: boolean | undefined;
  /** What the call did to the live page, at most 20 actions. Absent for calls that report none. */
  actions?: Array<PageAction> | undefined;
  resultId: string;
  /** Start of the result, at most 2,000 characters. */
  preview: string;
  evidence: Array<EvidencePointer>;
  /** Duration in milliseconds. */
  durationMs: number;
};

/** Compaction of the agent's context ended. `how` is `offloaded` if old tool results and pictures were replaced by short lines, and `summarized` if older messages were replaced by a summary. */
export type TurnCompactedEvent = {
  kind: "turn.compacted";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  how: "offloaded" | "summarized";
  tokensBefore: number;
  tokensAfter: number;
  messagesReplaced: number;
};

/** Compaction started: the service shortens the agent's context, because it is close to the limit of `budgetTokens` tokens. */
export type TurnCompactingEvent = {
  kind: "turn.compacting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** `settled`: the turn got what it waited for. `deadline`: the deadline of the wait passed. `message`: a `steer` message ended the wait. `stopped`: the turn was stopped. */
  reason: "settled" | "deadline" | "message" | "stopped";
};

/** `running` from the moment a request is accepted until no request is open. A request is open until its last run, including automatic retries, has ended. `compacting` while the running turn shortens the agent's context. Otherwise `idle`. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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

/** Someone stopped the turn. Its `run.completed` follows, with the outcome `cancelled`. */
export type TurnStoppingEvent = {
  kind: "turn.stopping";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  /** `person`: a person on the session page. `program`: a request with an API key. `message`: a message with the mode `interrupt`. */
  by: "person" | "program" | "message";
  /** The label of the person's share link. Null if it has none, and for the others. */
  name: string | null;
};

/** The turn started to wait for what `waitingOn` describes. No process executes the turn until it continues. */
export type TurnWaitingEvent = {
  kind: "turn.waiting";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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
  /** Usage of the sub-agents below the session, at every depth, as far as no earlier run of the session has reported it. Absent if there is none. */
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

/** A variant after changes were accepted. */
export type VariantAccepted = {
  success: true;
  variant: VariantSummary;
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
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setText";
  text: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setHtml";
  /** HTML without scripts and event handlers. */
  html: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setAttribute";
  name: string;
  value: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "removeAttribute";
  name: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "addClass";
  className: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "removeClass";
  className: string;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "setStyle";
  /** CSS properties and values. */
  style: Record<string, string>;
} | {
  /** Id of the change, unique in the variant. */
  id: string;
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
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
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
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
  /** CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`. */
  selector: string;
  /** `true` if the element appears only after the page has loaded, so that it need not exist when the change is stored. */
  late?: boolean | undefined;
  /** `true` if the change is stored but not applied. */
  off?: boolean | undefined;
  /** What the change is for, in words. */
  note?: string | undefined;
  op: "remove";
};

/** The content of a revision. */
export type VariantDocument = {
  pages: Array<VariantPage>;
};

/** The changes of the pages whose address matches `url`. */
export type VariantPage = {
  url: string;
  /** How the address of a page must match `url`; the fragment is never compared. `exact`: the whole address is equal. `path`: origin and path are equal. `prefix`: the address begins with `url`. `glob`: in `url`, `*` matches any characters except `/`, and `**` matches any characters; a query is compared only if `url` contains `?`. */
  match: "exact" | "path" | "prefix" | "glob";
  /** Addresses that do not match, although `url` matches them. */
  exclude?: Array<{
    url: string;
    /** How the address of a page must match `url`; the fragment is never compared. `exact`: the whole address is equal. `path`: origin and path are equal. `prefix`: the address begins with `url`. `glob`: in `url`, `*` matches any characters except `/`, and `**` matches any characters; a query is compared only if `url` contains `?`. */
    match: "exact" | "path" | "prefix" | "glob";
  }> | undefined;
  /** When the changes of the page are applied: `now` (as soon as their elements exist), `load`, `idle` (the first idle time after the load), or a CSS selector (as soon as an element matches it). By default a change waits until the page is hydrated. */
  when?: string | undefined;
  changes: Array<VariantChange>;
  /** Style sheet that is added to the page when its document starts to load. */
  css: string;
  /** Script that runs once in each document of the page, as a function body. If it returns a function, that function is called when the variant stops on the page. */
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
  /** Key of the variant, unique in the session. */
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
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
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

/** An item of the inbox, without its details. */
export type WaitingItem = {
  /** Id of the item in the inbox. */
  id: string;
  kind: "question" | "approval" | "handover" | "budget" | "plan";
  /** Name of the sub-agent that waits, if one does. */
  agentName?: string | undefined;
  title: string;
  /** Time in ISO 8601 format, UTC. */
  createdAt: string;
  /** When the item expires. Null if it has no deadline. */
  expiresAt: string | null;
};

/** What a turn waits for before it continues. */
export type WaitingOn = {
  /** `person`: an answer to a question. `control`: a person has control of the browser. `agents`: sub-agents. `tests`: test results. `budget`: a budget is used up. */
  kind: "person" | "agents" | "tests" | "control" | "budget";
  /** Ids of the open questions, sub-agents or test runs. Empty for `control` and `budget`. */
  ids: Array<string>;
  /** Time in ISO 8601 format, UTC. */
  since: string;
  /** When the wait ends if there is no answer or result by then. Null if there is no such deadline. */
  until: string | null;
  /** For `budget`: which budget is used up, and when the turn continues. Absent for the other kinds. */
  reason?: string | undefined;
};

/** A person or a program wrote or removed a file of the workspace through the API. Changes by the agent's tools are in their `tool.result` events. */
export type WorkspaceChangedEvent = {
  kind: "workspace.changed";
  /** Sequence number of the event in its session. The numbers have no gaps. */
  seq: number;
  /** Time in ISO 8601 format, UTC. */
  timestamp: string;
  /** Id of the session. */
  sessionId: string;
  /** Id of the request that the event belongs to. A request is one accepted message. Null for an event that belongs to no request, such as a change of the browser's status or an action of a person. */
  requestId: string | null;
  /** Id of the run that the event belongs to. A run is one attempt at the turn of a request. Null for an event that belongs to no run. */
  runId: string | null;
  source: Source;
  path: string;
  change: "written" | "removed";
  /** Null for a removed file. */
  sizeBytes: number | null;
};

/** A file or folder of a session's workspace. */
export type WorkspaceFile = {
  /** Path in the workspace. Bytes of a name that are not UTF-8 are written as `\xHH`. */
  path: string;
  type: "file" | "folder";
  /** Size in bytes. 0 for a folder. */
  sizeBytes: number;
  /** When the content last changed. ISO 8601, UTC. */
  modifiedAt: string;
  /** Media type according to the name. Null for a folder. */
  mediaType: string | null;
};

export type WorkspaceFilePage = {
  success: true;
  data: Array<WorkspaceFile>;
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
  /** Why files of the session may be missing here. Null if all of them are here. */
  note: string | null;
};

/** The file as it was stored. */
export type WorkspaceFileWritten = {
  success: true;
  file: WorkspaceFile;
};

/** Files of the session's workspace. */
export type WorkspaceFiles = {
  success: true;
  files: Array<{
    path: string;
    sizeBytes: number;
  }>;
  /** Whether these are all files. At most 500 are listed. */
  isComplete: boolean;
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
  code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "gone" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "idempotency_key_reused" | "rate_limited" | "internal" | "auth_unavailable" | "unavailable";
  /** Only if an item of the inbox is settled already: its state. */
  state?: "answered" | "approved" | "denied" | "done" | "declined" | "expired" | "withdrawn" | undefined;
};

/** Parameters, body and answer of every API operation that programs can call. */
export type Operations = {
  /** Create a session and start its first turn. Stores the session, its messages and the job for its first turn in one transaction: a 2xx means stored. Later requests cannot change the session's settings, except its budget and its callback's secret. A replay with the same `idempotencyKey` and an equal body returns 200 with the original ids. With an `outputSchema`, every turn ends with a typed deliverable. If the owner of the API key has reached a limit of the deployment, such as its number of sessions, the response is 409. */
  createSession: {
    parameters: {  };
    body: CreateSession;
    answer: SessionCreated;
  };
  /** List sessions, newest first. Lists the sessions of the key's owner, without sub-agents. A cursor stays valid when sessions are deleted. With `q` or `state`, a call examines a bounded number of sessions, so a page may have fewer sessions than `limit`, or none, although `nextCursor` is not null: the next call examines older sessions. */
  listSessions: {
    parameters: { limit?: number | undefined; cursor?: string | undefined; q?: string | undefined; state?: string | undefined };
    body: undefined;
    answer: SessionSummaryPage;
  };
  /** Read a session. Returns the session with its settings. The response does not include headers of tool servers or the callback's secret. */
  readSession: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SessionDetail;
  };
  /** Rename a session. Replaces the title. Nothing else of a session can be changed this way. */
  renameSession: {
    parameters: { sessionId: string };
    body: {
      /** The new title. */
      title: string;
    };
    answer: SessionRenamed;
  };
  /** Delete a session and everything that belongs to it. Stops the turn, then deletes the rows, files, browser and secrets of the session and its sub-agents. The response counts what was deleted. `pending` lists data that could not be removed yet, such as files on disk; the service retries until all of it is removed. Published variants and landing pages stay published. Deleting the session again returns 404. */
  deleteSession: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SessionDeleted;
  };
  /** Read the budget of a session and what it has spent. Returns the limits of the session and what the session and its sub-agents have spent. A sub-agent has the budget of its root session. */
  readBudget: {
    parameters: { sessionId: string };
    body: undefined;
    answer: BudgetAnswer;
  };
  /** Change the budget of a session and continue its turn. Sets, raises, lowers or removes limits. Turns of the session and its sub-agents that wait because of the budget continue if it is no longer used up. A lower limit applies before the next model call. Repeating the call has no further effect. */
  changeBudget: {
    parameters: { sessionId: string };
    body: BudgetChange;
    answer: BudgetAnswer;
  };
  /** List the sub-agents below a session. Lists every sub-agent below the session, at every depth: parents before their children. Each sub-agent has its own session. An API key of the owner can read this session, but operations that change it return 409. */
  listAgents: {
    parameters: { sessionId: string };
    body: undefined;
    answer: AgentTree;
  };
  /** Describe how clients of the built-in MCP server authenticate. Metadata of RFC 9728, which a 401 of `/api/mcp` names in `WWW-Authenticate`. There is no authorization server: send an API key, or a session's user token, as `Authorization: Bearer`. */
  readMcpResource: {
    parameters: {  };
    body: undefined;
    answer: McpResource;
  };
  /** Create a token for the built-in MCP server. Gives an external agent access to tools of the session. With the token, an MCP client connects to the built-in server at `url` over Streamable HTTP. The server offers the client its own utilities and the session's tools that the tool policy allows on a turn that no person started. It does not offer `elicit_user_input`, the tools for planning, requirements, delegation and skills, the tools for test runs, or the tools that act for the whole session (`publish_variant`, `deploy_landing_page`, `publish_qa_report`, `import_legacy_session`). The token also ends when the session is deleted, or when the API key of this request is revoked, expires or loses `sessions:write`. */
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
  /** Follow a request's events. Streams the request's events as Server-Sent Events. Each stored event has its `seq` as `id`, its `kind` as `event` and the whole event as JSON in `data`. A replay is identical byte for byte. `message.delta` is only sent live, is not stored and has no `id`. The stream covers all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; if the request is completed and no events are left, the response is 204, so that an `EventSource` stops reconnecting. A heartbeat comment is sent every 15 s. */
  streamRequest: {
    parameters: { sessionId: string; requestId: string; after?: number | undefined };
    body: undefined;
    answer: Response;
  };
  /** Read the agent's status. Returns what the agent is doing and the results of the session. To get the deliverable of a structured session, poll this operation, or call it once after `run.completed`. */
  readAgentStatus: {
    parameters: { sessionId: string };
    body: undefined;
    answer: AgentStatus;
  };
  /** Post a follow-up message. Send exactly one of `text`, `message` and `messages`. A turn that this operation starts never counts as started by a person. `queued` is true if the message waits for earlier turns to end or for the running turn to read it. A session queues at most 100 messages; a further message is refused with 409 `conflict`. */
  postMessage: {
    parameters: { sessionId: string };
    body: FollowUp;
    answer: FollowUpAccepted;
  };
  /** Stop the running turn. Ends the running turn with the outcome `cancelled`. The next queued message then starts its turn. `runId` is null if no turn was running. */
  cancelTurn: {
    parameters: { sessionId: string };
    body: undefined;
    answer: TurnStopped;
  };
  /** List queued messages. Lists the messages that wait, in the order in which the agent will get them. */
  listQueue: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Queue;
  };
  /** Edit a queued message. Replaces the text of a message that waits. Its attached files and annotations stay. Returns 409 once the message's turn has started or a turn has read the message. */
  editQueued: {
    parameters: { sessionId: string; requestId: string };
    body: {
      text: string;
    };
    answer: Settled;
  };
  /** Remove a queued message. Removes a message that waits, and completes its request with the outcome `cancelled`. Returns 409 once the message's turn has started or a turn has read the message. */
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
  /** Answer the agent's question. Answers or declines a question, after which the turn continues. Each question can be answered or declined only once: returns 409 if the question is no longer open. Returns 400 if a value does not fit its field; the question then stays open. */
  answerElicitation: {
    parameters: { sessionId: string; elicitationId: string };
    body: {
      /** An answer: a text or, for a question with a form, the values by field name. */
      answer: string | Record<string, unknown>;
    } | {
      decline: true;
    };
    answer: Settled;
  };
  /** List what waits for a person, newest first. Lists the items of all sessions of the key's owner. Settled items stay listed until their session is deleted. */
  listInbox: {
    parameters: { limit?: number | undefined; cursor?: string | undefined; sessionId?: string | undefined; state?: "open" | "answered" | "approved" | "denied" | "done" | "declined" | "expired" | "withdrawn" | undefined };
    body: undefined;
    answer: InboxItemPage;
  };
  /** List what waits for a person in a session, newest first. Lists the items of the session and its sub-agents. */
  listSessionInbox: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined; state?: "open" | "answered" | "approved" | "denied" | "done" | "declined" | "expired" | "withdrawn" | undefined };
    body: undefined;
    answer: InboxItemPage;
  };
  /** Read an item of the inbox. Returns the item with all arguments of its call, however long they are. */
  readInboxItem: {
    parameters: { sessionId: string; itemId: string };
    body: undefined;
    answer: InboxItemAnswer;
  };
  /** Settle an item of the inbox. Answers or declines a question, approves or denies a tool call, or ends a handover of the browser (`done` or `decline`), after which the turn continues. An approved call runs once, with exactly the arguments of the item. Each item is settled once, here or with its own endpoint: returns 409 with its `state` if it is not open any more. Returns 400 if a value does not fit its field; the item then stays open. Budgets and plans are only listed: they are settled with `PATCH …/budget` and on the session page. */
  settleInboxItem: {
    parameters: { sessionId: string; itemId: string };
    body: {
      /** An answer: a text or, for a question with a form, the values by field name. */
      answer: string | Record<string, unknown>;
    } | {
      decline: true;
    } | {
      done: true;
      /** The agent reads it. */
      note?: string | undefined;
    } | {
      approve: true;
      /** Also approves later calls of this tool in the session and its sub-agents. */
      forSession?: boolean | undefined;
    } | {
      deny: true;
      /** The agent reads it. */
      reason?: string | undefined;
    };
    answer: InboxItemSettled;
  };
  /** Read the browser's status */
  readBrowser: {
    parameters: { sessionId: string };
    body: undefined;
    answer: BrowserStatus;
  };
  /** Retarget the live browser. A 202 means that the retarget is accepted. Poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` says why the navigation was refused. If no browser runs, one is started first, which can take about 30 s. A session with `browser: false` returns 409. */
  retargetBrowser: {
    parameters: { sessionId: string };
    body: Retarget;
    answer: RetargetAccepted;
  };
  /** Read the last screenshot of the page. Returns the screenshot that was taken when the browser last became idle or closed. The session page shows it while no browser runs. Returns 404 if there is no screenshot. */
  readPagePicture: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Response;
  };
  /** List the pictures of the browser's recording. A picture is taken of the page as each call of the agent that may change it has left it, and of the page before the first call of a turn. A picture that looks like the one before is left out. At most 500 pictures are kept, within a budget of the operator (`RECORDING_MAX_MB`); older ones are thinned out. */
  listRecordedPictures: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Recording;
  };
  /** Read a picture of the browser's recording */
  readRecordedPicture: {
    parameters: { sessionId: string; pictureId: string };
    body: undefined;
    answer: Response;
  };
  /** List the transcript. Lists messages, oldest first. Queued messages are not part of the transcript. */
  listMessages: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: number | undefined };
    body: undefined;
    answer: MessageRecordPage;
  };
  /** Submit annotations. The annotation overlay in the pages of the live browser calls this webhook, from any origin and without an API key: the unguessable session id is the credential. An annotation never starts a turn. A session has a limited number of annotations; beyond it, the response is 409. */
  submitAnnotation: {
    parameters: { sessionId: string };
    body: AnnotationSubmission;
    answer: AnnotationAccepted;
  };
  /** List annotations, newest first */
  listAnnotations: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined; status?: "open" | "sent" | "resolved" | "lost" | undefined };
    body: undefined;
    answer: AnnotationRecordPage;
  };
  /** Look for the annotated elements. Looks on the page that the live browser shows for the elements of its open, lost and sent annotations, of the newest 50 of the session. An open annotation without any of its elements becomes `lost`, a lost one whose element is back becomes `open`. Starts no browser; `data` is empty if none runs, or if the page has no such annotations. */
  locateAnnotations: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SoughtAnnotations;
  };
  /** Describe what a person marks. Describes the element, area or text that a person marks on the picture of the live browser's page, as a note to which a comment is added. The page gets no input and notices nothing. Starts no browser. */
  describeTarget: {
    parameters: { sessionId: string };
    body: MarkedPart;
    answer: MarkedTarget;
  };
  /** Resolve or reopen an annotation. Repeating the call changes nothing. */
  changeAnnotation: {
    parameters: { sessionId: string; annotationId: string };
    body: AnnotationChange;
    answer: AnnotationAnswer;
  };
  /** Remove an annotation. Messages with which the annotation was sent keep its text. */
  removeAnnotation: {
    parameters: { sessionId: string; annotationId: string };
    body: undefined;
    answer: Settled;
  };
  /** Download an artifact. Returns evidence that a tool stored. Images are sent inline, everything else as a download. */
  readArtifact: {
    parameters: { sessionId: string; artifactId: string };
    body: undefined;
    answer: Response;
  };
  /** List where the values of a result are in what the session saw. One entry for each string and number of the result, in its order, without values that the schema fixes with `enum` or `const`. The service looks them up itself, without a model, a moment after `run.completed`. The response is 404 for a `runId` without a ready result. */
  listReceipts: {
    parameters: { sessionId: string; runId?: string | undefined };
    body: undefined;
    answer: ReceiptList;
  };
  /** List the files of the workspace. Lists one folder, by name. Links and special files are left out. Files that a page offered for download are in `downloads`, files that people attached to messages in `uploads`. A workspace that was not used yet is an empty list. */
  listFiles: {
    parameters: { sessionId: string; path?: string | undefined; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: WorkspaceFilePage;
  };
  /** Download a file of the workspace. Returns the bytes of a file, or the part that `Range` names. PNG, JPEG, WebP and GIF pictures and PDF files are sent inline, everything else as a download of the type `application/octet-stream`: no file of a workspace runs as a page of this service. */
  readFile: {
    parameters: { sessionId: string; filePath: string };
    body: undefined;
    answer: Response;
  };
  /** Write a file of the workspace. Stores the body as a file, and creates the folders that lead to it. 201 if the file is new, 200 if it replaces another. With `If-None-Match: *` an existing file is not replaced, and with `ifExists=rename` the new file gets another name: `file.path` has it. The event `workspace.changed` tells watchers of the session. */
  writeFile: {
    parameters: { sessionId: string; filePath: string; ifExists?: "replace" | "rename" | undefined };
    body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;
    answer: WorkspaceFileWritten;
  };
  /** Remove a file of the workspace. Removes a file, a link (not its target) or an empty folder. */
  removeFile: {
    parameters: { sessionId: string; filePath: string };
    body: undefined;
    answer: Settled;
  };
  /** List callbacks and their attempts. Lists deliveries, newest first, each with all its attempts. */
  listDeliveries: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: DeliveryRecordPage;
  };
  /** Send a callback again. Sends the delivery again with the same body and id, in up to five more attempts, even if callbacks to its host are disabled. Returns 409 while the delivery is still `pending` or `sending`. */
  redeliverCallback: {
    parameters: { sessionId: string; deliveryId: string };
    body: undefined;
    answer: Redelivered;
  };
  /** Replace the callback secret. Replaces the secret of the session's callback, or adds one. All later attempts are signed with the new secret in `X-Service-Signature`. Until the overlap ends, `X-Service-Signature-Previous` has the signature with the old secret, and `Webhook-Signature` has both. Sending the same secret again changes nothing; a second rotation within the overlap ends the first secret. Returns 409 if the session has no callback. */
  rotateCallbackSecret: {
    parameters: { sessionId: string };
    body: {
      /** The new secret. */
      secret: string;
      /** Hours for which deliveries are also signed with the old secret. 0 for no overlap. */
      overlapHours?: number | undefined;
    };
    answer: CallbackChanged;
  };
  /** Enable callbacks to a host that was disabled. If all deliveries to a host are dropped for days, the service disables the owner's callbacks to this host: it then drops further deliveries without sending a request. This operation enables callbacks to the host of the session's callback again. Send dropped deliveries again with `redeliver`. Returns 409 if the session has no callback. */
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
  /** Create a share link. The secret is random, stored only as a hash, and returned only once. The link opens the session page with the role of the link until the link expires or is revoked. A session can have at most 100 live links; a further one is refused with 409. */
  createShareLink: {
    parameters: { sessionId: string };
    body: {
      /** `view` can watch, `comment` can also annotate, and `drive` can also message the agent and control the browser. */
      role: "view" | "comment" | "drive";
      /** Label that lists show, for example the name of the recipient. */
      label?: string | undefined;
      /** Origins whose pages may show the link in a frame, each one of the service's `EMBED_ORIGINS`. Default: all of `EMBED_ORIGINS`. */
      embedOrigins?: Array<string> | undefined;
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
  /** List variants. Lists the variants of the session with the state of their newest revisions. For a sub-agent, lists the variants of its root session. */
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
  /** Accept changes that a check could not examine. Accepts that the newest check could not examine these changes, for example because they are in a closed menu. A check passes (`warn`) only if nothing failed and each change with the outcome `not_examined` is accepted. The agent cannot accept for itself. An acceptance holds for later checks and revisions, as long as the change has the same content and is not examined in the same places for the same reasons. Accepting a change again has no effect. The response is 400 if the check has no such change, and 409 if the change was proved or has failed, if the revision is not the newest, if it was not checked, or if it was checked again since `checkedAt`. The session page calls this operation with a share cookie of the role `drive`. */
  acceptChanges: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      /** Number of the newest revision. Any other number is refused with 409. */
      revision: number;
      /** `at` of the check that lists the changes. If the revision was checked again since, the response is 409. */
      checkedAt: string;
      /** Ids of changes with the outcome `not_examined`. */
      changes: Array<string>;
    };
    answer: VariantAccepted;
  };
  /** Publish the newest revision of a variant. Makes an immutable release of the newest revision. Pages that load the publication's script get the release within a minute. The newest check of the revision must have passed (`pass` or `warn`), otherwise the response is 409; `unchecked: true` publishes without a passed check. If the current release already has this revision, the response is 200 and no new release is made. Exception: if that release is unchecked and the revision has passed a check since, a new release is made. A variant can have at most 500 releases. The session page calls this operation with a share cookie of the role `drive`. */
  publishVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      /** Number of the revision to publish. It must be the newest revision; any other number is refused with 409. Omit to publish the newest revision, whatever its number. */
      revision?: number | undefined;
      /** `true` also publishes a revision whose newest check has not passed, or lists changes that were not examined and are not accepted. The release is then permanently marked as unchecked. */
      unchecked?: boolean | undefined;
    };
    answer: Published;
  };
  /** Make another release of a variant the current one. Makes the given release the current one. Pages that load the publication's script get the release within a minute. The release may have been unpublished or be unchecked; `unchecked` is not required again. */
  rollbackVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      /** Number or id of the release that becomes the current one. */
      release: number | string;
    };
    answer: PublicationChanged;
  };
  /** Unpublish a variant. The publication's script becomes empty, so that pages that load it continue to work without errors. The scripts of single releases return 410, even after a new release, until a rollback to them. Idempotent. */
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
  /** Export a revision. Exports a revision of a variant. With `format=script`, the response is a JavaScript file; otherwise it is JSON with the revision in `document`, and `omitted` lists the parts that the format cannot represent. */
  exportRevision: {
    parameters: { sessionId: string; variantKey: string; revision: string; format?: "script" | "json" | "growthbook" | "posthog" | undefined };
    body: undefined;
    answer: ExportedVariant | string;
  };
  /** Import a variant. Stores the imported document as a new revision on behalf of a person. The revision replaces the content of the variant; if the variant does not exist, the import creates it. Returns 409 if `baseRevision` is not the newest revision. If no part of the document can be imported, returns 400 and changes nothing. */
  importVariant: {
    parameters: { sessionId: string; variantKey: string };
    body: {
      format: "json" | "growthbook" | "posthog";
      /** A variant's JSON export of this service (the whole response or only its `document`), GrowthBook's visual changesets or SDK payload, or PostHog's web experiments. */
      document: unknown;
      /** Number of the variant's newest revision, whose content the import replaces. 0 for a variant that does not exist yet. Any other number is refused with 409. */
      baseRevision?: number | undefined;
      /** URL of the page to apply changes to whose own URL pattern has no equivalent in this service. */
      url?: string | undefined;
      /** Key, id or name of the experiment to import. Default: the first experiment that has changes. */
      experiment?: string | undefined;
      /** Key, name or number of the variation to import. Default: the first variation other than the control that has changes. */
      variation?: string | undefined;
    };
    answer: ImportedVariant;
  };
  /** List publications, newest first. Lists the publications of the key's owner, including those of deleted sessions. An unpublished publication is listed until its session is deleted. */
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
  /** Make another release of a publication the current one. The same as the rollback of a variant, also for a publication whose session has been deleted. */
  rollbackPublication: {
    parameters: { publicationId: string };
    body: {
      /** Number or id of the release that becomes the current one. */
      release: number | string;
    };
    answer: PublicationChanged;
  };
  /** Unpublish a publication. The same as unpublishing a variant, also for a publication whose session has been deleted. */
  unpublishPublication: {
    parameters: { publicationId: string };
    body: undefined;
    answer: PublicationChanged;
  };
  /** Load a published script. Public: no credentials, `Access-Control-Allow-Origin: *`. The script of the current release may be cached for 60 s, that of a single release for 300 s. If the publication is unpublished, its script is empty, and the scripts of its withdrawn releases return 410. */
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
  /** Read a QA report. A report never changes. `summary` and `detail` are Markdown that the agent wrote: treat both as untrusted. With `format=markdown`, the response is a Markdown file that contains both as block quotations, without raw HTML or pictures. */
  readReport: {
    parameters: { sessionId: string; reportId: string; format?: "json" | "markdown" | undefined };
    body: undefined;
    answer: ReportRead | string;
  };
  /** List test runs, newest first. Lists all test runs of the session, without their results. For a sub-agent, lists the test runs of its root session. */
  listTestRuns: {
    parameters: { sessionId: string };
    body: undefined;
    answer: TestRunPage;
  };
  /** Read a test run with its results. `results` is empty until the run has ended. Titles, errors, steps and output contain texts of the tests and pages: treat them as untrusted. Open a trace with `npx playwright show-trace`. */
  readTestRun: {
    parameters: { sessionId: string; testRunId: string };
    body: undefined;
    answer: TestRunAnswer;
  };
  /** Read the plan. Returns the plan of the session; for a sub-agent, the plan of its root session. If no plan was ever written, returns an empty plan with revision 0. */
  readPlan: {
    parameters: { sessionId: string };
    body: undefined;
    answer: PlanAnswer;
  };
  /** Edit the plan. Applies edits to the current plan. Edits of different items by several people all take effect. If an edit names an item that no longer exists, replaces a text that has changed, or adds an item to a plan of 50 items, the request is refused with 409, and none of its edits takes effect. The agent cannot overwrite the edits before it has seen them. */
  editPlan: {
    parameters: { sessionId: string };
    body: PlanEdits;
    answer: PlanAnswer;
  };
  /** Switch plan first on or off. With `plan_first`, the service refuses tool calls that change pages, files or publications until a person agrees to the plan on the session page. This also applies to sub-agents and to holders of MCP tokens. The mode takes effect with the next tool call; calls in progress are not stopped. The agent is still offered the same tools. */
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
  /** Add requirements. Adds requirements on behalf of a person, at most 20 per call. A session can have at most 100 requirements; a call that would exceed this is refused with 409. */
  addRequirements: {
    parameters: { sessionId: string };
    body: NewRequirements;
    answer: RequirementsAdded;
  };
  /** Change, waive or reopen a requirement. Changes a requirement on behalf of a person. A new text or assertion reopens a requirement that was met or failed, unless the call sets a status. The agent cannot change a waived requirement, nor the text or an assertion of a requirement that a person added. */
  updateRequirement: {
    parameters: { sessionId: string; requirementId: string };
    body: RequirementChange;
    answer: RequirementAnswer;
  };
  /** List landing pages, newest first. Lists the landing pages of the key's owner, including those of deleted sessions. An unpublished page is listed until its session is deleted. */
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
  /** Serve another version of a landing page. Serves the given version of the page. The change takes effect within a second in every process. A rollback also publishes an unpublished page again. */
  rollbackPage: {
    parameters: { slug: string };
    body: {
      /** Number of the version to serve. */
      version: number;
    };
    answer: LandingPageChanged;
  };
  /** Unpublish a landing page. Within a second, every URL of the page returns 410 in every process. The slug stays reserved. A rollback or a new deploy publishes the page again. Idempotent. */
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
  /** Export a session. Downloads the session as one file. The JSON has its conversation, the newest revision of each variant, results, previews, annotations, sub-agents and evidence; `leftOut` lists the parts that are missing. The HTML presents the same content for people, in one file without scripts or network access. Neither format contains credentials, headers, callbacks, share links, the system prompt or metadata. The response is streamed. */
  exportSession: {
    parameters: { sessionId: string; format?: "json" | "html" | undefined; evidence?: "true" | "false" | undefined };
    body: undefined;
    answer: SessionExport | string;
  };
  /** Import a document into a session. Imports an export of a session or of a variant, or a document of GrowthBook or PostHog. The document's variants become new variants; if a key is taken, a number is appended to it. The document's conversation can be read at `imports/:importId`, and the agent can read it too. The document is validated as a whole before anything is stored. Returns 200 without a change if the document was imported before. `leftOut` lists the parts that were not imported. */
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
  /** List skills. Lists the skills that the session was created with, ordered by name: procedures in the Agent Skills format that its agent reads, and scripts that it runs in the sandbox. Empty for a session without a sandbox, and for a session that was created before the service had skills. */
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
  /** Check readiness. Returns 200 if every part that a turn needs is available, otherwise 503. Needs no API key. `checks` has the state of each part, `browserHosts` the browser hosts, and `missingTools` what does not work on this deployment, but only for callers with a valid API key and, if the service's `BASE_URL` is a loopback address, for processes on the same machine. */
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

/** Method and path of every API operation that programs can call. */
export const OPERATIONS = {
  createSession: {"method":"POST","path":"/api/session","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listSessions: {"method":"GET","path":"/api/sessions","query":["limit","cursor","q","state"],"hasBody":false,"isRaw":false,"hasText":false},
  readSession: {"method":"GET","path":"/api/sessions/:sessionId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  renameSession: {"method":"PATCH","path":"/api/sessions/:sessionId","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  deleteSession: {"method":"DELETE","path":"/api/sessions/:sessionId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readBudget: {"method":"GET","path":"/api/sessions/:sessionId/budget","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  changeBudget: {"method":"PATCH","path":"/api/sessions/:sessionId/budget","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listAgents: {"method":"GET","path":"/api/sessions/:sessionId/agents","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readMcpResource: {"method":"GET","path":"/.well-known/oauth-protected-resource/api/mcp","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  createMcpToken: {"method":"POST","path":"/api/sessions/:sessionId/mcp-token","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readRequestStatus: {"method":"GET","path":"/api/sessions/:sessionId/requests/:requestId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  streamRequest: {"method":"GET","path":"/api/sessions/:sessionId/requests/:requestId/stream","query":["after"],"hasBody":false,"isRaw":true,"hasText":false},
  readAgentStatus: {"method":"GET","path":"/api/sessions/:sessionId/agent/status","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  postMessage: {"method":"POST","path":"/api/sessions/:sessionId/agent/messages","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  cancelTurn: {"method":"POST","path":"/api/sessions/:sessionId/agent/cancel","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listQueue: {"method":"GET","path":"/api/sessions/:sessionId/queue","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  editQueued: {"method":"PATCH","path":"/api/sessions/:sessionId/queue/:requestId","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  removeQueued: {"method":"DELETE","path":"/api/sessions/:sessionId/queue/:requestId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listElicitations: {"method":"GET","path":"/api/sessions/:sessionId/elicitations","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  answerElicitation: {"method":"POST","path":"/api/sessions/:sessionId/elicitations/:elicitationId","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listInbox: {"method":"GET","path":"/api/inbox","query":["limit","cursor","sessionId","state"],"hasBody":false,"isRaw":false,"hasText":false},
  listSessionInbox: {"method":"GET","path":"/api/sessions/:sessionId/inbox","query":["limit","cursor","state"],"hasBody":false,"isRaw":false,"hasText":false},
  readInboxItem: {"method":"GET","path":"/api/sessions/:sessionId/inbox/:itemId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  settleInboxItem: {"method":"POST","path":"/api/sessions/:sessionId/inbox/:itemId","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  readBrowser: {"method":"GET","path":"/api/sessions/:sessionId/browser","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  retargetBrowser: {"method":"POST","path":"/api/sessions/:sessionId/browser","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  readPagePicture: {"method":"GET","path":"/api/sessions/:sessionId/live/picture","query":[],"hasBody":false,"isRaw":true,"hasText":false},
  listRecordedPictures: {"method":"GET","path":"/api/sessions/:sessionId/recording","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readRecordedPicture: {"method":"GET","path":"/api/sessions/:sessionId/recording/:pictureId","query":[],"hasBody":false,"isRaw":true,"hasText":false},
  listMessages: {"method":"GET","path":"/api/sessions/:sessionId/messages","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  submitAnnotation: {"method":"POST","path":"/api/sessions/:sessionId/annotations/webhook","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listAnnotations: {"method":"GET","path":"/api/sessions/:sessionId/annotations","query":["limit","cursor","status"],"hasBody":false,"isRaw":false,"hasText":false},
  locateAnnotations: {"method":"POST","path":"/api/sessions/:sessionId/annotations/locate","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  describeTarget: {"method":"POST","path":"/api/sessions/:sessionId/annotations/target","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  changeAnnotation: {"method":"PATCH","path":"/api/sessions/:sessionId/annotations/:annotationId","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  removeAnnotation: {"method":"DELETE","path":"/api/sessions/:sessionId/annotations/:annotationId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readArtifact: {"method":"GET","path":"/api/sessions/:sessionId/artifacts/:artifactId","query":[],"hasBody":false,"isRaw":true,"hasText":false},
  listReceipts: {"method":"GET","path":"/api/sessions/:sessionId/deliverable/receipts","query":["runId"],"hasBody":false,"isRaw":false,"hasText":false},
  listFiles: {"method":"GET","path":"/api/sessions/:sessionId/files","query":["path","limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  readFile: {"method":"GET","path":"/api/sessions/:sessionId/files/:filePath","query":[],"hasBody":false,"isRaw":true,"hasText":false},
  writeFile: {"method":"PUT","path":"/api/sessions/:sessionId/files/:filePath","query":["ifExists"],"hasBody":false,"takesBytes":true,"isRaw":false,"hasText":false},
  removeFile: {"method":"DELETE","path":"/api/sessions/:sessionId/files/:filePath","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listDeliveries: {"method":"GET","path":"/api/sessions/:sessionId/deliveries","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  redeliverCallback: {"method":"POST","path":"/api/sessions/:sessionId/deliveries/:deliveryId/redeliver","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  rotateCallbackSecret: {"method":"POST","path":"/api/sessions/:sessionId/callback/secret","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  enableCallback: {"method":"POST","path":"/api/sessions/:sessionId/callback/enable","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listShareLinks: {"method":"GET","path":"/api/sessions/:sessionId/share-links","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  createShareLink: {"method":"POST","path":"/api/sessions/:sessionId/share-links","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  revokeAllShareLinks: {"method":"POST","path":"/api/sessions/:sessionId/share-links/revoke-all","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  revokeShareLink: {"method":"DELETE","path":"/api/sessions/:sessionId/share-links/:linkId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listVariants: {"method":"GET","path":"/api/sessions/:sessionId/variants","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readRevision: {"method":"GET","path":"/api/sessions/:sessionId/variants/:variantKey/revisions/:revision","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listPreviews: {"method":"GET","path":"/api/sessions/:sessionId/previews","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  acceptChanges: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/accept","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  publishVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/publish","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  rollbackVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/rollback","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  unpublishVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/unpublish","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listReleases: {"method":"GET","path":"/api/sessions/:sessionId/variants/:variantKey/releases","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  exportRevision: {"method":"GET","path":"/api/sessions/:sessionId/variants/:variantKey/revisions/:revision/export","query":["format"],"hasBody":false,"isRaw":false,"hasText":true},
  importVariant: {"method":"POST","path":"/api/sessions/:sessionId/variants/:variantKey/import","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listPublications: {"method":"GET","path":"/api/publications","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  listPublicationReleases: {"method":"GET","path":"/api/publications/:publicationId/releases","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  rollbackPublication: {"method":"POST","path":"/api/publications/:publicationId/rollback","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  unpublishPublication: {"method":"POST","path":"/api/publications/:publicationId/unpublish","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readScript: {"method":"GET","path":"/v/:script","query":[],"hasBody":false,"isRaw":true,"hasText":false},
  listReports: {"method":"GET","path":"/api/sessions/:sessionId/reports","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readReport: {"method":"GET","path":"/api/sessions/:sessionId/reports/:reportId","query":["format"],"hasBody":false,"isRaw":false,"hasText":true},
  listTestRuns: {"method":"GET","path":"/api/sessions/:sessionId/tests","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readTestRun: {"method":"GET","path":"/api/sessions/:sessionId/tests/:testRunId","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readPlan: {"method":"GET","path":"/api/sessions/:sessionId/plan","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  editPlan: {"method":"POST","path":"/api/sessions/:sessionId/plan/edits","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  setPlanMode: {"method":"POST","path":"/api/sessions/:sessionId/plan/mode","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listRequirements: {"method":"GET","path":"/api/sessions/:sessionId/requirements","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  addRequirements: {"method":"POST","path":"/api/sessions/:sessionId/requirements","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  updateRequirement: {"method":"PATCH","path":"/api/sessions/:sessionId/requirements/:requirementId","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listLandingPages: {"method":"GET","path":"/api/pages","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  readLandingPage: {"method":"GET","path":"/api/pages/:slug","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listPageVersions: {"method":"GET","path":"/api/pages/:slug/versions","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  rollbackPage: {"method":"POST","path":"/api/pages/:slug/rollback","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  unpublishPage: {"method":"POST","path":"/api/pages/:slug/unpublish","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  listSessionPages: {"method":"GET","path":"/api/sessions/:sessionId/pages","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  exportSession: {"method":"GET","path":"/api/sessions/:sessionId/export","query":["format","evidence"],"hasBody":false,"isRaw":false,"hasText":true},
  importIntoSession: {"method":"POST","path":"/api/sessions/:sessionId/import","query":[],"hasBody":true,"isRaw":false,"hasText":false},
  listImports: {"method":"GET","path":"/api/sessions/:sessionId/imports","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  readImport: {"method":"GET","path":"/api/sessions/:sessionId/imports/:importId","query":["limit","cursor"],"hasBody":false,"isRaw":false,"hasText":false},
  listSkills: {"method":"GET","path":"/api/sessions/:sessionId/skills","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readHealth: {"method":"GET","path":"/api/health","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readReadiness: {"method":"GET","path":"/api/ready","query":[],"hasBody":false,"isRaw":false,"hasText":false},
  readOpenApi: {"method":"GET","path":"/api/openapi.json","query":[],"hasBody":false,"isRaw":true,"hasText":false},
} as const;
