import type { Database, Transaction } from "#db/client.ts";
import type { BusListener, EventBus } from "./bus/bus.ts";
import type { MessageDelta, NewEvent, StoredEvent } from "./event.ts";
import { appendEvents, readEvents } from "./event-store.ts";

/**
 * Emits an event in the current transaction. The log numbers and writes it last, and publishes it after the commit.
 * `onStored` runs in the same transaction with the stored form, for rows that hold its very text (callbacks).
 */
export type Emit = (event: NewEvent, onStored?: (stored: StoredEvent) => Promise<void>) => void;

/** The log of every session: the one way to write an event, and the one way to read them. */
export type EventLog = {
  /**
   * Runs `work` in one transaction of which the emitted events are part.
   * Sequence numbers are taken last, so that they rise without gaps in the order of commits.
   */
  transact: <Result>(
    sessionId: string,
    work: (tx: Transaction, emit: Emit) => Promise<Result>,
  ) => Promise<Result>;
  /** Tells the followers of events that are stored and committed. */
  publish: (events: StoredEvent[]) => void;
  /**
   * Has a session's followers in this process read the log again: for a writer that does not know whether its events were
   * stored, as the answer to its commit was lost.
   */
  recheck: (sessionId: string) => void;
  /** Stored events with `seq > after`, in order, at most `limit`; of one request, or several, where `requestId` is given. */
  read: (
    sessionId: string,
    query: { after: number; requestId?: string | readonly string[]; limit: number },
  ) => Promise<StoredEvent[]>;
  /**
   * Live items of a session. Subscribe first, then read, and drop what has been seen.
   *
   * @param onGap called when items may have been missed: read again from what was last seen.
   */
  subscribe: (sessionId: string, listener: BusListener, onGap?: () => void) => () => void;
  /** Sends a live piece of a message; nothing is stored. */
  publishDelta: (delta: MessageDelta) => void;
  readUnfinished: (sessionId: string) => MessageDelta[];
};

/** @see EventLog */
export function createEventLog(db: Database, bus: EventBus): EventLog {
  const publish = (events: StoredEvent[]) => {
    for (const event of events) bus.publish(event.sessionId, { type: "event", event });
  };
  return {
    async transact(sessionId, work) {
      let stored: StoredEvent[] = [];
      const transaction = db.transaction(async (tx) => {
        const pending: { event: NewEvent; onStored: ((stored: StoredEvent) => Promise<void>) | undefined }[] =
          [];
        const value = await work(tx, (event, onStored) => pending.push({ event, onStored }));
        stored =
          pending.length === 0
            ? []
            : await appendEvents(
                tx,
                sessionId,
                pending.map(({ event }) => event),
              );
        for (const [index, event] of stored.entries()) await pending[index]?.onStored?.(event);
        return value;
      });
      const result = await transaction.catch((error: unknown) => {
        // What was to be committed may have been.
        if (stored.length > 0) bus.recheck(sessionId);
        throw error;
      });
      publish(stored);
      return result;
    },
    publish,
    recheck: bus.recheck,
    read: (sessionId, query) => readEvents(db, sessionId, query),
    subscribe: bus.subscribe,
    publishDelta: (delta) => bus.publish(delta.sessionId, { type: "delta", delta }),
    readUnfinished: bus.readUnfinished,
  };
}
