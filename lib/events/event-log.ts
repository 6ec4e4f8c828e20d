import type { Database, Transaction } from "#db/client.ts";
import type { BusListener, EventBus } from "./bus/bus.ts";
import type { MessageDelta, NewEvent, StoredEvent } from "./event.ts";
import { appendEvents, readEvents } from "./event-store.ts";

/**
 * Emits an event in the current transaction. The log numbers and writes it last, and publishes it after the commit.
 * `onStored` runs in the same transaction with the stored form, for rows that contain the serialized event (callbacks).
 */
export type Emit = (event: NewEvent, onStored?: (stored: StoredEvent) => Promise<void>) => void;

/** The event logs of all sessions: the only way to write events and to read them. */
export type EventLog = {
  /**
   * Runs `work` in a transaction that also stores the emitted events.
   * Sequence numbers are assigned last, so they rise without gaps in commit order.
   */
  transact: <Result>(
    sessionId: string,
    work: (tx: Transaction, emit: Emit) => Promise<Result>,
  ) => Promise<Result>;
  /** Publishes events that are stored and committed to the followers. */
  publish: (events: StoredEvent[]) => void;
  /**
   * Makes a session's followers in this process read the log again. For a writer that does not know whether its events
   * were stored because the reply to its commit was lost.
   */
  recheck: (sessionId: string) => void;
  /** Reads stored events with `seq > after`, in order, at most `limit`; with `requestId`, only events of those requests. */
  read: (
    sessionId: string,
    query: { after: number; requestId?: string | readonly string[]; limit: number },
  ) => Promise<StoredEvent[]>;
  /**
   * Subscribes to the live items of a session. Subscribe first, then read the log, and skip events already seen.
   *
   * @param onGap called when items may have been missed: read the log again, from the last event seen.
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
        // The commit may have succeeded although its reply was lost.
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
