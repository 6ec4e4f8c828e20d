import type { MessageDelta, StoredEvent } from "../event.ts";
import { createLocalBus } from "./local-bus.ts";

/** What the bus carries: stored events after their commit, and live pieces of messages. */
export type BusItem = { type: "event"; event: StoredEvent } | { type: "delta"; delta: MessageDelta };

export type BusListener = (item: BusItem) => void;

/** Wakes the readers of a session. The log is authoritative: a reader that missed an item finds it there. */
export type EventBus = {
  publish: (sessionId: string, item: BusItem) => void;
  /** @param onGap called when items may have been missed: read the log again, from the last event seen. */
  subscribe: (sessionId: string, listener: BusListener, onGap?: () => void) => () => void;
  /** Calls `onGap` of the session's listeners in this process. */
  recheck: (sessionId: string) => void;
  /** The unfinished message as far as it was streamed, for a new reader: each part, from offset 0. */
  readUnfinished: (sessionId: string) => MessageDelta[];
  /** Sends a short text (less than 4,000 bytes) to every process, including this one. Delivery is not guaranteed. */
  signal: (topic: string, text: string) => void;
  /** Listens to a topic. @param onGap called when signals may have been missed. */
  onSignal: (topic: string, listener: (text: string) => void, onGap?: () => void) => () => void;
  close: () => Promise<void>;
};

/** The bus of a single process. */
export const createMemoryBus = (): EventBus => ({ ...createLocalBus(), close: async () => {} });
