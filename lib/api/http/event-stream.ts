import type { BusItem } from "#lib/events/bus/bus.ts";
import type { DomainEvent, MessageDelta, StoredEvent } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { followLog } from "#lib/events/follow-log.ts";
import type { EventPage, PageQuery } from "#lib/events/read-page.ts";

const HEARTBEAT_MS = 15_000;
const encoder = new TextEncoder();

/** The encoded bytes of live items. Each item is encoded once for all followers. */
const encoded = new WeakMap<StoredEvent | MessageDelta, Uint8Array>();

function shareBytes<Item extends StoredEvent | MessageDelta>(
  item: Item,
  write: (item: Item) => string,
): Uint8Array {
  const bytes = encoded.get(item) ?? encoder.encode(write(item));
  encoded.set(item, bytes);
  return bytes;
}

const encodeEvent = (event: StoredEvent) =>
  shareBytes(event, ({ seq, kind, body }) => `id: ${seq}\nevent: ${kind}\ndata: ${body}\n\n`);

const encodeDelta = (delta: MessageDelta) =>
  shareBytes(delta, () => `event: ${delta.kind}\ndata: ${JSON.stringify(delta)}\n\n`);

/** Whether an event is the last one of its request: the run ended and no retry follows. */
function isLast(event: StoredEvent): boolean {
  if (event.kind !== "run.completed") return false;
  // Parses the body instead of searching its text, because values from the caller could contain `willRetry` too.
  const parsed = JSON.parse(event.body) as DomainEvent;
  return parsed.kind === "run.completed" && parsed.willRetry === undefined;
}

/** The part of the event log that the stream of a request uses. */
type RequestLog = Pick<EventLog, "subscribe" | "readUnfinished"> & {
  readPage: (query: PageQuery) => Promise<EventPage>;
};

/**
 * The turn that a steer has joined. A steer is a message that the running turn of another request reads. The steer's
 * request completes when the joined turn ends. If the steer has a run of its own by that time, the steer's request
 * completes only when its own run ends.
 */
type JoinedTurn = { requestId: string; hasOwnRun: () => Promise<boolean> };

/** Selects the events of a stream: the events of one request with numbers above `after`. */
export type StreamQuery = {
  sessionId: string;
  requestId: string;
  after: number;
  /** Set for a steer. The stream then also sends the events of the joined turn. */
  joined?: JoinedTurn;
};

/**
 * Opens the event stream of a request. It sends the stored events after the number `after` and then live events, and
 * ends after the request's last event. The stream fetches items only when the client reads, so only a bounded number of
 * items waits for a slow client. Source: `wire.md`, Stream.
 *
 * @param signal aborted when the client disconnects or loses access.
 * @param onOver called once when the stream ends for any reason.
 */
export function streamRequest(
  log: RequestLog,
  query: StreamQuery,
  signal: AbortSignal,
  onOver: () => void = () => {},
): ReadableStream<Uint8Array> {
  const { sessionId, after, joined } = query;
  const requestIds = joined ? [query.requestId, joined.requestId] : [query.requestId];
  const follower = followLog(log, {
    sessionId,
    after,
    accepts: ({ requestId }) => requestId !== null && requestIds.includes(requestId),
    readPage: (from, limit) => log.readPage({ sessionId, requestIds, after: from, limit }),
  });
  let heartbeat: NodeJS.Timeout | undefined;
  let isOver = false;

  const stop = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    follower.stop();
    onOver();
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": keep-alive\n\n"));
        }, HEARTBEAT_MS);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
        controller.enqueue(encoder.encode("retry: 1000\n\n"));
      },
      async pull(controller) {
        try {
          const batch = await follower.next();
          const hasEnded = !batch || (await writeItems(batch.items, query, controller));
          if (!hasEnded) return;
          stop();
          controller.close();
        } catch (error) {
          stop();
          throw error;
        }
      },
      cancel: stop,
    },
    { highWaterMark: 4 },
  );
}

/** Writes items up to and including the event that ends the stream. @returns whether the items contained that event. */
async function writeItems(
  items: BusItem[],
  query: StreamQuery,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<boolean> {
  const parts: Uint8Array[] = [];
  let hasEnded = false;
  for (const item of items) {
    parts.push(item.type === "event" ? encodeEvent(item.event) : encodeDelta(item.delta));
    hasEnded = item.type === "event" && isLast(item.event) && (await endsStream(item.event, query));
    if (hasEnded) break;
  }
  // Sends all parts as one chunk, because each chunk has a fixed cost.
  const [first, ...others] = parts;
  if (first) controller.enqueue(others.length === 0 ? first : Buffer.concat(parts));
  return hasEnded;
}

/**
 * Whether the stream ends with this event, which must be the last event of its request. The last event of the followed
 * request always ends the stream. For a steer, the event may also be the last one of the turn that the steer joined;
 * such an event ends the stream only if the steer has no run of its own.
 */
async function endsStream({ requestId }: StoredEvent, query: StreamQuery): Promise<boolean> {
  return !query.joined || requestId === query.requestId || !(await query.joined.hasOwnRun());
}
