import type { EventKind, MessageDelta } from "../event.ts";

/** The unfinished messages of all sessions, with the text that has arrived so far. */
type Unfinished = {
  remember: (delta: MessageDelta) => void;
  /** Drops the session's message if a stored event of this kind ends the message. */
  drop: (sessionId: string, kind: EventKind) => void;
  /** Returns the parts of a session's message. Each part is one chunk with its text from offset 0. */
  read: (sessionId: string) => MessageDelta[];
  /** Returns the parts of the messages of all sessions. Each part is one chunk with its text from offset 0. */
  readAll: () => MessageDelta[];
};

const ENDS = new Set<EventKind>(["run.completed", "message.completed", "run.started"]);

/** @see Unfinished */
export function createUnfinished(): Unfinished {
  const sessions = new Map<string, Map<string, MessageDelta>>();
  // Leaves out a part whose beginning was missed, because readers need the text from the beginning.
  const list = (parts: Map<string, MessageDelta> | undefined) =>
    [...(parts?.values() ?? [])].filter(({ offset }) => offset === 0);
  return {
    remember(delta) {
      const parts = sessions.get(delta.sessionId) ?? new Map<string, MessageDelta>();
      sessions.set(delta.sessionId, parts);
      const key = `${delta.messageId}/${delta.part}`;
      const current = parts.get(key);
      const continues =
        current !== undefined &&
        current.attempt === delta.attempt &&
        current.offset + current.text.length === delta.offset;
      parts.set(key, continues ? { ...current, text: current.text + delta.text } : { ...delta });
    },
    drop(sessionId, kind) {
      if (ENDS.has(kind)) sessions.delete(sessionId);
    },
    read: (sessionId) => list(sessions.get(sessionId)),
    readAll: () => [...sessions.values()].flatMap(list),
  };
}
