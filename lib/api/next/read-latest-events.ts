import type { DomainEvent, EventKind } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";

const EVENTS_BACK = 2_000;
/** What the page is told about by the log alone. */
const KINDS: ReadonlySet<EventKind> = new Set([
  "message.completed",
  "tool.call",
  "tool.result",
  "mcp.skipped",
  "turn.compacting",
  "turn.compacted",
  "run.completed",
]);

/** The place in line of a session whose browser reads `creating`; null where it does not wait for one. */
export async function readBrowserPosition(
  log: EventLog,
  sessionId: string,
  lastSeq: number,
): Promise<number | null> {
  const events = await log.read(sessionId, { after: Math.max(0, lastSeq - EVENTS_BACK), limit: EVENTS_BACK });
  const newest = events.findLast(({ kind }) => kind === "browser.waiting");
  const started = events.findLast(({ kind, body }) => kind === "browser.status" && !isCreating(body));
  if (!newest || (started && started.seq > newest.seq)) return null;
  // Written by our own log.
  return (JSON.parse(newest.body) as Extract<DomainEvent, { kind: "browser.waiting" }>).position;
}

const isCreating = (body: string): boolean =>
  (JSON.parse(body) as Extract<DomainEvent, { kind: "browser.status" }>).status === "creating";

/**
 * Of the session's latest events up to `lastSeq` those from which the page is drawn, in order. Later ones are left to the
 * live connection, which begins after `lastSeq`: the page would show them twice.
 */
export async function readLatestEvents(
  log: EventLog,
  sessionId: string,
  lastSeq: number,
): Promise<DomainEvent[]> {
  const stored = await log.read(sessionId, { after: Math.max(0, lastSeq - EVENTS_BACK), limit: EVENTS_BACK });
  return (
    stored
      .filter(({ seq, kind }) => seq <= lastSeq && KINDS.has(kind))
      // Written by our own log.
      .map(({ body }) => JSON.parse(body) as DomainEvent)
  );
}
