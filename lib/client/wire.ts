// Made from the contract by `npm run build:client`. Do not edit: a test compares it.

export type AgentStatus = {
  turnState: TurnState;
  activeRunId: string | null;
  lastRunId: string | null;
  /** Result of the newest run. It is final once `turnState` is not `running` and its `runId` equals `lastRunId` with a status other than `pending`. */
  deliverable: Deliverable | null;
  /** Caps on sub-agents that are in force. */
  delegation: {
    maxLiveChildren: number;
    maxLiveBrowsers: number;
  };
  /** How the workspace stands. */
  startupStatus: "uninitialized" | "starting" | "ready" | "error";
  /** How the newest ended run ended. */
  lastRun: {
    outcome: RunOutcome;
    error: string | null;
  } | null;
  /** Messages that wait. */
  queued: number;
};

export type AnnotationAccepted = {
  ok: true;
};

/** An annotation with every field that was submitted. */
export type AnnotationRecord = {
  id: string;
  event: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  [field: string]: unknown;
};

export type AnnotationRecordPage = {
  success: true;
  data: Array<AnnotationRecord>;
  /** Send it as `cursor` for the next page; null after the last. */
  nextCursor: string | null;
};

/** What the annotation overlay sends; unknown fields are kept. */
export type AnnotationSubmission = {
  /** `submit` needs `annotations`. */
  event: string;
  /** All of it as text. */
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

/** Somebody annotated the page. */
export type AnnotationSubmittedEvent = {
  kind: "annotation.submitted";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  annotation: AnnotationRecord;
};

/** An API key without its secret, of which only a hash is kept. */
export type ApiKey = {
  id: string;
  ownerId: string;
  name: string;
  scopes: Array<string>;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC, to the minute; null until its first use. */
  lastUsedAt: string | null;
  /** ISO 8601, UTC; null where it does not end by itself. */
  expiresAt: string | null;
  /** ISO 8601, UTC; null while it is not revoked. */
  revokedAt: string | null;
};

export type ApiKeyPage = {
  success: true;
  data: Array<ApiKey>;
  /** Send it as `cursor` for the next page; null after the last. */
  nextCursor: string | null;
};

export type BrowserStatus = {
  status: "idle" | "creating" | "ready" | "expired" | "error";
  sessionId: string | null;
  /** Opens the live view alone, read-only, for anyone who has this link; null unless `status` is `ready`. Revoking all share links changes it. A path of this service. */
  liveViewUrl: string | null;
  desiredUrl: string | null;
  lastNavigatedUrl: string | null;
  currentUrl: string | null;
  /** Why a navigation was refused; gone once a page is reached. */
  lastError: string | null;
};

/** The live browser stands otherwise than before. */
export type BrowserStatusEvent = {
  kind: "browser.status";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  status: "idle" | "creating" | "ready" | "expired" | "error";
  desiredUrl: string | null;
  lastNavigatedUrl: string | null;
  currentUrl: string | null;
  lastError: string | null;
};

/** Every browser of the process is in use, so the session waits for one. The wait ends with a `browser.status` other than `creating`. */
export type BrowserWaitingEvent = {
  kind: "browser.waiting";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  /** Place in line; 1 is next. */
  position: number;
};

/** Where lifecycle events are posted. */
export type Callback = {
  /** Receives events by POST. Loopback, private and link-local hosts are refused. */
  url: string;
  /** Signs every delivery with HMAC-SHA256. */
  secret?: string | undefined;
  /** Which events; all where nothing is said. */
  events?: Array<"run.started" | "run.completed"> | undefined;
};

export type Capabilities = {
  /** `false`: no browser. */
  browser?: boolean | undefined;
  /** `false`: no workspace, and no browser, which runs in it. */
  sandbox?: boolean | undefined;
};

/** A session. Everything but the messages is fixed from here on. */
export type CreateSession = {
  /** At least one of them is the user's; the last of those begins the turn. */
  messages: Array<Message>;
  /** The page to work on. */
  targetUrl?: string | undefined;
  /** Further pages to work on. */
  targetPageUrls?: Array<string> | undefined;
  /** The caller's own, kept with the session. */
  metadata?: Record<string, unknown> | undefined;
  /** A replay with the same key and an equal body answers with the original session. */
  idempotencyKey?: string | undefined;
  /** Who asks, in the caller's own words. */
  userId?: string | undefined;
  /** Stamped onto every event. It does not make a turn a person's, whatever its value. */
  source?: "web" | "api" | "slack" | "cli" | undefined;
  callback?: Callback | undefined;
  /** A JSON Schema (at most 64 KiB, an object at its root): every turn ends with a value that is valid against it. It must admit a finite value and compile within the time limit. While too many schemas of one key wait to be checked, further ones are answered with 429. */
  outputSchema?: Record<string, unknown> | undefined;
  tools?: ToolPolicy | undefined;
  /** Instructions of the caller, after the agent's own. */
  systemPrompt?: string | undefined;
  /** Tool servers by id, at most 10. `builtin` is no server of its own: it pins the built-in one to a URL. */
  mcpServers?: Record<string, McpServer> | undefined;
  capabilities?: Capabilities | undefined;
  /** Whether the agent may delegate to sub-agents. Accepted and stored, but without effect yet: the delegation tools do not exist in this version. */
  subAgents?: boolean | undefined;
  delegation?: DelegationCaps | undefined;
};

/** How many sub-agents may be live at once; without effect while `subAgents` is. */
export type DelegationCaps = {
  /** At most the deployment's ceiling. */
  maxLiveChildren?: number | undefined;
  /** At most the deployment's ceiling, and at most `maxLiveChildren`. */
  maxLiveBrowsers?: number | undefined;
};

/** The typed result of a run of a structured session. */
export type Deliverable = PendingDeliverable | ReadyDeliverable | FailedDeliverable;

/** There is no result. */
export type DeliverableFailedEvent = {
  kind: "deliverable.failed";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** A result is to come. */
export type DeliverablePendingEvent = {
  kind: "deliverable.pending";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** The result is there, and valid. */
export type DeliverableReadyEvent = {
  kind: "deliverable.ready";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  deliverable: Deliverable;
};

/** One callback, with its attempts. */
export type DeliveryRecord = {
  /** The value of `X-Service-Delivery`. */
  id: string;
  event: "run.started" | "run.completed";
  /** Names one attempt at a request's turn. */
  runId: string;
  state: "pending" | "sending" | "delivered" | "dropped";
  attempts: Array<{
    /** ISO 8601, UTC. */
    at: string;
    /** HTTP status; null where none came. */
    status: number | null;
    latencyMs: number;
    /** Null when it was accepted. */
    error: string | null;
    /** Rises with every redeliver. */
    cycle: number;
    /** The beginning of the receiver's answer, as plain text. */
    excerpt: string | null;
  }>;
  /** ISO 8601, UTC. */
  nextAttemptAt: string | null;
};

export type DeliveryRecordPage = {
  success: true;
  data: Array<DeliveryRecord>;
  /** Send it as `cursor` for the next page; null after the last. */
  nextCursor: string | null;
};

/** A stored event of the session. Pass over kinds that you do not know. */
export type DomainEvent = RunStartedEvent | MessageCompletedEvent | ToolCallEvent | ToolResultEvent | McpSkippedEvent | TurnCompactingEvent | TurnCompactedEvent | TurnSteeredEvent | DeliverablePendingEvent | DeliverableReadyEvent | DeliverableFailedEvent | BrowserStatusEvent | BrowserWaitingEvent | AnnotationSubmittedEvent | ElicitationRequestedEvent | ElicitationResolvedEvent | RunCompletedEvent;

/** The agent asks a question. */
export type ElicitationRequestedEvent = {
  kind: "elicitation.requested";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  elicitationId: string;
  /** Names one tool call. */
  toolCallId: string;
  question: string;
  options: Array<string> | null;
};

/** A question is settled. */
export type ElicitationResolvedEvent = {
  kind: "elicitation.resolved";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  elicitationId: string;
  state: "answered" | "declined" | "unanswered";
  answer: string | null;
};

/** Something a tool kept: read it as an artifact. */
export type EvidencePointer = {
  id: string;
  kind: "screenshot" | "preview" | "html" | "file";
  title: string;
  url: string | null;
  mediaType: string;
};

export type FailedDeliverable = {
  /** Names one attempt at a request's turn. */
  runId: string;
  status: "failed";
  /** The provider's message, or the reason. */
  error: string;
  /** What the model wrote instead. */
  rawText?: string | undefined;
  /** What breaks `outputSchema`, where the answer was a value that does. */
  violations?: Array<{
    /** Where in the result, in the shape of `outputSchema`: a JSON pointer. */
    path: string;
    message: string;
    /** The same place in the JSON of `rawText`, where it has one. */
    rawPath?: string | undefined;
  }> | undefined;
};

/** A follow-up message: exactly one of `text`, `message` and `messages`. */
export type FollowUp = {
  /** One user message of one part. */
  text?: string | undefined;
  /** One user message. */
  message?: Message | undefined;
  /** At least one of them is the user's; the last of those begins the turn. */
  messages?: Array<Message> | undefined;
  /** `queue`: a turn of its own, after those before it. `steer`: read by the running turn, between two of its steps; a turn of its own when nothing runs, or when the running turn's structured result is already being collected. `interrupt`: the running turn ends first. */
  mode?: "queue" | "steer" | "interrupt" | undefined;
  /** A replay with the same key and an equal body answers as the first did, and changes nothing. */
  idempotencyKey?: string | undefined;
  /** Who says it, in the caller's own words. */
  userId?: string | undefined;
};

export type FollowUpAccepted = {
  success: true;
  /** Names the session. */
  sessionId: string;
  /** Names one accepted message. */
  requestId: string;
  /** Names one attempt at a request's turn. */
  runId: string;
  /** Where the request is polled. A path of this service. */
  statusUrl: string;
  /** Where the request's events are streamed. A path of this service. */
  streamUrl: string;
  /** Whether a turn is running that this message waits for, or is to be read by. */
  queued: boolean;
};

export type Health = {
  ok: true;
};

export type KeyCreated = {
  success: true;
  /** The key itself, told this once. */
  key: string;
  record: ApiKey;
};

export type KeyRevoked = {
  success: true;
  record: ApiKey;
};

/** The new key, and the old one with the time at which it ends. */
export type KeyRotated = {
  success: true;
  /** The key itself, told this once. */
  key: string;
  record: ApiKey;
  old: ApiKey;
};

/** A text frame of a client; coordinates in CSS pixels of the page. */
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
  /** Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
} | {
  type: "input.wheel";
  deltaX: number;
  deltaY: number;
  x: number;
  y: number;
  /** Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
} | {
  type: "input.key";
  action: "down" | "up";
  key: string;
  code: string;
  /** Alt 1, Ctrl 2, Meta 4, Shift 8. */
  modifiers: number;
  text?: string | undefined;
} | {
  type: "input.text";
  text: string;
} | {
  type: "input.paste";
  text: string;
};

/** A text frame of the service; `type` tells which. Pass over types that you do not know. */
export type LiveFrame = {
  type: "ready";
  lastSeq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: {
    role: "view" | "comment" | "drive";
    watching: number;
    /** Names this connection, for the page's address bar. */
    connectionId: string;
  };
} | {
  type: "run.started";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: RunStartedEvent;
} | {
  type: "message.completed";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: MessageCompletedEvent;
} | {
  type: "tool.call";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: ToolCallEvent;
} | {
  type: "tool.result";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: ToolResultEvent;
} | {
  type: "mcp.skipped";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: McpSkippedEvent;
} | {
  type: "turn.compacting";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: TurnCompactingEvent;
} | {
  type: "turn.compacted";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: TurnCompactedEvent;
} | {
  type: "turn.steered";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: TurnSteeredEvent;
} | {
  type: "deliverable.pending";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: DeliverablePendingEvent;
} | {
  type: "deliverable.ready";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: DeliverableReadyEvent;
} | {
  type: "deliverable.failed";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: DeliverableFailedEvent;
} | {
  type: "browser.status";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: BrowserStatusEvent;
} | {
  type: "browser.waiting";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: BrowserWaitingEvent;
} | {
  type: "annotation.submitted";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: AnnotationSubmittedEvent;
} | {
  type: "elicitation.requested";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: ElicitationRequestedEvent;
} | {
  type: "elicitation.resolved";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: ElicitationResolvedEvent;
} | {
  type: "run.completed";
  seq: number;
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: RunCompletedEvent;
} | {
  type: "message.delta";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: MessageDelta;
} | {
  type: "watching";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: {
    watching: number;
  };
} | {
  type: "control";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: {
    holder: "you" | "someone" | null;
  };
} | {
  type: "cursor";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: {
    cursor: string;
  };
} | {
  type: "pointer";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: {
    kind: "move" | "down";
    x: number;
    y: number;
  };
} | {
  type: "queue";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: Record<string, never>;
} | {
  type: "pong";
  /** Names the session. */
  sessionId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: Record<string, never>;
};

/** A remote tool server; its tools appear as `mcp_<id>__<tool>`. */
export type McpServer = {
  url: string;
  /** `http` is Streamable HTTP. */
  type?: "http" | "sse" | undefined;
  /** Stored sealed, and sent to this server alone; no answer holds them. */
  headers?: Record<string, string> | undefined;
};

/** Tools of a tool server are missing in this turn. */
export type McpSkippedEvent = {
  kind: "mcp.skipped";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  serverId: string;
  reason: string;
  /** The first of the tools that are missing; without it the whole server is. */
  tools?: Array<string> | undefined;
  /** How many tools are missing. */
  toolCount?: number | undefined;
};

export type McpToken = {
  success: true;
  /** Sent as `Authorization: Bearer <token>`; a secret, and short-lived. */
  token: string;
  /** The built-in MCP server: the one address that the token is for. */
  url: string;
  /** ISO 8601, UTC. A new one can be asked for at any time. */
  expiresAt: string;
};

/** What somebody says. */
export type Message = {
  role: "user" | "assistant";
  parts: Array<{
    type: "text";
    text: string;
  }>;
};

/** A message of the transcript, whole. It is sent again with the same `id` when the deliverable of the turn is added to it as a `data-deliverable` part: keep the last. */
export type MessageCompletedEvent = {
  kind: "message.completed";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  message: MessageRecord;
};

/** A piece of a message while it is written. It has no number, and `message.completed` replaces it. */
export type MessageDelta = {
  kind: "message.delta";
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  /** Names one accepted message. */
  requestId: string;
  /** Names one attempt at a request's turn. */
  runId: string;
  source: Source;
  /** Names a message of the transcript. */
  messageId: string;
  part: "text" | "reasoning";
  /** A later attempt replaces what an earlier one streamed. */
  attempt: number;
  /** Characters of this part before this piece. */
  offset: number;
  text: string;
};

/** `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`. Pass over types that you do not know. */
export type MessagePart = {
  type: string;
  [field: string]: unknown;
};

/** A message of the transcript. */
export type MessageRecord = {
  /** Names a message of the transcript. */
  id: string;
  /** Place in the transcript, from 1. */
  seq: number;
  role: "user" | "assistant";
  parts: Array<MessagePart>;
  requestId: string | null;
  runId: string | null;
  /** The `userId` that was sent with it. */
  author: string | null;
  /** ISO 8601, UTC. */
  createdAt: string;
};

export type MessageRecordPage = {
  success: true;
  data: Array<MessageRecord>;
  /** Send it as `cursor` for the next page; null after the last. */
  nextCursor: string | null;
};

export type PendingDeliverable = {
  /** Names one attempt at a request's turn. */
  runId: string;
  status: "pending";
};

export type Queue = {
  success: true;
  data: Array<QueuedMessage>;
  nextCursor: null;
};

export type QueuedMessage = {
  /** Names one accepted message. */
  requestId: string;
  /** `steer` is read by the turn at work, between two of its steps; the others have a turn of their own. */
  mode: "queue" | "steer" | "interrupt";
  text: string;
  author: string | null;
  /** ISO 8601, UTC. */
  createdAt: string;
};

export type Readiness = {
  ok: boolean;
  checks: {
    database: ReadinessCheck;
    engine: ReadinessCheck;
    browser: ReadinessCheck;
    sandbox: ReadinessCheck;
    model: ReadinessCheck;
  };
};

export type ReadinessCheck = {
  ok: boolean;
  detail: string;
};

export type ReadyDeliverable = {
  /** Names one attempt at a request's turn. */
  runId: string;
  status: "ready";
  /** Valid against the caller's `outputSchema`. */
  value: unknown;
};

/** The same callback with the same bytes and id, in a new cycle. */
export type Redelivered = {
  success: true;
  delivery: DeliveryRecord;
};

export type RequestStatus = {
  success: true;
  /** Names the session. */
  sessionId: string;
  /** Names one accepted message. */
  requestId: string;
  /** The request's newest run: a retry is a run of its own. */
  runId: string;
  status: "pending" | "running" | "completed";
};

export type Retarget = {
  /** The page to go to. */
  url: string;
};

/** Accepted, not landed: poll the browser's status. */
export type RetargetAccepted = {
  accepted: true;
  /** The URL that was asked for. */
  url: string;
  /** Where the browser's status is polled. A path of this service. */
  statusUrl: string;
};

/** Body of a `run.completed` callback. */
export type RunCompletedCallback = {
  event: "run.completed";
  /** Names the session. */
  sessionId: string;
  /** Names one accepted message. */
  requestId: string;
  /** Names one attempt at a request's turn. */
  runId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: RunCompletedEvent;
};

/** A run has ended. */
export type RunCompletedEvent = {
  kind: "run.completed";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  outcome: RunOutcome;
  error?: string | undefined;
  deliverable?: Deliverable | undefined;
  usage: Usage;
  /** The run that follows by itself; without it this is the request's last event. */
  willRetry?: {
    /** Names one attempt at a request's turn. */
    runId: string;
    attempt: number;
    delayMs: number;
  } | undefined;
};

/** How a run ended. */
export type RunOutcome = "succeeded" | "errored" | "cancelled";

/** Body of a `run.started` callback. */
export type RunStartedCallback = {
  event: "run.started";
  /** Names the session. */
  sessionId: string;
  /** Names one accepted message. */
  requestId: string;
  /** Names one attempt at a request's turn. */
  runId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: RunStartedEvent;
};

/** A run has begun. */
export type RunStartedEvent = {
  kind: "run.started";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  /** Counts the runs of the request. */
  attempt: number;
  /** Who or what began it. */
  origin: "person" | "external" | "continuation" | "retry" | "subagent";
};

export type SessionCreated = {
  success: true;
  /** Names the session. */
  sessionId: string;
  /** Names one accepted message. */
  requestId: string;
  /** Names one attempt at a request's turn. */
  runId: string;
  /** Opens the session in a browser, to watch or join; to watch alone where a key that may only read asked. A path of this service. */
  shareUrl: string;
  /** Where the request is polled. A path of this service. */
  statusUrl: string;
  /** Where the request's events are streamed. A path of this service. */
  streamUrl: string;
};

/** How much was deleted with the session, and what is still pending. Asking again answers 404. */
export type SessionDeleted = {
  success: true;
  deleted: {
    /** The session and its sub-agents. */
    sessions: number;
    /** Accepted messages. */
    requests: number;
    /** Runs; one that was open was stopped. */
    runs: number;
    /** Messages of the transcript and of the queue. */
    messages: number;
    /** Lines of the event log. */
    events: number;
    /** Calls of tools with their results. */
    toolCalls: number;
    /** Typed results. */
    deliverables: number;
    /** Annotations. */
    annotations: number;
    /** Questions of the agent. */
    elicitations: number;
    /** Callbacks with their attempts; open ones are not sent. */
    deliveries: number;
    /** Screenshots, previews and saved pages. */
    evidence: number;
    /** Their size in bytes. */
    evidenceBytes: number;
    /** Sealed secrets: of the callback, and headers of MCP servers. */
    secrets: number;
    /** Share links beside the session's own, which ends too. */
    shareLinks: number;
    /** Workspaces that had been started. */
    workspaces: number;
    /** Browsers that were up. */
    browsers: number;
  };
  /** What could not be removed from disk yet. The service retries until it is gone, also after a restart. Empty when the deletion is complete. */
  pending: Array<{
    /** The session or one of its sub-agents. */
    sessionId: string;
    part: "run" | "browser" | "workspace" | "evidence";
    reason: string;
  }>;
};

export type SessionDetail = {
  success: true;
  session: {
    /** Names the session. */
    id: string;
    title: string;
    targetUrl: string | null;
    source: Source;
    /** Whether it has an `outputSchema`. */
    isStructured: boolean;
    /** What the session is doing, or how its last turn ended. `waiting`: for a person's answer. `done`: the turn did its work; one that succeeded without a valid result is `no_result`, one whose page was not reached `page_error`. */
    state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
    /** Why, for `waiting`, `retrying`, `failed`, `no_result` and `page_error`. */
    stateReason: string | null;
    turnState: TurnState;
    lastOutcome: RunOutcome | null;
    /** ISO 8601, UTC. */
    createdAt: string;
    /** Opens the session in a browser, to watch or join; to watch alone where a key that may only read asked. A path of this service. */
    shareUrl: string;
    /** The session whose agent delegated to this one. */
    parentSessionId: string | null;
    userId: string | null;
    /** As it was sent. */
    metadata: Record<string, unknown> | null;
    /** The pages it was created with, and those that a retarget named since. */
    targetPageUrls: Array<string>;
    outputSchema: Record<string, unknown> | null;
    systemPrompt: string | null;
    tools: {
      include: Array<string>;
      exclude: Array<string>;
      externalTurnExclude: Array<string>;
    };
    /** Without their headers, which no answer tells. */
    mcpServers: Record<string, {
      url: string;
      type: "http" | "sse";
    }>;
    capabilities: {
      browser: boolean;
      sandbox: boolean;
    };
    subAgents: boolean;
    /** The caps in force. */
    delegation: {
      maxLiveChildren: number;
      maxLiveBrowsers: number;
    };
    callback: {
      url: string;
      events: Array<"run.started" | "run.completed">;
      /** Whether a secret was registered. */
      isSigned: boolean;
    } | null;
    startupStatus: "uninitialized" | "starting" | "ready" | "error";
    /** ISO 8601, UTC. */
    updatedAt: string;
  };
};

export type SessionSummary = {
  /** Names the session. */
  id: string;
  title: string;
  targetUrl: string | null;
  source: Source;
  /** Whether it has an `outputSchema`. */
  isStructured: boolean;
  /** What the session is doing, or how its last turn ended. `waiting`: for a person's answer. `done`: the turn did its work; one that succeeded without a valid result is `no_result`, one whose page was not reached `page_error`. */
  state: "ready" | "starting" | "working" | "waiting" | "compacting" | "retrying" | "done" | "page_error" | "no_result" | "failed" | "stopped";
  /** Why, for `waiting`, `retrying`, `failed`, `no_result` and `page_error`. */
  stateReason: string | null;
  turnState: TurnState;
  lastOutcome: RunOutcome | null;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** Opens the session in a browser, to watch or join; to watch alone where a key that may only read asked. A path of this service. */
  shareUrl: string;
};

export type SessionSummaryPage = {
  success: true;
  data: Array<SessionSummary>;
  /** Send it as `cursor` for the next page; null after the last. */
  nextCursor: string | null;
};

export type Settled = {
  success: true;
};

/** A share link without its secret, of which only a hash is stored. */
export type ShareLink = {
  /** Names the link. */
  id: string;
  /** `view` watches, `comment` watches and annotates, `drive` also messages the agent and controls the browser. */
  role: "view" | "comment" | "drive";
  label: string | null;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** ISO 8601, UTC; null if the link does not expire. */
  expiresAt: string | null;
  /** ISO 8601, UTC; null if the link is not revoked. */
  revokedAt: string | null;
};

export type ShareLinkCreated = {
  success: true;
  /** The link with its secret, as a path of this service. This answer is the only one that has it. */
  shareUrl: string;
  record: ShareLink;
};

export type ShareLinkPage = {
  success: true;
  data: Array<ShareLink>;
  /** Send it as `cursor` for the next page; null after the last. */
  nextCursor: string | null;
};

export type ShareLinkRevoked = {
  success: true;
  record: ShareLink;
};

export type SharesRevoked = {
  success: true;
  /** Created links that this call revoked. */
  revoked: number;
  /** The session's new `shareUrl`, as a path of this service. */
  shareUrl: string;
};

/** Where the session comes from. */
export type Source = "web" | "api" | "slack" | "cli";

/** The agent calls a tool. */
export type ToolCallEvent = {
  kind: "tool.call";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  messageId: string | null;
  /** Names one tool call. */
  toolCallId: string;
  toolName: string;
  /** Any JSON value. */
  input: unknown;
};

/** Which tools the agent has. */
export type ToolPolicy = {
  /** Adds tools that the analysis profile leaves out; only with `outputSchema`. */
  include?: Array<string> | undefined;
  /** Removes tools; wins over everything. A trailing `*` stands for any ending of a name. */
  exclude?: Array<string> | undefined;
  /** Removes tools on turns that no person started from the session page. */
  externalTurnExclude?: Array<string> | undefined;
};

/** A tool call has ended. */
export type ToolResultEvent = {
  kind: "tool.result";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  /** Names one tool call. */
  toolCallId: string;
  toolName: string;
  /** `unknown`: it was interrupted and may not be repeated. */
  state: "succeeded" | "failed" | "unknown";
  resultId: string;
  /** Beginning of the result, at most 2,000 characters. */
  preview: string;
  evidence: Array<EvidencePointer>;
  /** Milliseconds. */
  durationMs: number;
};

/** Room has been made in the agent's context. */
export type TurnCompactedEvent = {
  kind: "turn.compacted";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  how: "offloaded" | "summarized";
  tokensBefore: number;
  tokensAfter: number;
  messagesReplaced: number;
};

/** Room is made in the agent's context. */
export type TurnCompactingEvent = {
  kind: "turn.compacting";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  tokens: number;
  budgetTokens: number;
};

/** `running` from the moment a request is accepted until none is open, retries included. */
export type TurnState = "idle" | "running" | "compacting";

/** The turn has read messages between two of its steps. */
export type TurnSteeredEvent = {
  kind: "turn.steered";
  /** Number in the session, without gaps. */
  seq: number;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** Names the session. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  source: Source;
  /** Names one accepted message. */
  steerRequestId: string;
  messageIds: Array<string>;
};

export type TurnStopped = {
  success: true;
  /** Names the session. */
  sessionId: string;
  runId: string | null;
};

/** What a run used. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
  modelCalls: number;
  toolCalls: number;
  /** Milliseconds. */
  durationMs: number;
};

/** A refusal without the envelope: the sentence alone. */
export type BareError = {
  error: string;
};

/** A refusal. */
export type Error = {
  success: false;
  /** A sentence; it begins with the path of the field that it is about, where there is one. */
  error: string;
  code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "internal" | "auth_unavailable" | "unavailable";
};

/** Every operation for programs: what it takes and what it answers. */
export type Operations = {
  /** Create a session and start its first turn. Stores the session, its messages and the job of playing its first turn in one transaction: a 2xx means stored. Everything but the messages is fixed from then on. A replay with the same `idempotencyKey` and an equal body is a 200 with the original ids. With an `outputSchema` every turn ends in a typed deliverable. */
  createSession: {
    parameters: {  };
    body: CreateSession;
    answer: SessionCreated;
  };
  /** List sessions, newest first. Those of the key's owner. The cursor is good for as long as its session is there. */
  listSessions: {
    parameters: { limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: SessionSummaryPage;
  };
  /** Read a session. The session with its fixed profile. Secrets are no part of it: neither headers of tool servers nor the callback's secret. */
  readSession: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SessionDetail;
  };
  /** Delete a session and everything that belongs to it. Stops the turn, then removes rows, files, browser and secrets of the session and its sub-agents, and counts them. `pending` lists what could not be removed from disk yet; the service retries until it is gone. Asking again answers 404. */
  deleteSession: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SessionDeleted;
  };
  /** Create a token for the built-in MCP server. For an agent that is not this service's: with the token it reaches the built-in tool server at `url` (MCP, Streamable HTTP), and there what the session's policy leaves of its tools. */
  createMcpToken: {
    parameters: { sessionId: string };
    body: undefined;
    answer: McpToken;
  };
  /** Read a request's status. `pending` until its turn begins, `running` while it is played (retries included), `completed` when no run follows. How it ended is told by the stream's `run.completed`, by the callback, and by the agent's status. */
  readRequestStatus: {
    parameters: { sessionId: string; requestId: string };
    body: undefined;
    answer: RequestStatus;
  };
  /** Follow a request's events. Server-Sent Events. Each stored event has its number in the session as `id`, its kind as `event`, and itself as JSON in `data`; a replay is equal to the byte. `message.delta` is live only and has no `id`. The stream spans all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; who has seen everything gets a 204, so that an `EventSource` stops. A comment comes every 15 s. */
  streamRequest: {
    parameters: { sessionId: string; requestId: string; after?: number | undefined };
    body: undefined;
    answer: Response;
  };
  /** Read the agent's status. Read the deliverable of a structured session here, by polling or once after `run.completed`. */
  readAgentStatus: {
    parameters: { sessionId: string };
    body: undefined;
    answer: AgentStatus;
  };
  /** Post a follow-up message. Exactly one of `text`, `message` and `messages`. A turn that it starts counts as not typed by a person, whatever it says. `queued` says whether the message waits for a running turn. At most 100 messages wait in a session; a further one is refused with 409 `conflict`. */
  postMessage: {
    parameters: { sessionId: string };
    body: FollowUp;
    answer: FollowUpAccepted;
  };
  /** Stop the running turn. The run ends as `cancelled`; messages that wait are played afterwards. */
  cancelTurn: {
    parameters: { sessionId: string };
    body: undefined;
    answer: TurnStopped;
  };
  /** List queued messages. In the order in which the agent gets them. */
  listQueue: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Queue;
  };
  /** Edit a queued message. Until its turn begins; then it is a 409. */
  editQueued: {
    parameters: { sessionId: string; requestId: string };
    body: {
      text: string;
    };
    answer: Settled;
  };
  /** Remove a queued message. Its request completes as cancelled. Once its turn has begun it is a 409. */
  removeQueued: {
    parameters: { sessionId: string; requestId: string };
    body: undefined;
    answer: Settled;
  };
  /** Answer the agent's question. Once; a question that is settled is a 409. */
  answerElicitation: {
    parameters: { sessionId: string; elicitationId: string };
    body: {
      answer: string;
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
  /** Retarget the live browser. Accepted, not landed: poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` says why it was refused. A browser that is not there is started first; allow it about 30 s. A session with `browser: false` is a 409. */
  retargetBrowser: {
    parameters: { sessionId: string };
    body: Retarget;
    answer: RetargetAccepted;
  };
  /** Read the last screenshot of the page. What the page looked like when the browser was last left alone or ended: for showing a session while no browser runs. 404 where there is none. */
  readPagePicture: {
    parameters: { sessionId: string };
    body: undefined;
    answer: Response;
  };
  /** List the transcript. Oldest first. A message that waits in the queue is not part of it. */
  listMessages: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: number | undefined };
    body: undefined;
    answer: MessageRecordPage;
  };
  /** Submit annotations. Called by the overlay in every page of the live browser, from any origin and without a key: the session's id is the secret. An annotation by itself never starts a turn. */
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
  /** Download an artifact. A picture is shown; anything else is only ever downloaded. */
  readArtifact: {
    parameters: { sessionId: string; artifactId: string };
    body: undefined;
    answer: Response;
  };
  /** List callbacks and their attempts. Newest first, each with all of its attempts. */
  listDeliveries: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: DeliveryRecordPage;
  };
  /** Send a callback again. Opens the same delivery again, with the same bytes and id: five more attempts. One that is still open is a 409. */
  redeliverCallback: {
    parameters: { sessionId: string; deliveryId: string };
    body: undefined;
    answer: Redelivered;
  };
  /** List share links, newest first. Live, expired and revoked links, without their secrets. */
  listShareLinks: {
    parameters: { sessionId: string; limit?: number | undefined; cursor?: string | undefined };
    body: undefined;
    answer: ShareLinkPage;
  };
  /** Create a share link. The secret is random, is stored as a hash, and is in this answer only. The link opens the session page with its role until it expires or is revoked. */
  createShareLink: {
    parameters: { sessionId: string };
    body: {
      /** `view` watches, `comment` watches and annotates, `drive` also messages the agent and controls the browser. */
      role: "view" | "comment" | "drive";
      /** Whom or what the link is for; shown in the list only. */
      label?: string | undefined;
      /** ISO 8601. Omit for a link that does not expire. */
      expiresAt?: string | undefined;
    };
    answer: ShareLinkCreated;
  };
  /** Revoke every share link and the shareUrl. Ends all share links, the `shareUrl` and the `liveViewUrl` of the session with their cookies and open connections, and answers with the new `shareUrl`. */
  revokeAllShareLinks: {
    parameters: { sessionId: string };
    body: undefined;
    answer: SharesRevoked;
  };
  /** Revoke a share link. The link, its cookies and its open connections end within a second. Revoking it again changes nothing. */
  revokeShareLink: {
    parameters: { sessionId: string; linkId: string };
    body: undefined;
    answer: ShareLinkRevoked;
  };
  /** Check liveness */
  readHealth: {
    parameters: {  };
    body: undefined;
    answer: Health;
  };
  /** Check readiness. 200 when every part that a turn needs answers, else 503. */
  readReadiness: {
    parameters: {  };
    body: undefined;
    answer: Readiness;
  };
  /** Read the OpenAPI document. Send the `ETag` as `If-None-Match`: what has not changed is a 304. */
  readOpenApi: {
    parameters: {  };
    body: undefined;
    answer: Response;
  };
};

/** Where each operation is found. */
export const OPERATIONS = {
  createSession: {"method":"POST","path":"/api/session","query":[],"hasBody":true,"isRaw":false},
  listSessions: {"method":"GET","path":"/api/sessions","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  readSession: {"method":"GET","path":"/api/sessions/:sessionId","query":[],"hasBody":false,"isRaw":false},
  deleteSession: {"method":"DELETE","path":"/api/sessions/:sessionId","query":[],"hasBody":false,"isRaw":false},
  createMcpToken: {"method":"POST","path":"/api/sessions/:sessionId/mcp-token","query":[],"hasBody":false,"isRaw":false},
  readRequestStatus: {"method":"GET","path":"/api/sessions/:sessionId/requests/:requestId","query":[],"hasBody":false,"isRaw":false},
  streamRequest: {"method":"GET","path":"/api/sessions/:sessionId/requests/:requestId/stream","query":["after"],"hasBody":false,"isRaw":true},
  readAgentStatus: {"method":"GET","path":"/api/sessions/:sessionId/agent/status","query":[],"hasBody":false,"isRaw":false},
  postMessage: {"method":"POST","path":"/api/sessions/:sessionId/agent/messages","query":[],"hasBody":true,"isRaw":false},
  cancelTurn: {"method":"POST","path":"/api/sessions/:sessionId/agent/cancel","query":[],"hasBody":false,"isRaw":false},
  listQueue: {"method":"GET","path":"/api/sessions/:sessionId/queue","query":[],"hasBody":false,"isRaw":false},
  editQueued: {"method":"PATCH","path":"/api/sessions/:sessionId/queue/:requestId","query":[],"hasBody":true,"isRaw":false},
  removeQueued: {"method":"DELETE","path":"/api/sessions/:sessionId/queue/:requestId","query":[],"hasBody":false,"isRaw":false},
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
  listShareLinks: {"method":"GET","path":"/api/sessions/:sessionId/share-links","query":["limit","cursor"],"hasBody":false,"isRaw":false},
  createShareLink: {"method":"POST","path":"/api/sessions/:sessionId/share-links","query":[],"hasBody":true,"isRaw":false},
  revokeAllShareLinks: {"method":"POST","path":"/api/sessions/:sessionId/share-links/revoke-all","query":[],"hasBody":false,"isRaw":false},
  revokeShareLink: {"method":"DELETE","path":"/api/sessions/:sessionId/share-links/:linkId","query":[],"hasBody":false,"isRaw":false},
  readHealth: {"method":"GET","path":"/api/health","query":[],"hasBody":false,"isRaw":false},
  readReadiness: {"method":"GET","path":"/api/ready","query":[],"hasBody":false,"isRaw":false},
  readOpenApi: {"method":"GET","path":"/api/openapi.json","query":[],"hasBody":false,"isRaw":true},
} as const;
