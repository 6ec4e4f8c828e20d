import type { Database, Transaction } from "#db/client.ts";
import type { BusListener, EventBus } from "./bus/bus.ts";
import type { MessageDelta, NewEvent, StoredEvent } from "./event.ts";
import { appendEvents, readEvents } from "./event-store.ts";

/**
 * Emits an event in the current transaction. The log stores the emitted events at the end of the transaction and
 * publishes them after the commit. `onStored` is called with the stored event in the same transaction; it can write
 * rows that contain the event, such as callbacks.
 */
export type Emit = (event: NewEvent, onStored?: (stored: StoredEvent) => Promise<void>) => void;

/** Stores, reads and publishes the events of all sessions. */
export type EventLog = {
  /**
   * Runs `work` in a transaction that also stores the emitted events. Sequence numbers are assigned at the end of the
   * transaction, so they follow the order of the commits and have no gaps.
   */
  transact: <Result>(
    sessionId: string,
    work: (tx: Transaction, emit: Emit) => Promise<Result>,
  ) => Promise<Result>;
  /** Publishes committed events to the followers of their sessions. */
  publish: (events: StoredEvent[]) => void;
  /**
   * Makes a session's followers in this process read the log again. Call it after a lost reply to a commit, when the
   * writer does not know whether its events were stored.
   */
  recheck: (sessionId: string) => void;
  /**
   * Reads stored events with `seq > after`, in order, at most `limit`. With `requestId` (one id or several), reads only
   * the events of these requests.
   */
  read: (
    sessionId: string,
    query: { after: number; requestId?: string | readonly string[]; limit: number },
  ) => Promise<StoredEvent[]>;
  /**
   * Subscribes to the live items of a session. To miss nothing, subscribe first, then read the log, and skip events
   * that were already received. @returns a function that unsubscribes.
   *
   * @param onGap called when items may have been missed. The callback must read the log after the last event that the
   * listener received.
   */
  subscribe: (sessionId: string, listener: BusListener, onGap?: () => void) => () => void;
  /** Publishes a chunk of a message to the followers of the message's session. Chunks are not stored. */
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
        // The commit may have succeeded although its reply was lost, so the followers must read the log again.
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
