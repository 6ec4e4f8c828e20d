import type { DomainEvent } from "#lib/events/event.ts";
import type { ToolCallView } from "../client/types.ts";

/** The tool calls among a session's events, with what came of them. */
export function readToolCalls(events: readonly DomainEvent[]): ToolCallView[] {
  const calls = new Map<string, ToolCallView>();
  for (const event of events) {
    if (event.kind === "tool.call") calls.set(event.toolCallId, toStarted(event));
    if (event.kind === "tool.result") {
      const started = calls.get(event.toolCallId);
      const { state, preview, resultId, evidence, durationMs } = event;
      if (started)
        calls.set(event.toolCallId, { ...started, state, preview, resultId, evidence, durationMs });
    }
  }
  return [...calls.values()];
}

const toStarted = (event: Extract<DomainEvent, { kind: "tool.call" }>): ToolCallView => ({
  toolCallId: event.toolCallId,
  toolName: event.toolName,
  runId: event.runId ?? "",
  state: "started",
  preview: "",
  resultId: null,
  evidence: [],
  startedAt: event.timestamp,
  durationMs: null,
});
