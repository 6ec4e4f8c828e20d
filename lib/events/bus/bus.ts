import type { MessageDelta, StoredEvent } from "../event.ts";
import { createLocalBus } from "./local-bus.ts";

/** What the bus carries: events that are stored and committed, and live pieces of messages. */
export type BusItem = { type: "event"; event: StoredEvent } | { type: "delta"; delta: MessageDelta };

export type BusListener = (item: BusItem) => void;

/**
 * Delivers new items to the readers of a session. Delivery is not guaranteed: a reader that missed an event reads it
 * from the log.
 */
export type EventBus = {
  publish: (sessionId: string, item: BusItem) => void;
  /**
   * Listens to a session's items. @returns a function that unsubscribes.
   * @param onGap called when items may have been missed. The caller then reads the log from the last event it has seen.
   */
  subscribe: (sessionId: string, listener: BusListener, onGap?: () => void) => () => void;
  /** Calls `onGap` of every listener that this process has for the session. */
  recheck: (sessionId: string) => void;
  /**
   * Returns the text of the unfinished message so far, for a new reader. Each part is one piece that starts at offset 0.
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

/** Creates the bus of a service that has only one process. */
export const createMemoryBus = (): EventBus => ({ ...createLocalBus(), close: async () => {} });
