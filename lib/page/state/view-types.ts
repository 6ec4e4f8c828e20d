import type {
  AttachmentPart,
  ElicitationAnswer,
  ElicitationForm,
  FormField,
  FormValue,
} from "#db/schema/index.ts";
import type { FollowUpMode, RunOrigin, ShareRole, Source } from "#db/schema/unions.ts";
import type { BrowserRecord } from "#lib/browser/browser-service.ts";
import type {
  AgentView,
  AnnotationRecord,
  ApiKey,
  CheckedPage,
  CheckFinding,
  CheckReport,
  DeliveryRecord,
  ExportedMessage,
  HomeInboxItem,
  ImportSummary,
  InboxItem,
  LandingPage,
  LandingPageVersion,
  LeftOut,
  LiveClientFrame,
  Login,
  Preview,
  Publication,
  QueuedMessage,
  Receipt,
  Release,
  Report,
  ReportFinding,
  ReportSummary,
  SessionSummary,
  ShareLink,
  Skill,
  TestAttachment,
  TestCounts,
  TestResult,
  TestRunResults,
  TestStep,
  VariantChange,
  VariantPage,
  VariantRevision,
  VariantSummary,
  LiveFrame as WireFrame,
  WorkspaceFile,
  WorkspaceFilePage,
} from "#lib/client/wire.ts";
import type {
  Deliverable,
  DomainEvent,
  EvidencePointer,
  MessageDelta,
  Plan,
  Requirement,
  RunOutcome,
  TestRun,
  TranscriptMessage,
  WaitingOn,
} from "#lib/events/event.ts";

export type {
  AgentView,
  ApiKey,
  AttachmentPart,
  BrowserRecord,
  CheckedPage,
  CheckFinding,
  CheckReport,
  Deliverable,
  DomainEvent,
  ElicitationAnswer,
  ElicitationForm,
  EvidencePointer,
  ExportedMessage,
  FollowUpMode,
  FormField,
  FormValue,
  HomeInboxItem,
  ImportSummary,
  InboxItem,
  LandingPage,
  LandingPageVersion,
  LeftOut,
  LiveClientFrame,
  Login,
  MessageDelta,
  Plan,
  Preview,
  Publication,
  QueuedMessage,
  Receipt,
  Release,
  ReportFinding,
  ReportSummary,
  Requirement,
  RunOrigin,
  RunOutcome,
  SessionSummary,
  ShareRole,
  Skill,
  Source,
  TestAttachment,
  TestCounts,
  TestResult,
  TestRun,
  TestRunResults,
  TestStep,
  TranscriptMessage,
  VariantChange,
  VariantPage,
  VariantRevision,
  VariantSummary,
  WaitingOn,
  WorkspaceFile,
  WorkspaceFilePage,
};

/** A frame of the live socket that is not an event or a delta. It has no sequence number and is not stored. */
export type LiveNotice = Exclude<WireFrame, { type: DomainEvent["kind"] | "message.delta" }>;

/**
 * One JSON text frame of the live socket. In the frame of an event or a delta, `data` is the whole event or delta.
 * Source: `wire.md`, WebSocket.
 */
export type LiveFrame =
  | { type: DomainEvent["kind"]; seq: number; sessionId: string; timestamp: string; data: DomainEvent }
  | { type: "message.delta"; sessionId: string; timestamp: string; data: MessageDelta }
  | LiveNotice;

/** What the live browser shows besides its picture: tabs, loading, and the widget that waits for a person. */
export type Stage = Extract<WireFrame, { type: "stage" }>["data"];
/** A control of the live browser that waits for the person who has control. */
export type Widget = NonNullable<Stage["widget"]>;
/** A person's answer to a widget. */
export type WidgetAnswer = Extract<LiveClientFrame, { type: "input.widget" }>["answer"];

/** The person who has control of the browser; null if no person has control. */
export type ControlHolder = Extract<WireFrame, { type: "control" }>["data"]["holder"];

/** A tool call as the page shows it. */
export type ToolCallView = {
  toolCallId: string;
  toolName: string;
  runId: string;
  state: "started" | "succeeded" | "failed" | "unknown" | "interrupted";
  /** The person who interrupted the call by taking control. Null for a call that no person interrupted. */
  interruptedBy: string | null;
  /** Why a failed call was not run. Null for every other call. */
  refusal: "plan_first" | "not_approved" | null;
  /** Whether the turn was stopped during the call. */
  isStopped: boolean;
  /** What the call did to the live page, as far as it reports that. */
  actions: readonly PageAction[];
  /** The beginning of the result, at most 2,000 characters. */
  preview: string;
  resultId: string | null;
  evidence: EvidencePointer[];
  startedAt: string;
  durationMs: number | null;
};

/** What a call did to the live page. */
export type PageAction = NonNullable<Extract<DomainEvent, { kind: "tool.result" }>["actions"]>[number];

/** A question of the agent in the conversation. `state` is `open` until it is answered or closed. */
export type QuestionView = {
  elicitationId: string;
  toolCallId: string;
  question: string;
  /** The fields of the question's form; null for a question that is answered with a text. */
  form: ElicitationForm | null;
  state: "open" | Extract<DomainEvent, { kind: "elicitation.resolved" }>["state"];
  answer: ElicitationAnswer | null;
};

/** A tool call that waits, or has waited, for a person's approval. */
export type ApprovalView = InboxItem & { call: NonNullable<InboxItem["call"]> };

/** Who stopped a run. `name` is the label of the person's share link, if it has one. */
export type StopView = { by: "person" | "program" | "message"; name: string | null };

/** A share link without its secret, as the share dialog lists it. */
export type ShareLinkView = ShareLink;

/** A callback with its attempts, as the delivery log shows it. */
export type DeliveryView = DeliveryRecord;

/** An annotation as the page shows it. */
export type AnnotationView = {
  id: string;
  createdAt: string;
  event: string;
  output?: string;
  url?: string;
  annotations?: { type?: string; selector?: string; frame?: unknown; comment?: string; quote?: unknown }[];
} & AnnotationState;

/** The part of an annotation that changes after it was submitted. */
type AnnotationState = Pick<AnnotationRecord, "status" | "resolution" | "resolvedBy" | "sentRequestId">;

/** An open question of the agent. */
export type ElicitationView = {
  elicitationId: string;
  runId: string | null;
  toolCallId: string;
  question: string;
  options: string[] | null;
  /** The form with the fields to fill in; null for a question without a form. */
  form: ElicitationForm | null;
  /** Time after which the question is no longer open. */
  expiresAt: string;
};

/** A compaction: the service shortens the agent's context. `done` is null while the compaction is running. */
export type CompactionView = {
  seq: number;
  runId: string | null;
  /** The id of the message that was the newest when the compaction began; null if there was no message. */
  afterMessageId: string | null;
  done: {
    how: "offloaded" | "summarized";
    tokensBefore: number;
    tokensAfter: number;
    messagesReplaced: number;
  } | null;
};

/**
 * Tools of one tool server, which the agent does not have in a turn. `tools` contains the names of the first missing
 * tools; it is null if the whole server is missing, and empty if the names are not known. `toolCount` is the number of
 * all missing tools, if known.
 */
export type MissingToolsView = {
  seq: number;
  serverId: string;
  reason: string;
  tools: string[] | null;
  toolCount: number | null;
  /** The id of the message that was the newest when the event arrived; null if there was no message. */
  afterMessageId: string | null;
};

/** A variant as the page lists it, without the document of its revision. */
export type VariantView = VariantSummary & {
  /** Number of changes in the newest revision; null until the page has received the number. */
  changeCount: number | null;
  /** Whether the live browser shows the variant; at most one variant of a session is shown. */
  isShown: boolean;
};

/** The data of the page that shows a report. */
export type ReportPage = {
  report: Report;
  /** The whole report as Markdown, so that it can be copied. */
  markdown: string;
  session: { title: string; path: string };
  /** The paths from which the report and the session's artifacts can be downloaded. */
  paths: { report: string; artifacts: string };
};

/** A person's edit of one change of a variant. */
export type VariantEdit =
  | { action: "drop" | "off" | "on"; changeId: string }
  | { action: "setText"; changeId: string; text: string };

/** A person's edit of one item of the plan. `was` is the text that the person saw before the edit. */
export type PlanEdit =
  | { action: "add"; text: string }
  | { action: "setText"; id: string; text: string; was: string }
  | { action: "setStatus"; id: string; status: PlanItem["status"] };

/** An item of the plan. */
export type PlanItem = Plan["items"][number];

/** The assertion of a requirement, which every check tests. */
export type Assertion = NonNullable<Requirement["assertion"]>;

/** A person's edit of a requirement. Omitted fields do not change. */
export type RequirementEdit = {
  text?: string;
  status?: "open" | "waived";
  note?: string | null;
  assertion?: Assertion | null;
};

/** The file formats to which a revision can be exported. */
export type ExportFormat = "script" | "json" | "growthbook" | "posthog";

/** The file formats from which a variant can be imported. */
export type ImportFormat = Exclude<ExportFormat, "script">;

/** A change that an export or import omitted, because the format cannot express it. */
export type OmittedChange = { changeId: string | null; url: string | null; reason: string };

/** A run as the page shows it. */
export type RunView = {
  runId: string;
  requestId: string;
  attempt: number;
  origin: RunOrigin;
  state: "pending" | "running" | "succeeded" | "errored" | "cancelled";
  error: string | null;
  /**
   * For a succeeded run: why the browser did not reach the last address that it was to open. Null if the browser
   * reached the address, and for all other runs.
   */
  pageError: string | null;
  /** For a scheduled retry: the earliest time at which the run starts. */
  notBefore: string | null;
  startedAt: string | null;
  endedAt: string | null;
};
