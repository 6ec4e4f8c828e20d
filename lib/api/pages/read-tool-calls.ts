import type { DomainEvent } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { ToolCallView } from "../client/types.ts";

const EVENTS_BACK = 2_000;

/** The tool calls among the session's latest events, with what came of them. */
export async function readToolCalls(
  log: EventLog,
  sessionId: string,
  lastSeq: number,
): Promise<ToolCallView[]> {
  const stored = await log.read(sessionId, { after: Math.max(0, lastSeq - EVENTS_BACK), limit: EVENTS_BACK });
  const calls = new Map<string, ToolCallView>();
  for (const { kind, body } of stored) {
    if (kind !== "tool.call" && kind !== "tool.result") continue;
    // Written by our own log.
    const event = JSON.parse(body) as DomainEvent;
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
