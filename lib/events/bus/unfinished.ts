import type { EventKind, MessageDelta } from "../event.ts";

/** The messages in the making, as far as their live pieces came. */
type Unfinished = {
  remember: (delta: MessageDelta) => void;
  /** An event was stored: one that ends a message, or a run, ends what was streamed of it. */
  settle: (sessionId: string, kind: EventKind) => void;
  /** Each part of a session's message, from its beginning. */
  read: (sessionId: string) => MessageDelta[];
  /** The same of all sessions. */
  readAll: () => MessageDelta[];
};

const ENDS = new Set<EventKind>(["run.completed", "message.completed", "run.started"]);

/** @see Unfinished */
export function createUnfinished(): Unfinished {
  const sessions = new Map<string, Map<string, MessageDelta>>();
  // Of a message whose beginning was missed, nothing can be shown.
  const list = (parts: Map<string, MessageDelta> | undefined) =>
    [...(parts?.values() ?? [])].filter(({ offset }) => offset === 0);
  return {
    remember(delta) {
      const parts = sessions.get(delta.sessionId) ?? new Map<string, MessageDelta>();
      sessions.set(delta.sessionId, parts);
      const key = `${delta.messageId}/${delta.part}`;
      const known = parts.get(key);
      const goesOn =
        known !== undefined &&
        known.attempt === delta.attempt &&
        known.offset + known.text.length === delta.offset;
      parts.set(key, goesOn ? { ...known, text: known.text + delta.text } : { ...delta });
    },
    settle(sessionId, kind) {
      if (ENDS.has(kind)) sessions.delete(sessionId);
    },
    read: (sessionId) => list(sessions.get(sessionId)),
    readAll: () => [...sessions.values()].flatMap(list),
  };
}
