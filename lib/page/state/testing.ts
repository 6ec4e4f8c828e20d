import { applyEvent } from "./apply-event.ts";
import type { SessionSnapshot } from "./session-snapshot.ts";
import { createSessionState } from "./session-state.ts";
import type {
  DomainEvent,
  MessageDelta,
  Publication,
  TestResult,
  TestRun,
  TranscriptMessage,
} from "./view-types.ts";

/** The time of every event in the tests that use this file. */
export const AT = "2026-11-20T10:00:00.000Z";
/** The id of the session in the tests that use this file. */
export const SESSION = "ses_a";
/** The status of an open live connection. */
export const OPEN = { state: "open" } as const;

/** The snapshot of a session whose first run has not started. */
export const snapshot: SessionSnapshot = {
  session: {
    id: SESSION,
    title: "Look",
    createdAt: AT,
    source: "web",
    targetUrl: null,
    isStructured: false,
    outputSchema: null,
    hasBrowser: true,
    hasWorkspace: true,
    mayDelegate: false,
    excludesTools: false,
    asksApproval: false,
  },
  agent: null,
  agents: [],
  role: "drive",
  model: { label: "gpt", isDemo: false },
  turnState: "running",
  runs: [
    {
      runId: "run_1",
      requestId: "req_1",
      attempt: 1,
      origin: "person",
      state: "pending",
      error: null,
      pageError: null,
      notBefore: null,
      startedAt: null,
      endedAt: null,
    },
  ],
  messages: [message("msg_1", 1, "user", "Look at the page")],
  hasEarlier: false,
  toolCalls: [],
  compactions: [],
  missingTools: [],
  queue: [],
  steers: [],
  browser: {
    status: "idle",
    sessionId: SESSION,
    liveViewUrl: null,
    desiredUrl: null,
    lastNavigatedUrl: null,
    currentUrl: null,
    lastError: null,
  },
  browserPosition: null,
  pictureTakenAt: null,
  annotations: [],
  elicitations: [],
  waitingOn: null,
  questions: [],
  stops: {},
  deliverables: [],
  variants: [],
  previews: [],
  reports: [],
  testRuns: [],
  plan: { mode: "off", items: [], revision: 0, author: null, updatedAt: null },
  requirements: [],
  pages: [],
  imports: [],
  hasFiles: false,
  lastSeq: 3,
  hasOwnLink: true,
  paths: {
    live: "/live",
    actions: "/actions",
    artifacts: "/artifacts",
    files: "/files",
    messages: "/messages",
    picture: "/picture",
    recording: "/api/sessions/ses_1/recording",
    variants: "/variants",
    tests: "/tests",
    planning: "/planning",
    imports: "/imports",
    skills: "/skills",
    inbox: "/inbox",
    agents: "/agents",
  },
};

/** Creates a stored message with one text part. */
export function message(
  id: string,
  seq: number,
  role: "user" | "assistant",
  text: string,
  runId = "run_1",
): TranscriptMessage {
  return {
    id,
    seq,
    role,
    parts: [{ type: "text", text }],
    requestId: "req_1",
    runId: role === "user" ? null : runId,
    author: null,
    createdAt: AT,
  };
}

type Fields = Omit<DomainEvent, "seq" | "timestamp" | "sessionId" | "requestId" | "runId" | "source">;
/** Creates a stored event of the first request. The event has the time `AT` and the session `SESSION`. */
export const event = (seq: number, fields: Fields & Record<string, unknown>, runId = "run_1"): DomainEvent =>
  ({
    seq,
    timestamp: AT,
    sessionId: SESSION,
    requestId: "req_1",
    runId,
    source: "web",
    ...fields,
  }) as DomainEvent;

/** Creates a streamed piece of the message `msg_2`, by default of the first attempt. */
export const delta = (offset: number, text: string, rest: Partial<MessageDelta> = {}): MessageDelta => ({
  kind: "message.delta",
  timestamp: AT,
  sessionId: SESSION,
  requestId: "req_1",
  runId: "run_1",
  source: "web",
  messageId: "msg_2",
  part: "text",
  attempt: 1,
  offset,
  text,
  ...rest,
});

/** Creates the publication of one release of the variant `main`. */
export const publicationOf = (
  number: number,
  revision: number,
  fields: Partial<Publication> = {},
): Publication => ({
  id: "pub_a",
  release: `rel_${number}`,
  number,
  revision,
  isUnchecked: false,
  scriptUrl: "https://service.example/v/pub_a.js",
  pinnedScriptUrl: `https://service.example/v/pub_a@${number}.js`,
  integrity: "sha384-abc",
  ...fields,
});

/** Creates a test run that has not started. It tests the control and the variant. */
export const testRun = (number: number, fields: Partial<TestRun> = {}): TestRun => ({
  id: `tst_${number}`,
  number,
  status: "queued",
  startedBy: "agent",
  files: [],
  against: ["control", "variant"],
  variant: "main",
  revision: null,
  grep: null,
  retries: 0,
  baseUrl: null,
  viewport: "desktop",
  timeoutSeconds: 300,
  counts: { total: 0, passed: 0, failed: 0, flaky: 0, skipped: 0 },
  problem: null,
  createdAt: AT,
  startedAt: null,
  endedAt: null,
  ...fields,
});

/** Creates the result of a test that passed. */
export const testResult = (title: string, fields: Partial<TestResult> = {}): TestResult => ({
  target: "control",
  file: "tests/cart.spec.ts",
  line: 3,
  titles: [title],
  status: "passed",
  durationMs: 20,
  attempts: 1,
  errors: [],
  steps: [],
  attachments: [],
  annotations: [],
  output: "",
  ...fields,
});

/** The usage that a run reports when it ends. */
export const usage = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 1,
  toolCalls: 0,
  durationMs: 1,
};
/** The state of the session while its first run is running. */
export const started = applyEvent(
  createSessionState(snapshot),
  event(4, { kind: "run.started", attempt: 1, origin: "person" }),
);
