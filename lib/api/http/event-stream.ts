import type { BusItem } from "#lib/events/bus/bus.ts";
import type { DomainEvent, MessageDelta, StoredEvent } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { LogFollower } from "#lib/events/follow-log.ts";
import type { EventPage, PageQuery } from "#lib/events/read-page.ts";

const HEARTBEAT_MS = 15_000;
const encoder = new TextEncoder();

/** Bytes of each live item as every follower gets them: made once, shared. */
const encoded = new WeakMap<StoredEvent | MessageDelta, Uint8Array>();

function shareBytes<Item extends StoredEvent | MessageDelta>(
  item: Item,
  write: (item: Item) => string,
): Uint8Array {
  const known = encoded.get(item) ?? encoder.encode(write(item));
  encoded.set(item, known);
  return known;
}

const encodeEvent = (event: StoredEvent) =>
  shareBytes(event, ({ seq, kind, body }) => `id: ${seq}\nevent: ${kind}\ndata: ${body}\n\n`);

const encodeDelta = (delta: MessageDelta) =>
  shareBytes(delta, () => `event: ${delta.kind}\ndata: ${JSON.stringify(delta)}\n\n`);

/** Whether an event is its request's last: its run ended and no retry follows. */
function isLast(event: StoredEvent): boolean {
  if (event.kind !== "run.completed") return false;
  // The caller's own values are in there, so the text cannot be searched.
  const parsed = JSON.parse(event.body) as DomainEvent;
  return parsed.kind === "run.completed" && parsed.willRetry === undefined;
}

/** The log as the event stream of a request needs it. */
type RequestLog = Pick<EventLog, "subscribe" | "readUnfinished"> & {
  readPage: (query: PageQuery) => Promise<EventPage>;
};

/** A steer's way into another request's turn: it completes with that one, unless it has got a run of its own by then. */
type JoinedTurn = { requestId: string; hasOwnRun: () => Promise<boolean> };

/** Whose events a stream carries, and from which number on. */
export type StreamQuery = {
  sessionId: string;
  requestId: string;
  after: number;
  /** The turn whose events are this request's too. */
  joined?: JoinedTurn;
};

/**
 * The event stream of a request: stored events after `after`, then live ones, until the request's last event. It pulls:
 * for a reader that does not read, a bounded number of items waits. Source: `wire.md`, Stream.
 *
 * @param signal fires when the client has gone, or may no longer read.
 * @param onOver called once the stream is over, whatever ended it.
 */
export function streamRequest(
  log: RequestLog,
  query: StreamQuery,
  signal: AbortSignal,
  onOver: () => void = () => {},
): ReadableStream<Uint8Array> {
  const { sessionId, after, joined } = query;
  const requestIds = joined ? [query.requestId, joined.requestId] : [query.requestId];
  const follower = new LogFollower(log, {
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

/** Writes items up to the request's last event. @returns whether that was among them. */
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
  // As one chunk, because each has a cost of its own on its way to the client.
  const [first, ...others] = parts;
  if (first) controller.enqueue(others.length === 0 ? first : Buffer.concat(parts));
  return hasEnded;
}

/** Whether the end of a turn ends the stream: a steer's ends with its own run, or with the turn it joined if it got none. */
async function endsStream({ requestId }: StoredEvent, query: StreamQuery): Promise<boolean> {
  return !query.joined || requestId === query.requestId || !(await query.joined.hasOwnRun());
}
