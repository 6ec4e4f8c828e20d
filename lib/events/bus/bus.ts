import type { MessageDelta, StoredEvent } from "../event.ts";

/** An item that the bus delivers: a stored and committed event, or a chunk of a message that the model is writing. */
export type BusItem = { type: "event"; event: StoredEvent } | { type: "delta"; delta: MessageDelta };

export type BusListener = (item: BusItem) => void;

/**
 * Delivers new items of sessions to their readers. Delivery is not guaranteed: a reader that missed an event must read
 * the event from the log.
 */
export type EventBus = {
  publish: (sessionId: string, item: BusItem) => void;
  /**
   * Listens to a session's items. @returns a function that unsubscribes.
   * @param onGap called when items may have been missed. The callback must read the log after the last event that the
   * listener received.
   */
  subscribe: (sessionId: string, listener: BusListener, onGap?: () => void) => () => void;
  /** Calls `onGap` of the session's listeners in this process. */
  recheck: (sessionId: string) => void;
  /**
   * Returns a session's unfinished message, for a new reader: for each part of the message (text or reasoning), one
   * chunk with the whole text so far. Leaves out a part whose beginning this process missed.
   */
  readUnfinished: (sessionId: string) => MessageDelta[];
  /** Sends a short text (less than 4,000 bytes) to every process, including this one. Delivery is not guaranteed. */
  signal: (topic: string, text: string) => void;
  /**
   * Listens to a topic. @returns a function that unsubscribes.
   * @param onGap called when signals may have been missed.
   */
  onSignal: (topic: string, listener: (text: string) => void, onGap?: () => void) => () => void;
  close: () => Promise<void>;
};
