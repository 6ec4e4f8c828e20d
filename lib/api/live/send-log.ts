import type { EventKind, MessageDelta } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { followLog } from "#lib/events/follow-log.ts";
import { encodeDelta, encodeEvent } from "./server-frame.ts";

/** The receiver of the frames that {@link sendLog} sends. */
type FrameSink = {
  send: (frame: Uint8Array) => void;
  /**
   * Returns a promise that resolves when the send buffer has drained or the connection has ended; undefined if the
   * buffer is not full. Called only during a replay; live items are sent at once.
   */
  waitForDrain: () => Promise<void> | undefined;
  /** Whether to send frames of this kind. If omitted, frames of all kinds are sent. */
  shows?: (kind: EventKind | MessageDelta["kind"]) => boolean;
  /** Called if the log cannot be read. Nothing is sent after that. */
  fail: (error: unknown) => void;
};

/**
 * Sends a session's log as frames: the stored events after the number `after`, then live events and the deltas of
 * messages.
 *
 * @returns a function that stops sending.
 */
export function sendLog(log: EventLog, sessionId: string, after: number, sink: FrameSink): () => void {
  const { shows = () => true } = sink;
  const follower = followLog(log, {
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
        const drained = batch.isReplay ? sink.waitForDrain() : undefined;
        if (drained) await drained;
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
