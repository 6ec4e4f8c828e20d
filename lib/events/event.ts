import type {
  BrowserStatus,
  EvidenceKind,
  MessagePart,
  MessageRole,
  RunOrigin,
  Source,
  ToolCallState,
  UsageRow,
  Violation,
} from "#db/schema/index.ts";

/** How a run ended. Source: `wire.md`, Stream. */
export type RunOutcome = "succeeded" | "errored" | "cancelled";

/** The typed result of a run as the API shows it. Source: specification, Deliverable. */
export type Deliverable =
  | { runId: string; status: "pending" }
  | { runId: string; status: "ready"; value: unknown }
  | { runId: string; status: "failed"; error: string; rawText?: string; violations?: Violation[] };

/** A message as the API lists it. Source: `wire.md`, Also served. */
export type TranscriptMessage = {
  id: string;
  seq: number;
  role: MessageRole;
  parts: MessagePart[];
  requestId: string | null;
  runId: string | null;
  author: string | null;
  createdAt: string;
};

/** A pointer to something a tool kept: served by `GET /api/sessions/:id/artifacts/:evidenceId`. */
export type EvidencePointer = {
  id: string;
  kind: EvidenceKind;
  title: string;
  url: string | null;
  mediaType: string;
};

/** Each kind's own fields. Source: `wire.md`, Stream. */
type EventFields = {
  "run.started": { attempt: number; origin: RunOrigin };
  "message.completed": { message: TranscriptMessage };
  /** `messageId` is null, as are request and run, where an agent from outside calls a tool of the session. */
  "tool.call": { messageId: string | null; toolCallId: string; toolName: string; input: unknown };
  "tool.result": {
    toolCallId: string;
    toolName: string;
    state: Exclude<ToolCallState, "started">;
    resultId: string;
    /** The result's beginning, at most 2,000 characters; the whole is read with `read_tool_result`. */
    preview: string;
    evidence: EvidencePointer[];
    durationMs: number;
  };
  /** Tools of a server are missing in this turn: all of them, or the first of those named in `tools`, `toolCount` in all. */
  "mcp.skipped": { serverId: string; reason: string; tools?: string[]; toolCount?: number };
  /** The prompt has grown to `tokens`, too many for the budget: room is made before the next model call. */
  "turn.compacting": { tokens: number; budgetTokens: number };
  /** Tokens of the whole prompt before and after; `messagesReplaced` of the messages in it are shortened or gone. */
  "turn.compacted": {
    how: "offloaded" | "summarized";
    tokensBefore: number;
    tokensAfter: number;
    messagesReplaced: number;
  };
  /** Messages that joined the turn were read between two of its steps; they came with `message.completed` before. */
  "turn.steered": { steerRequestId: string; messageIds: string[] };
  "deliverable.pending": { deliverable: Deliverable };
  "deliverable.ready": { deliverable: Deliverable };
  "deliverable.failed": { deliverable: Deliverable };
  "browser.status": {
    status: BrowserStatus;
    desiredUrl: string | null;
    lastNavigatedUrl: string | null;
    currentUrl: string | null;
    lastError: string | null;
  };
  /** The session waits for a browser; 1 is next. Ends with the next `browser.status` other than `creating`. */
  "browser.waiting": { position: number };
  "annotation.submitted": {
    annotation: { id: string; event: string; createdAt: string } & Record<string, unknown>;
  };
  "elicitation.requested": {
    elicitationId: string;
    toolCallId: string;
    question: string;
    options: string[] | null;
  };
  "elicitation.resolved": {
    elicitationId: string;
    state: "answered" | "declined" | "unanswered";
    answer: string | null;
  };
  "run.completed": {
    outcome: RunOutcome;
    error?: string;
    deliverable?: Deliverable;
    usage: UsageRow;
    willRetry?: { runId: string; attempt: number; delayMs: number };
  };
};

export type EventKind = keyof EventFields;

/** An event about to be appended. */
export type NewEvent = {
  [Kind in EventKind]: {
    kind: Kind;
    requestId: string | null;
    runId: string | null;
    source: Source;
  } & EventFields[Kind];
}[EventKind];

/** An event as clients receive it: the common fields and its kind's own. */
export type DomainEvent = {
  [Kind in EventKind]: {
    kind: Kind;
    seq: number;
    timestamp: string;
    sessionId: string;
    requestId: string | null;
    runId: string | null;
    source: Source;
  } & EventFields[Kind];
}[EventKind];

/** A stored event with its one serialized form, shared by all readers. */
export type StoredEvent = {
  sessionId: string;
  seq: number;
  kind: EventKind;
  requestId: string | null;
  runId: string | null;
  body: string;
};

/** A piece of a message while it is written: live only, no sequence number. */
export type MessageDelta = {
  kind: "message.delta";
  timestamp: string;
  sessionId: string;
  requestId: string;
  runId: string;
  source: Source;
  messageId: string;
  part: "text" | "reasoning";
  /** Counts the tries at this model call: a later attempt replaces what an earlier one streamed. */
  attempt: number;
  /** Characters of this part before this piece. */
  offset: number;
  text: string;
};
