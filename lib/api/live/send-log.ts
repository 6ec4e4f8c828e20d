import type { EventKind, MessageDelta } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { LogFollower } from "#lib/events/follow-log.ts";
import { encodeDelta, encodeEvent } from "./server-frame.ts";

/** Where a session's frames go. */
type FrameSink = {
  send: (frame: Uint8Array) => void;
  /**
   * Resolves once there is room for more, or the connection has ended; undefined means at once.
   * A replay waits for it; live items do not.
   */
  room: () => Promise<void> | undefined;
  /** Whether frames of this kind are sent; all are when omitted. */
  shows?: (kind: EventKind | MessageDelta["kind"]) => boolean;
  /** The log could not be read. */
  fail: (error: unknown) => void;
};

/**
 * Sends a session's log to a socket as frames: every stored event after `after` and the live pieces of messages.
 *
 * @returns the way to stop.
 */
export function sendLog(log: EventLog, sessionId: string, after: number, sink: FrameSink): () => void {
  const { shows = () => true } = sink;
  const follower = new LogFollower(log, {
    sessionId,
    after,
    async readPage(from, limit) {
      const events = await log.read(sessionId, { after: from, limit });
      return { events, lastSeq: events.at(-1)?.seq ?? from };
    },
  });
  let isStopped = false;

  async function send(): Promise<void> {
    for (let batch = await follower.next(); batch; batch = await follower.next())
      for (const item of batch.items) {
        const room = batch.isReplay ? sink.room() : undefined;
        if (room) await room;
        if (isStopped) return;
        if (!shows(item.type === "event" ? item.event.kind : item.delta.kind)) continue;
        sink.send(item.type === "event" ? encodeEvent(item.event) : encodeDelta(item.delta));
      }
  }
  send().catch((error) => {
    if (!isStopped) sink.fail(error);
  });
  return () => {
    isStopped = true;
    follower.stop();
  };
}
