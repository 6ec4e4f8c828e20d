import type { MessageDelta, StoredEvent } from "../event.ts";
import { createListeners } from "./listeners.ts";
import { createUnfinished } from "./unfinished.ts";

/** What goes over the bus: stored events after their commit, and live pieces of messages. */
export type BusItem = { type: "event"; event: StoredEvent } | { type: "delta"; delta: MessageDelta };

export type BusListener = (item: BusItem) => void;

/** Wakes the readers of a session. It is never the truth: a reader that missed an item finds it in the log. */
export type EventBus = {
  publish: (sessionId: string, item: BusItem) => void;
  /** @param onGap called when items may have been missed: the log is to be read again from what was last seen. */
  subscribe: (sessionId: string, listener: BusListener, onGap?: () => void) => () => void;
  /** Tells the session's listeners in this process that items may have been missed. */
  recheck: (sessionId: string) => void;
  /** The pieces that whoever joins now must be given: each part of the message in the making, from offset 0. */
  readUnfinished: (sessionId: string) => MessageDelta[];
  /** Says a short word (less than 4,000 bytes) to every process, this one included. It may get lost, as items may. */
  signal: (topic: string, word: string) => void;
  /** Hears the words of a topic. @param onGap called when some may have been missed. */
  onSignal: (topic: string, listener: (word: string) => void, onGap?: () => void) => () => void;
  close: () => Promise<void>;
};

/** The bus of one process. */
export function createMemoryBus(): EventBus {
  const listeners = createListeners<{ hear: BusListener; onGap: () => void }>();
  const topics = createListeners<(word: string) => void>();
  const unfinished = createUnfinished();
  return {
    publish(sessionId, item) {
      if (item.type === "delta") unfinished.remember(item.delta);
      else unfinished.settle(sessionId, item.event.kind);
      for (const { hear } of listeners.of(sessionId)) hear(item);
    },
    subscribe: (sessionId, hear, onGap = () => {}) => listeners.add(sessionId, { hear, onGap }),
    recheck(sessionId) {
      for (const { onGap } of listeners.of(sessionId)) onGap();
    },
    readUnfinished: unfinished.read,
    signal(topic, word) {
      for (const listener of topics.of(topic)) listener(word);
    },
    onSignal: (topic, listener) => topics.add(topic, listener),
    close: async () => {},
  };
}
