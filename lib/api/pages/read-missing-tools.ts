import type { DomainEvent } from "#lib/events/event.ts";
import { toMissingTools } from "../client/describe-missing-tools.ts";
import type { MissingToolsView } from "../client/types.ts";

/** What a session's events tell of missing tools, each with the message that was the newest then. */
export function readMissingTools(events: readonly DomainEvent[]): MissingToolsView[] {
  const missing: MissingToolsView[] = [];
  let newest: string | null = null;
  for (const event of events) {
    if (event.kind === "message.completed") newest = event.message.id;
    if (event.kind === "mcp.skipped") missing.push(toMissingTools(event, newest));
  }
  return missing;
}
