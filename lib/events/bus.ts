import type { MessageDelta, StoredEvent } from "./event.ts";

/** What goes over the bus: stored events after their commit, and live pieces of messages. */
export type BusItem = { type: "event"; event: StoredEvent } | { type: "delta"; delta: MessageDelta };

export type BusListener = (item: BusItem) => void;

/** Wakes the readers of a session. It is never the truth: a reader that missed an item finds it in the log. */
export type EventBus = {
  publish: (sessionId: string, item: BusItem) => void;
  subscribe: (sessionId: string, listener: BusListener) => () => void;
  /** The pieces that whoever joins now must be given: each part of the message in the making, from offset 0. */
  readUnfinished: (sessionId: string) => MessageDelta[];
};

/** The bus of one process. */
export function createMemoryBus(): EventBus {
  const listeners = new Map<string, Set<BusListener>>();
  const unfinished = new Map<string, Map<string, MessageDelta>>();

  const remember = (delta: MessageDelta) => {
    const parts = unfinished.get(delta.sessionId) ?? new Map<string, MessageDelta>();
    unfinished.set(delta.sessionId, parts);
    const key = `${delta.messageId}/${delta.part}`;
    const known = parts.get(key);
    const goesOn =
      known !== undefined && known.attempt === delta.attempt && known.text.length === delta.offset;
    parts.set(key, goesOn ? { ...known, text: known.text + delta.text } : { ...delta });
  };
  const forget = (event: StoredEvent) => {
    const ends =
      event.kind === "run.completed" || event.kind === "message.completed" || event.kind === "run.started";
    if (ends) unfinished.delete(event.sessionId);
  };

  return {
    publish(sessionId, item) {
      if (item.type === "delta") remember(item.delta);
      else forget(item.event);
      for (const listener of listeners.get(sessionId) ?? []) listener(item);
    },
    subscribe(sessionId, listener) {
      const set = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(sessionId) === set) listeners.delete(sessionId);
      };
    },
    readUnfinished: (sessionId) => [...(unfinished.get(sessionId)?.values() ?? [])],
  };
}
