import type { EventKind, StoredEvent } from "../event.ts";
import type { BusItem } from "./bus.ts";
import type { Notice } from "./notice.ts";

type Told = Extract<Notice, { type: "event" | "delta" }>;

type InboxDeps = {
  isHeard: (sessionId: string) => boolean;
  /** The stored events from the first to the last of these numbers. */
  read: (sessionId: string, first: number, last: number) => Promise<StoredEvent[]>;
  deliver: (sessionId: string, item: BusItem) => void;
  /** Told of an event that nobody listens for. */
  skip: (sessionId: string, kind: EventKind) => void;
  /** The events could not be read. */
  fail: (sessionId: string) => void;
};

/** What other processes told, delivered per session in the order of telling, with the content of events read once. */
export function createInboxes(deps: InboxDeps): { put: (sessionId: string, notice: Told) => void } {
  /** Of sessions whose events are being read. */
  const inboxes = new Map<string, Told[]>();

  async function empty(sessionId: string, inbox: Told[]): Promise<void> {
    while (inbox.length > 0) {
      const end = inbox.findIndex(({ type }) => type === "delta");
      const batch = inbox.splice(0, end === -1 ? inbox.length : Math.max(end, 1));
      await deliverBatch(sessionId, batch);
    }
    inboxes.delete(sessionId);
  }

  async function deliverBatch(sessionId: string, batch: Told[]): Promise<void> {
    const told: Extract<Told, { type: "event" }>[] = [];
    for (const notice of batch) {
      if (notice.type === "delta") deps.deliver(sessionId, notice);
      else if (deps.isHeard(sessionId)) told.push(notice);
      else deps.skip(sessionId, notice.kind);
    }
    if (told.length === 0) return;
    const seqs = told.map(({ seq }) => seq);
    try {
      const events = await deps.read(sessionId, Math.min(...seqs), Math.max(...seqs));
      for (const event of events) deps.deliver(sessionId, { type: "event", event });
    } catch {
      for (const { kind } of told) deps.skip(sessionId, kind);
      deps.fail(sessionId);
    }
  }

  return {
    put(sessionId, notice) {
      const inbox = inboxes.get(sessionId);
      if (inbox) return void inbox.push(notice);
      if (notice.type === "delta") return deps.deliver(sessionId, notice);
      if (!deps.isHeard(sessionId)) return deps.skip(sessionId, notice.kind);
      const opened = [notice];
      inboxes.set(sessionId, opened);
      void empty(sessionId, opened);
    },
  };
}
