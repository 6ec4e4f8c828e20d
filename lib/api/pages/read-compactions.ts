import type { DomainEvent } from "#lib/events/event.ts";
import { applyCompactionEvent, dropUnfinished } from "../client/apply-compaction.ts";
import type { CompactionView } from "../client/types.ts";

/** The compactions among a session's events, each with the newest message of that moment. */
export function readCompactions(events: readonly DomainEvent[]): CompactionView[] {
  let compactions: CompactionView[] = [];
  let newest: { id: string; seq: number } | null = null;
  for (const event of events) {
    // An event that repeats a message, with a part added, does not make it the newest.
    if (event.kind === "message.completed" && event.message.seq >= (newest?.seq ?? 0)) newest = event.message;
    if (event.kind === "turn.compacting" || event.kind === "turn.compacted")
      compactions = applyCompactionEvent(compactions, event, newest?.id ?? null);
    if (event.kind === "run.completed") compactions = dropUnfinished(compactions, event.runId);
  }
  return compactions;
}
