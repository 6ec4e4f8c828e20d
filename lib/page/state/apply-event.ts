import { BROWSER_TOOLS } from "#lib/catalogue/tools.ts";
import { toMissingTools } from "../labels/describe-missing-tools.ts";
import { applyCompactionEvent, dropUnfinished } from "./apply-compaction.ts";
import { mergeRequirements } from "./apply-planning.ts";
import { applyQuestionEvent } from "./apply-question.ts";
import { applyStop } from "./apply-stop.ts";
import { applyTestRunEvent } from "./apply-test-run.ts";
import { applyVariantEvent } from "./apply-variant.ts";
import { toBegunCall } from "./begin-tool-call.ts";
import { mergePage } from "./merge-page.ts";
import { isOpen, type SessionState } from "./session-state.ts";
import type {
  AnnotationView,
  Deliverable,
  DomainEvent,
  ReportSummary,
  RunView,
  ToolCallView,
} from "./view-types.ts";

/**
 * Applies one stored event to the state. Pure. An event whose `seq` is not greater than `lastSeq` changes nothing,
 * because the state already contains it. Such events occur when the service replays events.
 */
export function applyEvent(state: SessionState, event: DomainEvent): SessionState {
  if (event.seq <= state.lastSeq) return state;
  const next = applyKind({ ...state, lastSeq: event.seq }, event);
  return { ...next, turnState: projectTurnState(next) };
}

/**
 * Derives the state of the turn: `compacting` while a run shortens its context; otherwise `running` while the session
 * has an unfinished request; otherwise `idle`. Source: `architecture.md`, How a request flows.
 */
export function projectTurnState(
  state: Pick<SessionState, "runs" | "queue" | "compactions">,
): SessionState["turnState"] {
  if (state.compactions.some(({ done }) => done === null)) return "compacting";
  return state.queue.length > 0 || state.runs.some(isOpen) ? "running" : "idle";
}

function applyKind(state: SessionState, event: DomainEvent): SessionState {
  switch (event.kind) {
    case "run.started":
      return startRun(state, event);
    case "message.completed":
      return completeMessage(state, event);
    case "tool.call":
      return beginToolCall(state, event);
    case "tool.result":
      return endToolCall(state, event);
    case "turn.steered":
      return readSteer(state, event);
    case "deliverable.pending":
    case "deliverable.ready":
    case "deliverable.failed":
      return { ...state, deliverables: upsertDeliverable(state.deliverables, event.deliverable) };
    case "browser.status": {
      const { status, desiredUrl, lastNavigatedUrl, currentUrl, lastError, restartNotice, pictureTakenAt } =
        event;
      return {
        ...state,
        browser: {
          ...state.browser,
          status,
          desiredUrl,
          lastNavigatedUrl,
          currentUrl,
          lastError,
          restartNotice,
        },
        browserPosition: status === "creating" ? state.browserPosition : null,
        pictureTakenAt: pictureTakenAt ?? state.pictureTakenAt,
      };
    }
    case "browser.waiting":
      return { ...state, browserPosition: event.position };
    case "workspace.changed":
      return { ...state, fileChanges: state.fileChanges + 1 };
    case "browser.download":
      return event.path === null ? state : { ...state, fileChanges: state.fileChanges + 1 };
    case "annotation.submitted": {
      if (state.annotations.some(({ id }) => id === event.annotation.id)) return state;
      // The annotation webhook validated the shape before it stored the annotation.
      return { ...state, annotations: [...state.annotations, event.annotation as AnnotationView] };
    }
    case "annotation.changed": {
      const { annotationId, status, resolution, resolvedBy, sentRequestId } = event;
      const changed = { status, resolution, resolvedBy, sentRequestId };
      const annotations = state.annotations.map((each) =>
        each.id === annotationId ? { ...each, ...changed } : each,
      );
      return { ...state, annotations };
    }
    case "annotation.removed":
      return { ...state, annotations: state.annotations.filter(({ id }) => id !== event.annotationId) };
    case "elicitation.requested": {
      const { elicitationId, runId, toolCallId, question, options, form, expiresAt } = event;
      const view = { elicitationId, runId, toolCallId, question, options, form, expiresAt };
      const others = state.elicitations.filter((each) => each.elicitationId !== elicitationId);
      return {
        ...state,
        elicitations: [...others, view],
        questions: applyQuestionEvent(state.questions, event),
      };
    }
    case "elicitation.resolved":
      return {
        ...removeElicitation(state, event.elicitationId),
        questions: applyQuestionEvent(state.questions, event),
      };
    case "turn.stopping":
      return { ...state, stops: applyStop(state.stops, event) };
    case "turn.waiting":
      return { ...state, waitingOn: event.waitingOn };
    case "turn.resumed":
      return { ...state, waitingOn: null };
    case "turn.compacting":
    case "turn.compacted": {
      const newest = state.messages.at(-1)?.id ?? null;
      return { ...state, compactions: applyCompactionEvent(state.compactions, event, newest) };
    }
    case "document.imported":
      return {
        ...state,
        imports: [event.import, ...state.imports.filter(({ id }) => id !== event.import.id)],
      };
    case "mcp.skipped": {
      const newest = state.messages.at(-1)?.id ?? null;
      return { ...state, missingTools: [...state.missingTools, toMissingTools(event, newest)] };
    }
    case "agent.spawned":
    case "agent.progress":
    case "agent.settled":
      return { ...state, agentChanges: state.agentChanges + 1 };
    case "variant.updated":
    case "preview.updated":
      return applyVariantEvent(state, event);
    case "report.published":
      return { ...state, reports: addReport(state.reports, event.report) };
    case "plan.updated":
      return { ...state, plan: event.plan };
    case "requirement.updated":
      return {
        ...state,
        requirements: mergeRequirements(state.requirements, event.requirements),
        requirementChanges: state.requirementChanges + 1,
      };
    case "page.deployed":
    case "page.updated":
      return {
        ...state,
        pages: mergePage(state.pages, event.page),
        pageChanges: state.pageChanges + 1,
      };
    case "tests.started":
    case "tests.progress":
    case "tests.completed":
      return { ...state, testRuns: applyTestRunEvent(state.testRuns, event) };
    case "run.completed":
      return completeRun(state, event);
    default:
      return state; // Kinds that do not change the state, and unknown kinds of a newer version of the service.
  }
}

/** Removes a question of the agent (elicitation) that is no longer open. */
export const removeElicitation = (state: SessionState, elicitationId: string): SessionState => ({
  ...state,
  elicitations: state.elicitations.filter((each) => each.elicitationId !== elicitationId),
});

type EventOf<Kind extends DomainEvent["kind"]> = Extract<DomainEvent, { kind: Kind }>;

function startRun(state: SessionState, event: EventOf<"run.started">): SessionState {
  if (event.runId === null || event.requestId === null) return state;
  const { runId, requestId, attempt, origin, timestamp } = event;
  const run: RunView = {
    runId,
    requestId,
    attempt,
    origin,
    state: "running",
    error: null,
    pageError: null,
    notBefore: null,
    startedAt: timestamp,
    endedAt: null,
  };
  return { ...state, runs: upsertRun(state.runs, run) };
}

function completeMessage(state: SessionState, { message }: EventOf<"message.completed">): SessionState {
  const others = state.messages.filter(({ id }) => id !== message.id);
  const after = others.findIndex(({ seq }) => seq > message.seq);
  return {
    ...state,
    messages: after < 0 ? [...others, message] : others.toSpliced(after, 0, message),
    drafts: state.drafts.filter(({ messageId }) => messageId !== message.id),
    queue:
      message.role === "user"
        ? state.queue.filter(({ requestId }) => requestId !== message.requestId)
        : state.queue,
  };
}

function readSteer(state: SessionState, { steerRequestId }: EventOf<"turn.steered">): SessionState {
  return {
    ...state,
    steers: state.steers.includes(steerRequestId) ? state.steers : [...state.steers, steerRequestId],
    queue: state.queue.filter(({ requestId }) => requestId !== steerRequestId),
  };
}

function beginToolCall(state: SessionState, event: EventOf<"tool.call">): SessionState {
  const call = toBegunCall(event);
  return {
    ...state,
    toolCalls: { ...state.toolCalls, [call.toolCallId]: call },
    toolInputs: { ...state.toolInputs, [call.toolCallId]: event.input },
  };
}

function endToolCall(state: SessionState, event: EventOf<"tool.result">): SessionState {
  const started = state.toolCalls[event.toolCallId];
  const call: ToolCallView = {
    toolCallId: event.toolCallId,
    toolName: event.toolName,
    runId: started?.runId ?? event.runId ?? "",
    state: event.state,
    refusal: event.refusal ?? null,
    interruptedBy: event.interruptedBy ?? null,
    isStopped: event.stopped ?? false,
    actions: event.actions ?? [],
    preview: event.preview,
    resultId: event.resultId,
    evidence: event.evidence,
    startedAt: started?.startedAt ?? event.timestamp,
    durationMs: event.durationMs,
  };
  const fileChanges = state.fileChanges + (WRITERS.has(event.toolName) ? 1 : 0);
  return { ...state, fileChanges, toolCalls: { ...state.toolCalls, [call.toolCallId]: call } };
}

/** The tools that can write files of the workspace. */
const WRITERS = new Set([
  "write_file",
  "run_shell",
  "run_skill_script",
  "run_tests",
  "wait_for_test_results",
]);

function completeRun(state: SessionState, event: EventOf<"run.completed">): SessionState {
  const { runId, requestId, timestamp, outcome, error, willRetry } = event;
  if (runId === null || requestId === null) return state;
  const existing = state.runs.find((run) => run.runId === runId);
  let runs = upsertRun(state.runs, {
    runId,
    requestId,
    attempt: existing?.attempt ?? 1,
    origin: existing?.origin ?? "person",
    state: outcome,
    error: error ?? null,
    pageError: outcome === "succeeded" ? findPageError(state, runId) : null,
    notBefore: null,
    startedAt: existing?.startedAt ?? null,
    endedAt: timestamp,
  });
  if (willRetry) {
    runs = upsertRun(runs, {
      runId: willRetry.runId,
      requestId,
      attempt: willRetry.attempt,
      origin: "retry",
      state: "pending",
      error: null,
      pageError: null,
      notBefore: new Date(Date.parse(timestamp) + willRetry.delayMs).toISOString(),
      startedAt: null,
      endedAt: null,
    });
  }
  return {
    ...state,
    runs,
    drafts: state.drafts.filter((draft) => draft.runId !== runId),
    queue: state.queue.filter((queued) => queued.requestId !== requestId),
    elicitations: state.elicitations.filter((each) => each.runId !== runId),
    // When a queued message is removed, its run also completes. `waitingOn` then belongs to another run and does not
    // change.
    waitingOn: existing?.state === "running" ? null : state.waitingOn,
    compactions: dropUnfinished(state.compactions, runId),
    toolCalls: closeToolCalls(state.toolCalls, runId, outcome === "cancelled"),
    // An attempt that is retried has no deliverable; that of its retry begins with `deliverable.pending`.
    deliverables: event.deliverable
      ? upsertDeliverable(state.deliverables, event.deliverable)
      : state.deliverables.filter((each) => each.runId !== runId || each.status !== "pending"),
  };
}

/** Returns the last error of the browser if the run needed a page, as the service determines it; otherwise null. */
const findPageError = ({ toolCalls, browser }: SessionState, runId: string): string | null =>
  (browser.desiredUrl !== null && browser.status !== "error") ||
  Object.values(toolCalls).some((call) => call.runId === runId && BROWSER_TOOLS.includes(call.toolName))
    ? browser.lastError
    : null;

/** Sets the unfinished calls of a run to `unknown`, because no result can follow after the end of the run. */
function closeToolCalls(
  calls: SessionState["toolCalls"],
  runId: string,
  isStopped: boolean,
): SessionState["toolCalls"] {
  const isUnfinished = (call: ToolCallView) => call.runId === runId && call.state === "started";
  if (!Object.values(calls).some(isUnfinished)) return calls;
  const close = (call: ToolCallView): ToolCallView =>
    isUnfinished(call) ? { ...call, state: "unknown", isStopped } : call;
  return Object.fromEntries(Object.entries(calls).map(([id, call]) => [id, close(call)]));
}

function upsertRun(runs: RunView[], run: RunView): RunView[] {
  const index = runs.findIndex(({ runId }) => runId === run.runId);
  return index < 0 ? [...runs, run] : runs.with(index, run);
}

function upsertDeliverable(deliverables: Deliverable[], deliverable: Deliverable): Deliverable[] {
  const index = deliverables.findIndex(({ runId }) => runId === deliverable.runId);
  return index < 0 ? [...deliverables, deliverable] : deliverables.with(index, deliverable);
}

/** Puts a report first, and removes its earlier version, which has the same title. */
const addReport = (reports: ReportSummary[], report: ReportSummary): ReportSummary[] => [
  report,
  ...reports.filter(({ title }) => title !== report.title),
];
