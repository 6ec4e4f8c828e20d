import type { EventKind, NewEvent, StoredEvent } from "./event.ts";

/** A serialized event without its number: the database inserts the number between `head` and `tail`. */
export type EventDraft = {
  kind: EventKind;
  requestId: string | null;
  runId: string | null;
  /** ISO 8601. */
  timestamp: string;
  head: string;
  tail: string;
};

/** Serializes events of one session, without their numbers. The database adds the numbers when it stores the events. */
export function draftEvents(sessionId: string, newEvents: NewEvent[]): EventDraft[] {
  const timestamp = new Date().toISOString();
  return newEvents.map(({ kind, requestId, runId, source, ...fields }) => ({
    kind,
    requestId,
    runId,
    timestamp,
    head: `{"kind":${JSON.stringify(kind)},"seq":`,
    tail: `,${JSON.stringify({ timestamp, sessionId, requestId, runId, source, ...fields }).slice(1)}`,
  }));
}

/** Returns drafts as stored events. The drafts are numbered without gaps, and the last one gets the number `lastSeq`. */
export const numberEvents = (sessionId: string, drafts: EventDraft[], lastSeq: number): StoredEvent[] =>
  drafts.map(({ kind, requestId, runId, head, tail }, index) => {
    const seq = lastSeq - drafts.length + index + 1;
    return { sessionId, seq, kind, requestId, runId, body: `${head}${seq}${tail}` };
  });
