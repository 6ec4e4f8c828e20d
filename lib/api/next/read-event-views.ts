import type { DomainEvent } from "#lib/events/event.ts";
import { toMissingTools } from "#lib/page/labels/describe-missing-tools.ts";
import { applyCompactionEvent, dropUnfinished } from "#lib/page/state/apply-compaction.ts";
import { applyQuestionEvent } from "#lib/page/state/apply-question.ts";
import { applyStop } from "#lib/page/state/apply-stop.ts";
import { toBegunCall } from "#lib/page/state/begin-tool-call.ts";
import type {
  CompactionView,
  MissingToolsView,
  QuestionView,
  StopView,
  ToolCallView,
} from "#lib/page/state/view-types.ts";

/**
 * Lists the compactions in a session's events, except those that had not ended when their run ended. Each compaction
 * contains the id of the message that was the newest when the compaction started.
 */
export function readCompactions(events: readonly DomainEvent[]): CompactionView[] {
  let compactions: CompactionView[] = [];
  let newest: { id: string; seq: number } | null = null;
  for (const event of events) {
    // An older message is published again when a part is added to it. Such a message must not count as the newest one.
    if (event.kind === "message.completed" && event.message.seq >= (newest?.seq ?? 0)) newest = event.message;
    if (event.kind === "turn.compacting" || event.kind === "turn.compacted")
      compactions = applyCompactionEvent(compactions, event, newest?.id ?? null);
    if (event.kind === "run.completed") compactions = dropUnfinished(compactions, event.runId);
  }
  return compactions;
}

/**
 * Lists the notices of missing tools in a session's events. Each notice contains the id of the message that was the
 * newest at the time of the notice.
 */
export function readMissingTools(events: readonly DomainEvent[]): MissingToolsView[] {
  const missing: MissingToolsView[] = [];
  let newest: { id: string; seq: number } | null = null;
  for (const event of events) {
    // An older message is published again when a part is added to it. Such a message must not count as the newest one.
    if (event.kind === "message.completed" && event.message.seq >= (newest?.seq ?? 0)) newest = event.message;
    if (event.kind === "mcp.skipped") missing.push(toMissingTools(event, newest?.id ?? null));
  }
  return missing;
}

/** Lists the tool calls in a session's events, with their results. */
export function readToolCalls(events: readonly DomainEvent[]): ToolCallView[] {
  const calls = new Map<string, ToolCallView>();
  for (const event of events) {
    if (event.kind === "tool.call") calls.set(event.toolCallId, toBegunCall(event));
    if (event.kind === "tool.result") {
      const started = calls.get(event.toolCallId);
      const { state, refusal = null, preview, resultId, evidence, durationMs } = event;
      const shown = { isStopped: event.stopped ?? false, actions: event.actions ?? [] };
      const ended = { state, refusal, preview, resultId, evidence, durationMs };
      if (started) calls.set(event.toolCallId, { ...started, ...ended, ...shown });
    }
  }
  return [...calls.values()];
}

/** Lists the questions in a session's events, with their answers. */
export function readQuestions(events: readonly DomainEvent[]): QuestionView[] {
  let questions: QuestionView[] = [];
  for (const event of events)
    if (event.kind === "elicitation.requested" || event.kind === "elicitation.resolved")
      questions = applyQuestionEvent(questions, event);
  return questions;
}

/** Returns who stopped the runs in a session's events. */
export function readStops(events: readonly DomainEvent[]): Readonly<Record<string, StopView>> {
  let stops: Readonly<Record<string, StopView>> = {};
  for (const event of events) if (event.kind === "turn.stopping") stops = applyStop(stops, event);
  return stops;
}
