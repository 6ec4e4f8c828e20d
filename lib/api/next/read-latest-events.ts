import type { DomainEvent, EventKind } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";

const EVENTS_BACK = 2_000;
/**
 * Kinds of events that the page reads from the log. Completed messages determine where the page shows compactions and
 * missing tools. The end of a run removes a compaction that had not ended by then.
 */
const KINDS: ReadonlySet<EventKind> = new Set([
  "message.completed",
  "tool.call",
  "tool.result",
  "elicitation.requested",
  "elicitation.resolved",
  "turn.stopping",
  "mcp.skipped",
  "turn.compacting",
  "turn.compacted",
  "run.completed",
]);

/**
 * Reads the position of a session in the browser queue while its browser is `creating`. Null if the session is not in
 * the queue.
 */
export async function readBrowserPosition(
  log: EventLog,
  sessionId: string,
  lastSeq: number,
): Promise<number | null> {
  const events = await log.read(sessionId, { after: Math.max(0, lastSeq - EVENTS_BACK), limit: EVENTS_BACK });
  const newest = events.findLast(({ kind }) => kind === "browser.waiting");
  const started = events.findLast(({ kind, body }) => kind === "browser.status" && !isCreating(body));
  if (!newest || (started && started.seq > newest.seq)) return null;
  // The cast holds because only the event log writes these bodies.
  return (JSON.parse(newest.body) as Extract<DomainEvent, { kind: "browser.waiting" }>).position;
}

const isCreating = (body: string): boolean =>
  (JSON.parse(body) as Extract<DomainEvent, { kind: "browser.status" }>).status === "creating";

/**
 * Reads the session's latest events that the page needs, up to the number `lastSeq`, in order. Later events are left
 * out, because the live connection delivers them and the page would show them twice.
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
      // The cast holds because only the event log writes these bodies.
      .map(({ body }) => JSON.parse(body) as DomainEvent)
  );
}
