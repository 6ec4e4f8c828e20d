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
 * - `live`: all events up to `#processed` are queued or delivered, and published events are queued directly.
 * - `over`: the follower was stopped.
 */
type Position =
  | { kind: "behind" | "live" | "over" }
  | { kind: "reading"; published: StoredEvent[]; isStale: boolean };

/**
 * Follows a session's log. Delivers every accepted event after the number `after` exactly once and in order, and the
 * chunks of messages between the events. A follower that starts in the middle of a message gets the text so far of each
 * part of the message as one chunk, before the next chunks of that message. Memory is bounded: when a reader is too
 * slow, the queue is dropped and the log is read again. Source: `architecture.md`, How a request flows.
 */
export class LogFollower {
  #position: Position = { kind: "behind" };
  #queue: BusItem[] = [];
  /** Number of the last event delivered to the reader. */
  #delivered: number;
  /**
   * All events up to this number were received, including events that are not accepted. A gap exists if a published
   * event skips a number.
   */
  #processed = 0;
  /**
   * Set when chunks of a message may have been missed. After the next replay, the follower then sends the unfinished
   * message from its start.
   */
  #needsUnfinished = true;
  #wake = () => {};
  readonly #log: Pick<EventLog, "readUnfinished">;
  readonly #query: LogQuery;
  readonly #unsubscribe: () => void;

  constructor(log: Pick<EventLog, "subscribe" | "readUnfinished">, query: LogQuery) {
    this.#log = log;
    this.#query = query;
    this.#delivered = query.after;
    this.#unsubscribe = log.subscribe(
      query.sessionId,
      (item) => this.#receive(item),
      () => this.#fallBehind(true),
    );
  }

  /**
   * Resolves with the next items, or with undefined if the follower is stopped or the session is deleted. If the log
   * cannot be read, the call rejects and the follower stops. Wait for a call to end before the next call.
   */
  async next(): Promise<LogBatch | undefined> {
    while (this.#position.kind !== "over") {
      if (this.#position.kind === "behind") {
        const items = await this.#replay();
        if (items.length > 0) return this.#deliver(items, true);
      } else if (this.#queue.length > 0) return this.#deliver(this.#queue.splice(0), false);
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
    return undefined;
  }

  stop(): void {
    this.#position = { kind: "over" };
    this.#unsubscribe();
    this.#wake();
  }

  #deliver(items: BusItem[], isReplay: boolean): LogBatch {
    for (const item of items) if (item.type === "event") this.#delivered = item.event.seq;
    return { items, isReplay };
  }

  #receive(item: BusItem): void {
    const { accepts = () => true } = this.#query;
    if (item.type === "delta") {
      if (accepts(item.delta)) this.#queue.push(item);
    } else {
      const { event } = item;
      // The event contains the whole message, so the queued chunks of the message are obsolete.
      if (event.kind === "message.completed")
        this.#drop((each) => each.type === "delta" && event.body.includes(each.delta.messageId));
      if (this.#position.kind === "reading") this.#collect(this.#position, event);
      else if (this.#position.kind === "live") this.#take(event);
    }
    if (this.#queue.length > PAGE) {
      this.#queue = [];
      this.#fallBehind(true);
    } else if (this.#queue.length > 0) this.#wake();
  }

  /** Keeps an event that is published while a page is read. If there are too many, another page is read instead. */
  #collect(reading: Extract<Position, { kind: "reading" }>, event: StoredEvent): void {
    if (reading.published.length < PAGE) reading.published.push(event);
    else reading.isStale = true;
  }

  /**
   * Queues a published event. Events may be published out of order; if an earlier event is missing, the log is read
   * again.
   */
  #take(event: StoredEvent): void {
    if (event.seq <= this.#processed) return;
    if (event.seq > this.#processed + 1) {
      this.#fallBehind(false);
      return;
    }
    this.#processed = event.seq;
    if (this.#query.accepts?.(event) ?? true) this.#queue.push({ type: "event", event });
  }

  #fallBehind(hasMissedPieces: boolean): void {
    if (hasMissedPieces) this.#needsUnfinished = true;
    if (this.#position.kind === "reading") this.#position.isStale = true;
    else if (this.#position.kind === "live") this.#position = { kind: "behind" };
    this.#wake();
  }

  #drop(isUnwanted: (item: BusItem) => boolean): void {
    if (this.#queue.some(isUnwanted)) this.#queue = this.#queue.filter((item) => !isUnwanted(item));
  }

  /** Reads the page of events after the last delivered event. */
  async #replay(): Promise<BusItem[]> {
    const { sessionId, accepts = () => true, readPage } = this.#query;
    const reading = { kind: "reading" as const, published: [] as StoredEvent[], isStale: false };
    this.#position = reading;
    // Queued events are dropped, because the page contains them too.
    this.#drop(({ type }) => type === "event");
    const page = await readPage(this.#delivered, PAGE).catch((error: unknown) => {
      this.stop();
      throw error;
    });
    if (this.#position !== reading) return [];
    if (page.isGone) {
      this.stop();
      return [];
    }
    const isWhole = page.events.length < PAGE && !reading.isStale;
    this.#position = { kind: isWhole ? "live" : "behind" };
    this.#processed = page.lastSeq;
    for (const event of reading.published) if (this.#isLive()) this.#take(event);
    if (this.#isLive() && this.#needsUnfinished) {
      this.#needsUnfinished = false;
      this.#drop(({ type }) => type === "delta");
      for (const delta of this.#log.readUnfinished(sessionId))
        if (accepts(delta)) this.#queue.push({ type: "delta", delta });
    }
    return page.events.map((event) => ({ type: "event", event }));
  }

  #isLive = () => this.#position.kind === "live";
}
