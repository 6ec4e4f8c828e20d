import type { DomainEvent, MessageDelta, StoredEvent } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";

const HEARTBEAT_MS = 15_000;
const PAGE = 500;
const encoder = new TextEncoder();

/** Bytes of each stored event as every follower gets them: made once, shared. */
const encoded = new WeakMap<StoredEvent, Uint8Array>();

function encodeEvent(event: StoredEvent): Uint8Array {
  const known =
    encoded.get(event) ?? encoder.encode(`id: ${event.seq}\nevent: ${event.kind}\ndata: ${event.body}\n\n`);
  encoded.set(event, known);
  return known;
}

const encodeDelta = (delta: MessageDelta) =>
  encoder.encode(`event: ${delta.kind}\ndata: ${JSON.stringify(delta)}\n\n`);

/** Whether an event is the request's last: its run ended and no retry follows. */
function isLast(event: StoredEvent): boolean {
  if (event.kind !== "run.completed") return false;
  // The caller's own values are in there, so the text cannot be searched.
  const parsed = JSON.parse(event.body) as DomainEvent;
  return parsed.kind === "run.completed" && parsed.willRetry === undefined;
}

/**
 * The event stream of a request: stored events after `after`, then live ones, until the request's last event.
 * It pulls: a reader that does not read costs one wake-up and no memory. Source: `wire.md`, Stream.
 *
 * @param signal fires when the client has gone.
 */
export function streamRequest(
  log: EventLog,
  query: { sessionId: string; requestId: string; after: number },
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  let after = query.after;
  let isBehind = true;
  let isJoining = true;
  let isOver = false;
  const deltas: MessageDelta[] = [];
  let wake = () => {};
  let release = () => {};

  const stop = () => {
    isOver = true;
    release();
    wake();
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const unsubscribe = log.subscribe(
          query.sessionId,
          (item) => {
            if (item.type === "delta" && item.delta.requestId === query.requestId) deltas.push(item.delta);
            else if (item.type === "event" && item.event.requestId === query.requestId) {
              // The whole message comes with the event; its pieces would only arrive after it.
              if (item.event.kind === "message.completed") deltas.length = 0;
              isBehind = true;
            } else return;
            // A reader this far behind is served from the log; the pieces it missed come whole with their message.
            if (deltas.length > PAGE) deltas.length = 0;
            wake();
          },
          () => {
            isBehind = true;
            wake();
          },
        );
        const heartbeat = setInterval(() => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": keep-alive\n\n"));
        }, HEARTBEAT_MS);
        release = () => {
          unsubscribe();
          clearInterval(heartbeat);
        };
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
        controller.enqueue(encoder.encode("retry: 1000\n\n"));
      },
      async pull(controller) {
        while (!isOver) {
          if (isBehind) {
            const page = await readNext();
            for (const event of page) controller.enqueue(encodeEvent(event));
            if (page.some(isLast)) {
              stop();
              break;
            }
            if (page.length > 0) return;
          }
          if (deltas.length > 0) {
            for (const delta of deltas.splice(0)) controller.enqueue(encodeDelta(delta));
            return;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (isOver || isBehind || deltas.length > 0) resolve();
          });
        }
        controller.close();
      },
      cancel: stop,
    },
    { highWaterMark: 4 },
  );

  /** Events that follow the last one sent. Commits may be announced out of order, so the log decides what is next. */
  async function readNext(): Promise<StoredEvent[]> {
    isBehind = false;
    const page = await log.read(query.sessionId, { after, requestId: query.requestId, limit: PAGE });
    if (page.length === PAGE) isBehind = true;
    after = page.at(-1)?.seq ?? after;
    if (isJoining && !isBehind) {
      isJoining = false;
      // What it holds so far covers whatever was heard since the subscription.
      deltas.splice(
        0,
        deltas.length,
        ...log.readUnfinished(query.sessionId).filter(({ requestId }) => requestId === query.requestId),
      );
    }
    return page;
  }
}
