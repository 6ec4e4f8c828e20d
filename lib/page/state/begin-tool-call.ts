import type { DomainEvent } from "#lib/events/event.ts";
import type { ToolCallView } from "./view-types.ts";

/** Returns a tool call as the page shows it when it has begun. */
export const toBegunCall = (event: Extract<DomainEvent, { kind: "tool.call" }>): ToolCallView => ({
  toolCallId: event.toolCallId,
  toolName: event.toolName,
  runId: event.runId ?? "",
  state: "started",
  refusal: null,
  interruptedBy: null,
  isStopped: false,
  actions: [],
  preview: "",
  resultId: null,
  evidence: [],
  startedAt: event.timestamp,
  durationMs: null,
});
