import type { DomainEvent } from "#lib/events/event.ts";
import { applyCompactionEvent, dropUnfinished } from "../client/apply-compaction.ts";
import type { CompactionView } from "../client/types.ts";

/** The compactions among a session's events, each with the message that was the newest then. */
export function readCompactions(events: readonly DomainEvent[]): CompactionView[] {
  let compactions: CompactionView[] = [];
  let newest: string | null = null;
  for (const event of events) {
    if (event.kind === "message.completed") newest = event.message.id;
    if (event.kind === "turn.compacting" || event.kind === "turn.compacted")
      compactions = applyCompactionEvent(compactions, event, newest);
    if (event.kind === "run.completed") compactions = dropUnfinished(compactions, event.runId);
  }
  return compactions;
}
