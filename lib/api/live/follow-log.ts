import type { EventKind, MessageDelta, StoredEvent } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { encodeDelta, encodeEvent } from "./server-frame.ts";

const PAGE = 200;

/** Where a session's frames go. */
type FrameSink = {
  send: (frame: Uint8Array) => void;
  /**
   * Resolves once there is room for more, or nobody is there any longer; undefined means at once.
   * A replay waits for it; live events do not.
   */
  room: () => Promise<void> | undefined;
  /** Whether frames of this kind are sent; all are where it is absent. */
  shows?: (kind: EventKind | MessageDelta["kind"]) => boolean;
  /** The log could not be read. */
  fail: (error: unknown) => void;
};

/**
 * Sends every stored event after `from`, in order, without a gap or a repeat, and the live pieces of messages; whoever
 * joins in the middle of a message gets it so far first. Source: `architecture.md`, How a request flows, 6.
 *
 * @returns the way to stop.
 */
export function followLog(log: EventLog, sessionId: string, from: number, sink: FrameSink): () => void {
  const { shows = () => true } = sink;
  const sendEvent = (event: StoredEvent) => {
    last = event.seq;
    if (shows(event.kind)) sink.send(encodeEvent(event));
  };
  const sendDelta = (delta: MessageDelta) => {
    if (shows(delta.kind)) sink.send(encodeDelta(delta));
  };
  let last = from;
  let newest = from;
  let isReading = false;
  let isStopped = false;
  let mayHaveMissed = false;

  const unsubscribe = log.subscribe(
    sessionId,
    (item) => {
      if (item.type === "delta") {
        // During a replay nothing is lost: what is unfinished at its end is sent whole.
        if (!isReading) sendDelta(item.delta);
        return;
      }
      const { seq } = item.event;
      newest = Math.max(newest, seq);
      if (isReading || seq <= last) return;
      if (seq > last + 1) {
        void catchUp();
        return;
      }
      sendEvent(item.event);
    },
    () => {
      mayHaveMissed = true;
      if (!isReading) void catchUp();
    },
  );

  async function catchUp(): Promise<void> {
    isReading = true;
    try {
      let hasMore = true;
      while (hasMore && !isStopped) {
        mayHaveMissed = false;
        const page = await log.read(sessionId, { after: last, limit: PAGE });
        for (const event of page) {
          const room = sink.room();
          if (room) await room;
          if (isStopped) return;
          sendEvent(event);
        }
        hasMore = mayHaveMissed || (page.length > 0 && (page.length === PAGE || newest > last));
      }
    } catch (error) {
      if (!isStopped) sink.fail(error);
      return;
    }
    // From the last comparison to here nothing awaits, so that no event falls between replay and live.
    isReading = false;
    if (isStopped) return;
    for (const delta of log.readUnfinished(sessionId)) sendDelta(delta);
  }

  void catchUp();
  return () => {
    isStopped = true;
    unsubscribe();
  };
}
