/**
 * The unions that the tables and the domain logic share. Types, database checks and schemas are derived from the lists.
 */
export const SOURCES = ["web", "api", "slack", "cli"] as const;
export const RUN_ORIGINS = ["person", "external", "continuation", "retry", "subagent"] as const;
/** Who stopped a turn. */
export const TURN_STOPPERS = ["person", "program", "message"] as const;
export const RUN_STATES = ["pending", "running", "succeeded", "errored", "cancelled"] as const;
export const MESSAGE_ROLES = ["user", "assistant"] as const;
export const FOLLOW_UP_MODES = ["queue", "steer", "interrupt"] as const;
export const DELIVERABLE_STATUSES = ["pending", "ready", "failed"] as const;
/** The events that a callback receives if its `events` do not name others. */
export const DEFAULT_CALLBACK_EVENTS = ["run.started", "run.completed"] as const;
/** Events about an item of the inbox that a run waits for. A run may have several of each. */
export const ITEM_EVENTS = ["run.waiting", "run.resumed"] as const;
export const CALLBACK_EVENTS = [...DEFAULT_CALLBACK_EVENTS, ...ITEM_EVENTS] as const;
/** `held`: callbacks to the endpoint are disabled; the delivery waits until the endpoint works again. */
export const DELIVERY_STATES = ["pending", "sending", "held", "delivered", "dropped"] as const;
export const BROWSER_STATUSES = ["idle", "creating", "ready", "expired", "error"] as const;
export const PAGE_WANTS = ["selected", "refused", "returning", "reached"] as const;
export const STARTUP_STATUSES = ["uninitialized", "starting", "ready", "error"] as const;
/** `interrupted`: a person took control of the browser while the call ran. */
export const TOOL_CALL_STATES = ["started", "succeeded", "failed", "unknown", "interrupted"] as const;
/**
 * Why a tool call was not executed. `plan_first`: a person wants to agree to the plan before anything is changed.
 * `not_approved`: the call needs a person's approval, and has none.
 */
export const CALL_REFUSALS = ["plan_first", "not_approved"] as const;
export const EVIDENCE_KINDS = ["screenshot", "preview", "html", "file"] as const;
export const ELICITATION_STATES = ["open", "answered", "declined", "unanswered", "withdrawn"] as const;
/** Whether turns that no person started ask people. */
export const INTERACTION_MODES = ["ask", "decline"] as const;
/** What an item of the inbox waits for. */
export const INBOX_KINDS = ["question", "approval", "handover", "budget", "plan"] as const;
/**
 * The state of an item of the inbox. `expired`: the deadline passed. `withdrawn`: a message or a stop ended the wait, or
 * its reason is gone.
 */
export const INBOX_STATES = [
  "open",
  "answered",
  "approved",
  "denied",
  "done",
  "declined",
  "expired",
  "withdrawn",
] as const;
/** Who settled an item of the inbox: a person on a page of the service, or a client with an API key. */
export const INBOX_SETTLERS = ["person", "program"] as const;
/** What a parked run waits for. `control`: the end of a person's control of the browser. `budget`: a larger budget. */
export const WAIT_KINDS = ["person", "agents", "tests", "control", "budget"] as const;
/**
 * How a wait ended. `settled`: the awaited event happened. `deadline`: the deadline passed. `message`: a message
 * steered the turn. `stopped`: the turn was stopped.
 */
export const WAIT_ENDS = ["settled", "deadline", "message", "stopped"] as const;
/** Whether a wait is settled when one of the awaited events has happened, or only when all of them have. */
export const WAIT_UNTIL = ["any", "all"] as const;
/** The browser that a sub-agent uses: its own, its parent's, or none. */
export const AGENT_BROWSERS = ["own", "shared", "none"] as const;
/** How the last turn of a sub-agent ended. */
export const AGENT_OUTCOMES = ["succeeded", "failed", "cancelled"] as const;
/** What a session is doing, or how its last turn ended. */
export const SESSION_STATES = [
  "ready",
  "starting",
  "working",
  "waiting",
  "compacting",
  "retrying",
  "done",
  "page_error",
  "no_result",
  "failed",
  "stopped",
] as const;
/** How a person signed in: with a login link, at the identity provider (OpenID Connect), or with an API key. */
export const LOGIN_METHODS = ["link", "oidc", "key"] as const;
export const SHARE_ROLES = ["view", "comment", "drive"] as const;
export const CHECK_STATUSES = ["pass", "warn", "fail"] as const;
/** Who accepted that a check could not examine a change: a client with an API key, or a person on the session page. */
export const ACCEPTED_BY = ["caller", "person"] as const;
/**
 * Severity of a finding in a report, worst first: the impact levels of axe, and `info` for a finding that needs no fix.
 */
export const FINDING_SEVERITIES = ["critical", "serious", "moderate", "minor", "info"] as const;
/** Who wrote a revision of a variant. */
export const VARIANT_AUTHORS = ["agent", "person"] as const;
/** Who wrote a plan or a requirement. */
/** `sent`: a message to the agent contains it. `lost`: none of its elements was on the page when they were looked for. */
export const ANNOTATION_STATUSES = ["open", "sent", "resolved", "lost"] as const;
export const PLAN_AUTHORS = ["agent", "person"] as const;
export const PLAN_ITEM_STATUSES = ["todo", "in_progress", "done", "dropped"] as const;
/** `plan_first`: a person wants to agree to the plan before anything is changed. `agreed`: a person has agreed. */
export const PLAN_MODES = ["off", "plan_first", "agreed"] as const;
/** The message that is posted in the name of the person who agrees to a plan. */
export const PLAN_AGREED_TEXT = "The plan is agreed. Go ahead.";
export const REQUIREMENT_STATUSES = ["open", "met", "failed", "waived"] as const;
export const ASSERTION_KINDS = ["visible", "hidden", "text", "count"] as const;
/** Result of an assertion in a check. `unchecked`: the check did not open the page of the assertion. */
export const ASSERTION_RESULTS = ["pass", "fail", "unchecked"] as const;
/**
 * `interrupted`: the test run was started twice, and both times its process died. `failed`: a test failed, or the test
 * run had another problem, such as a test that did not end.
 */
export const TEST_RUN_STATUSES = [
  "queued",
  "running",
  "passed",
  "failed",
  "cancelled",
  "interrupted",
] as const;
export const TEST_RUN_STARTERS = ["agent", "person"] as const;
/** What a test runs against: the unchanged page, or the page with a variant of the session. */
export const TEST_TARGETS = ["control", "variant"] as const;
/** `flaky`: the test failed and then passed in a retry. */
export const TEST_STATUSES = ["passed", "failed", "flaky", "skipped"] as const;
/** Kinds of documents that a session can import. */
export const IMPORT_FORMATS = ["agent-session", "agent-session-variant", "growthbook", "posthog"] as const;

export type Source = (typeof SOURCES)[number];
export type RunOrigin = (typeof RUN_ORIGINS)[number];
export type TurnStopper = (typeof TURN_STOPPERS)[number];
export type RunState = (typeof RUN_STATES)[number];
export type MessageRole = (typeof MESSAGE_ROLES)[number];
export type FollowUpMode = (typeof FOLLOW_UP_MODES)[number];
export type DeliverableStatus = (typeof DELIVERABLE_STATUSES)[number];
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];
export type ItemEvent = (typeof ITEM_EVENTS)[number];
export type DeliveryState = (typeof DELIVERY_STATES)[number];
export type BrowserStatus = (typeof BROWSER_STATUSES)[number];
export type PageWant = (typeof PAGE_WANTS)[number];
export type StartupStatus = (typeof STARTUP_STATUSES)[number];
export type ToolCallState = (typeof TOOL_CALL_STATES)[number];
export type CallRefusal = (typeof CALL_REFUSALS)[number];
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];
export type ElicitationState = (typeof ELICITATION_STATES)[number];
export type InboxKind = (typeof INBOX_KINDS)[number];
export type InboxState = (typeof INBOX_STATES)[number];
export type InboxSettler = (typeof INBOX_SETTLERS)[number];
export type WaitKind = (typeof WAIT_KINDS)[number];
export type WaitEnd = (typeof WAIT_ENDS)[number];
export type WaitUntil = (typeof WAIT_UNTIL)[number];
export type AgentBrowser = (typeof AGENT_BROWSERS)[number];
export type AgentOutcome = (typeof AGENT_OUTCOMES)[number];
export type SessionStateWord = (typeof SESSION_STATES)[number];
export type LoginMethod = (typeof LOGIN_METHODS)[number];
export type ShareRole = (typeof SHARE_ROLES)[number];
export type AcceptedBy = (typeof ACCEPTED_BY)[number];
export type CheckStatus = (typeof CHECK_STATUSES)[number];
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number];
export type ImportFormat = (typeof IMPORT_FORMATS)[number];
export type TestRunStatus = (typeof TEST_RUN_STATUSES)[number];
export type TestRunStarter = (typeof TEST_RUN_STARTERS)[number];
export type TestTarget = (typeof TEST_TARGETS)[number];
export type TestStatus = (typeof TEST_STATUSES)[number];
export type VariantAuthor = (typeof VARIANT_AUTHORS)[number];
export type AnnotationStatus = (typeof ANNOTATION_STATUSES)[number];
export type PlanAuthor = (typeof PLAN_AUTHORS)[number];
export type PlanItemStatus = (typeof PLAN_ITEM_STATUSES)[number];
export type PlanMode = (typeof PLAN_MODES)[number];
export type RequirementStatus = (typeof REQUIREMENT_STATUSES)[number];
export type AssertionKind = (typeof ASSERTION_KINDS)[number];
export type AssertionResult = (typeof ASSERTION_RESULTS)[number];

/** Where a session's skill came from: the project's own library, or the deployment's `SKILLS_DIR`. */
export const SKILL_SOURCES = ["built_in", "deployment"] as const;
export type SkillSource = (typeof SKILL_SOURCES)[number];

/** Where a browser host runs. */
export const HOST_HOMES = ["local", "remote", "sandbox"] as const;
export type HostHome = (typeof HOST_HOMES)[number];
