import type { DomainEvent } from "#lib/events/event.ts";
import { toMissingTools } from "../client/describe-missing-tools.ts";
import type { MissingToolsView } from "../client/types.ts";

/** The notices of missing tools among a session's events, each with the newest message of that moment. */
export function readMissingTools(events: readonly DomainEvent[]): MissingToolsView[] {
  const missing: MissingToolsView[] = [];
  let newest: { id: string; seq: number } | null = null;
  for (const event of events) {
    // An event that repeats a message, with a part added, does not make it the newest.
    if (event.kind === "message.completed" && event.message.seq >= (newest?.seq ?? 0)) newest = event.message;
    if (event.kind === "mcp.skipped") missing.push(toMissingTools(event, newest?.id ?? null));
  }
  return missing;
}
