import type { EventKind, MessageDelta } from "../event.ts";
import type { BusListener, EventBus } from "./bus.ts";
import { createListeners } from "./listeners.ts";
import { createUnfinished } from "./unfinished.ts";

/** Creates the bus of a service that has only one process. */
export const createMemoryBus = (): EventBus => ({ ...createLocalBus(), close: async () => {} });

/** The bus within one process. It calls the listeners synchronously, in publish order. */
export type LocalBus = Omit<EventBus, "close"> & {
  /**
   * Drops the session's unfinished message if an event of this kind ends the message. Call it for events that are not
   * published on this bus.
   */
  settle: (sessionId: string, kind: EventKind) => void;
  hasListeners: (sessionId: string) => boolean;
  /** Sessions with at least one listener. */
  listSessions: () => string[];
  /** Calls `onGap` of all listeners of sessions and topics. */
  recheckAll: () => void;
  /** Returns the unfinished messages of all sessions, with their text so far. */
  readAllUnfinished: () => MessageDelta[];
};

type Subscription<Callback> = { listener: Callback; onGap: () => void };

const ignore = () => {};

export function createLocalBus(): LocalBus {
  const sessions = createListeners<Subscription<BusListener>>();
  const topics = createListeners<Subscription<(text: string) => void>>();
  const unfinished = createUnfinished();

  function recheck(sessionId: string): void {
    for (const { onGap } of sessions.of(sessionId)) onGap();
  }

  return {
    publish(sessionId, item) {
      if (item.type === "delta") unfinished.remember(item.delta);
      else unfinished.drop(sessionId, item.event.kind);
      for (const { listener } of sessions.of(sessionId)) listener(item);
    },
    subscribe: (sessionId, listener, onGap = ignore) => sessions.add(sessionId, { listener, onGap }),
    signal(topic, text) {
      for (const { listener } of topics.of(topic)) listener(text);
    },
    onSignal: (topic, listener, onGap = ignore) => topics.add(topic, { listener, onGap }),
    recheck,
    recheckAll() {
      for (const sessionId of sessions.keys()) recheck(sessionId);
      for (const topic of topics.keys()) for (const { onGap } of topics.of(topic)) onGap();
    },
    settle: unfinished.drop,
    hasListeners: sessions.has,
    listSessions: sessions.keys,
    readUnfinished: unfinished.read,
    readAllUnfinished: unfinished.readAll,
  };
}
