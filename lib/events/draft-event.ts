import type { EventKind, NewEvent, StoredEvent } from "./event.ts";

/** An event as text, but for its number, which the database puts between the two halves. */
export type EventDraft = {
  kind: EventKind;
  requestId: string | null;
  runId: string | null;
  /** ISO 8601. */
  timestamp: string;
  head: string;
  tail: string;
};

/** Serializes events of one session, once; the number comes with the write. */
export function draftEvents(sessionId: string, news: NewEvent[]): EventDraft[] {
  const timestamp = new Date().toISOString();
  return news.map(({ kind, requestId, runId, source, ...fields }) => ({
    kind,
    requestId,
    runId,
    timestamp,
    head: `{"kind":${JSON.stringify(kind)},"seq":`,
    tail: `,${JSON.stringify({ timestamp, sessionId, requestId, runId, source, ...fields }).slice(1)}`,
  }));
}

/** The stored form of drafts, of which the last got the number `lastSeq`. */
export const numberEvents = (sessionId: string, drafts: EventDraft[], lastSeq: number): StoredEvent[] =>
  drafts.map(({ kind, requestId, runId, head, tail }, index) => {
    const seq = lastSeq - drafts.length + index + 1;
    return { sessionId, seq, kind, requestId, runId, body: `${head}${seq}${tail}` };
  });
