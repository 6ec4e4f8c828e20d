import type { BusItem } from "./bus/bus.ts";
import type { MessageDelta, StoredEvent } from "./event.ts";
import type { EventLog } from "./event-log.ts";
import type { EventPage } from "./read-page.ts";

/**
 * Maximum number of events in one page of the log. Also the maximum number of items that are queued for a slow reader.
 */
const PAGE = 500;

/** One or more consecutive items of a session, in order. */
type LogBatch = {
  items: BusItem[];
  /** True if the items were read from the log, false if they come from the live queue. */
  isReplay: boolean;
};

type LogQuery = {
  sessionId: string;
  /** Number of the last event that the reader already has. */
  after: number;
  /** Whether an item is delivered to the reader. Omit to deliver all items. */
  accepts?: (item: StoredEvent | MessageDelta) => boolean;
  /**
   * Reads a page of the accepted events after the number `after`. The page also has the number of the session's last
   * event.
   */
  readPage: (after: number, limit: number) => Promise<EventPage>;
};

/**
 * The position of the follower in the log:
 * - `behind`: the next items must be read from the log.
 * - `reading`: a page of the log is being read. `published` collects the events that are published during the read. If
 *   `isStale` is set, another page must be read.
 * - `live`: all events up to `processed` are queued or delivered, and published events are queued directly.
 * - `over`: the follower was stopped.
 */
type Position =
  | { kind: "behind" | "live" | "over" }
  | { kind: "reading"; published: StoredEvent[]; isStale: boolean };

/** Follows the log of a session. */
export type LogFollower = {
  /**
   * Resolves with the next items, or with undefined if the follower is stopped or the session is deleted. If the log
   * cannot be read, the call rejects and the follower stops. Wait for a call to end before the next call.
   */
  next: () => Promise<LogBatch | undefined>;
  stop: () => void;
};

type Follower = {
  readonly log: Pick<EventLog, "readUnfinished">;
  readonly query: LogQuery;
  position: Position;
  queue: BusItem[];
  /** Number of the last event delivered to the reader. */
  delivered: number;
  /**
   * All events up to this number were received, including events that are not accepted. A gap exists if a published
   * event skips a number.
   */
  processed: number;
  /**
   * Set when chunks of a message may have been missed. After the next replay, the follower then sends the unfinished
   * message from its start.
   */
  needsUnfinished: boolean;
  wake: () => void;
  unsubscribe: () => void;
};

/**
 * Follows a session's log. Delivers every accepted event after the number `after` exactly once and in order, and the
 * chunks of messages between the events. A follower that starts in the middle of a message gets the text so far of each
 * part of the message as one chunk, before the next chunks of that message. Memory is bounded: when a reader is too
 * slow, the queue is dropped and the log is read again. Source: `architecture.md`, How a request flows.
 */
export function followLog(log: Pick<EventLog, "subscribe" | "readUnfinished">, query: LogQuery): LogFollower {
  const follower: Follower = {
    log,
    query,
    position: { kind: "behind" },
    queue: [],
    delivered: query.after,
    processed: 0,
    needsUnfinished: true,
    wake() {},
    unsubscribe() {},
  };
  follower.unsubscribe = log.subscribe(
    query.sessionId,
    (item) => receive(follower, item),
    () => fallBehind(follower, true),
  );
  return { next: () => readNext(follower), stop: () => stop(follower) };
}

async function readNext(follower: Follower): Promise<LogBatch | undefined> {
  while (follower.position.kind !== "over") {
    if (follower.position.kind === "behind") {
      const items = await replay(follower);
      if (items.length > 0) return deliver(follower, items, true);
    } else if (follower.queue.length > 0) return deliver(follower, follower.queue.splice(0), false);
    else
      await new Promise<void>((resolve) => {
        follower.wake = resolve;
      });
  }
  return undefined;
}

function stop(follower: Follower): void {
  follower.position = { kind: "over" };
  follower.unsubscribe();
  follower.wake();
}

function deliver(follower: Follower, items: BusItem[], isReplay: boolean): LogBatch {
  for (const item of items) if (item.type === "event") follower.delivered = item.event.seq;
  return { items, isReplay };
}

function receive(follower: Follower, item: BusItem): void {
  const { accepts = () => true } = follower.query;
  if (item.type === "delta") {
    if (accepts(item.delta)) follower.queue.push(item);
  } else {
    const { event } = item;
    // The event contains the whole message, so the queued chunks of the message are obsolete.
    if (event.kind === "message.completed")
      drop(follower, (each) => each.type === "delta" && event.body.includes(each.delta.messageId));
    if (follower.position.kind === "reading") collect(follower.position, event);
    else if (follower.position.kind === "live") take(follower, event);
  }
  if (follower.queue.length > PAGE) {
    follower.queue = [];
    fallBehind(follower, true);
  } else if (follower.queue.length > 0) follower.wake();
}

/** Keeps an event that is published while a page is read. If there are too many, another page is read instead. */
function collect(reading: Extract<Position, { kind: "reading" }>, event: StoredEvent): void {
  if (reading.published.length < PAGE) reading.published.push(event);
  else reading.isStale = true;
}

/**
 * Queues a published event. Events may be published out of order; if an earlier event is missing, the log is read
 * again.
 */
function take(follower: Follower, event: StoredEvent): void {
  if (event.seq <= follower.processed) return;
  if (event.seq > follower.processed + 1) {
    fallBehind(follower, false);
    return;
  }
  follower.processed = event.seq;
  if (follower.query.accepts?.(event) ?? true) follower.queue.push({ type: "event", event });
}

function fallBehind(follower: Follower, hasMissedPieces: boolean): void {
  if (hasMissedPieces) follower.needsUnfinished = true;
  if (follower.position.kind === "reading") follower.position.isStale = true;
  else if (follower.position.kind === "live") follower.position = { kind: "behind" };
  follower.wake();
}

function drop(follower: Follower, isUnwanted: (item: BusItem) => boolean): void {
  if (follower.queue.some(isUnwanted)) follower.queue = follower.queue.filter((item) => !isUnwanted(item));
}

/** Reads the page of events after the last delivered event. */
async function replay(follower: Follower): Promise<BusItem[]> {
  const { sessionId, accepts = () => true, readPage } = follower.query;
  const reading = { kind: "reading" as const, published: [] as StoredEvent[], isStale: false };
  follower.position = reading;
  // Queued events are dropped, because the page contains them too.
  drop(follower, ({ type }) => type === "event");
  const page = await readPage(follower.delivered, PAGE).catch((error: unknown) => {
    stop(follower);
    throw error;
  });
  if (follower.position !== reading) return [];
  if (page.isGone) {
    stop(follower);
    return [];
  }
  const isWhole = page.events.length < PAGE && !reading.isStale;
  follower.position = { kind: isWhole ? "live" : "behind" };
  follower.processed = page.lastSeq;
  for (const event of reading.published) if (isLive(follower)) take(follower, event);
  if (isLive(follower) && follower.needsUnfinished) {
    follower.needsUnfinished = false;
    drop(follower, ({ type }) => type === "delta");
    for (const delta of follower.log.readUnfinished(sessionId))
      if (accepts(delta)) follower.queue.push({ type: "delta", delta });
  }
  return page.events.map((event) => ({ type: "event", event }));
}

const isLive = ({ position }: Follower): boolean => position.kind === "live";
