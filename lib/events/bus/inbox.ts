import type { EventKind, StoredEvent } from "../event.ts";
import type { BusItem } from "./bus.ts";
import type { Notice } from "./notice.ts";

type ItemNotice = Extract<Notice, { type: "event" | "delta" }>;
type EventNotice = Extract<Notice, { type: "event" }>;

type InboxDeps = {
  hasListeners: (sessionId: string) => boolean;
  /** Reads the stored events with the numbers `first` to `last`, both included. */
  read: (sessionId: string, first: number, last: number) => Promise<StoredEvent[]>;
  deliver: (sessionId: string, item: BusItem) => void;
  /** Called for an event that is not delivered, because its session has no listeners or the event could not be read. */
  skip: (sessionId: string, kind: EventKind) => void;
  onReadFailed: (sessionId: string) => void;
};

/**
 * Delivers the items that notices of other processes announce, in publish order within a session. The events of
 * consecutive notices are read from the log with one read.
 */
export type Inboxes = { put: (sessionId: string, notice: ItemNotice) => void };

/** @see Inboxes */
export function createInboxes(deps: InboxDeps): Inboxes {
  /** By session id: the notices that wait while earlier events of the session are being read. */
  const inboxes = new Map<string, ItemNotice[]>();

  async function drain(sessionId: string, inbox: ItemNotice[]): Promise<void> {
    while (inbox.length > 0) {
      const end = inbox.findIndex(({ type }) => type === "delta");
      const batch = inbox.splice(0, end === -1 ? inbox.length : Math.max(end, 1));
      await deliverBatch(sessionId, batch);
    }
    inboxes.delete(sessionId);
  }

  async function deliverBatch(sessionId: string, batch: ItemNotice[]): Promise<void> {
    const notices: EventNotice[] = [];
    for (const notice of batch) {
      if (notice.type === "delta") deps.deliver(sessionId, notice);
      else if (deps.hasListeners(sessionId)) notices.push(notice);
      else deps.skip(sessionId, notice.kind);
    }
    if (notices.length === 0) return;
    const seqs = notices.map(({ seq }) => seq);
    try {
      const events = await deps.read(sessionId, Math.min(...seqs), Math.max(...seqs));
      for (const event of events) deps.deliver(sessionId, { type: "event", event });
    } catch {
      for (const { kind } of notices) deps.skip(sessionId, kind);
      deps.onReadFailed(sessionId);
    }
  }

  return {
    put(sessionId, notice) {
      const inbox = inboxes.get(sessionId);
      if (inbox) return void inbox.push(notice);
      if (notice.type === "delta") return deps.deliver(sessionId, notice);
      if (!deps.hasListeners(sessionId)) return deps.skip(sessionId, notice.kind);
      const opened = [notice];
      inboxes.set(sessionId, opened);
      void drain(sessionId, opened);
    },
  };
}
