import type { BusItem } from "./bus/bus.ts";
import type { MessageDelta, StoredEvent } from "./event.ts";
import type { EventLog } from "./event-log.ts";
import type { EventPage } from "./read-page.ts";

/** Stored events that a page of the log holds at most; also the most items that wait for a slow reader. */
const PAGE = 500;

/** What a follower is given: in order, at least one item. */
type LogBatch = {
  items: BusItem[];
  /** The items come from the log, and the reader may take its time; otherwise they have just been published. */
  isReplay: boolean;
};

type LogQuery = {
  sessionId: string;
  /** Number of the last event that the reader has. */
  after: number;
  /** Whether an item is wanted; all are when omitted. */
  accepts?: (item: StoredEvent | MessageDelta) => boolean;
  /** Reads accepted events after a number, and the number of the session's last event at that moment. */
  readPage: (after: number, limit: number) => Promise<EventPage>;
};

/**
 * - `behind`: the log says what comes next.
 * - `reading`: the log is being read; `heard` was published meanwhile. `isStale`: it has to be read once more.
 * - `live`: everything after the queue's last event will be published.
 */
type Position =
  | { kind: "behind" | "live" | "over" }
  | { kind: "reading"; heard: StoredEvent[]; isStale: boolean };

/**
 * Follows a session's log: every accepted event after `after`, in order, without a gap or a repeat, and the live pieces of
 * messages between them. A follower that joins in the middle of a message gets the message so far as one piece first.
 * Memory is bounded: when a reader falls behind, the queue is dropped and the log is read again.
 * Source: `architecture.md`, How a request flows.
 */
export class LogFollower {
  #position: Position = { kind: "behind" };
  #queue: BusItem[] = [];
  /** Number of the last event that the reader was given. */
  #delivered: number;
  /** Number of the session's last event that is accounted for, accepted or not: a jump shows a gap. */
  #seen = 0;
  /** Pieces may have been missed: the unfinished message is sent whole after the next replay. */
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
      (item) => this.#hear(item),
      () => this.#fallBehind(true),
    );
  }

  /**
   * Resolves with what comes next; undefined once the follower was stopped or the session is gone. One call at a time.
   * Rejects when the log cannot be read; the follower has stopped then.
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

  #hear(item: BusItem): void {
    const { accepts = () => true } = this.#query;
    if (item.type === "delta") {
      if (accepts(item.delta)) this.#queue.push(item);
    } else {
      const { event } = item;
      // The event brings the whole message: its waiting pieces are of no use any more.
      if (event.kind === "message.completed")
        this.#drop((each) => each.type === "delta" && event.body.includes(each.delta.messageId));
      if (this.#position.kind === "reading") this.#position.heard.push(event);
      else if (this.#position.kind === "live") this.#take(event);
    }
    if (this.#queue.length > PAGE) {
      this.#queue = [];
      this.#fallBehind(true);
    } else if (this.#queue.length > 0) this.#wake();
  }

  /** Queues an event as it is published. Commits may be published out of order: after a gap the log decides. */
  #take(event: StoredEvent): void {
    if (event.seq <= this.#seen) return;
    if (event.seq > this.#seen + 1) {
      this.#fallBehind(false);
      return;
    }
    this.#seen = event.seq;
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

  /** Reads what follows the last event delivered. @returns the events of one page. */
  async #replay(): Promise<BusItem[]> {
    const { sessionId, accepts = () => true, readPage } = this.#query;
    const reading = { kind: "reading" as const, heard: [] as StoredEvent[], isStale: false };
    this.#position = reading;
    // Events that wait are read again with the others.
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
    this.#seen = page.lastSeq;
    for (const event of reading.heard) if (this.#isLive()) this.#take(event);
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
