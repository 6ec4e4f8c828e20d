import type { DomainEvent, MessageDelta, StoredEvent } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EventPage, PageQuery } from "#lib/events/read-page.ts";

const HEARTBEAT_MS = 15_000;
const PAGE = 500;
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

/** The log as a follower of requests needs it. */
export type FollowedLog = Pick<EventLog, "subscribe" | "readUnfinished"> & {
  readPage: (query: PageQuery) => Promise<EventPage>;
};

/** A steer's way into another request's turn: it completes with that one, unless it has got a run of its own by then. */
type JoinedTurn = { requestId: string; hasOwnRun: () => Promise<boolean> };

/**
 * The event stream of a request: stored events after `after`, then live ones, until the request's last event.
 * It pulls: a reader that does not read keeps a bounded number of items waiting, and gets the rest from the log.
 * Source: `wire.md`, Stream.
 *
 * @param query.joined the turn whose events are this request's too.
 * @param signal fires when the client has gone, or may no longer read.
 * @param onOver called once the stream is over, whatever ended it.
 */
export function streamRequest(
  log: FollowedLog,
  query: { sessionId: string; requestId: string; after: number; joined?: JoinedTurn },
  signal: AbortSignal,
  onOver: () => void = () => {},
): ReadableStream<Uint8Array> {
  const { joined } = query;
  const requestIds = joined ? [query.requestId, joined.requestId] : [query.requestId];
  const isOurs = ({ requestId }: { requestId: string | null }) =>
    requestId === query.requestId || (joined !== undefined && requestId === joined.requestId);
  /** Last event sent, and the last of the whole session that is accounted for: its numbers show a gap. */
  let after = query.after;
  let seen = 0;
  let isBehind = true;
  /** What was announced while the log is read, which may have it or not. */
  let meanwhile: StoredEvent[] | undefined;
  let isJoining = true;
  let isOver = false;
  const fresh: StoredEvent[] = [];
  const deltas: MessageDelta[] = [];
  let wake = () => {};
  let release = () => {};

  const stop = () => {
    if (isOver) return;
    isOver = true;
    release();
    wake();
    onOver();
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const unsubscribe = log.subscribe(
          query.sessionId,
          (item) => {
            if (item.type === "event") hear(item.event);
            else if (isOurs(item.delta)) deltas.push(item.delta);
            // A reader this far behind is served from the log; the pieces it missed come whole with their message.
            if (deltas.length > PAGE) deltas.length = 0;
            if (fresh.length > PAGE) isBehind = true;
            if (isBehind || fresh.length > 0 || deltas.length > 0) wake();
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
          if (isBehind || fresh.length > 0) {
            const page = isBehind ? await readNext() : takeFresh();
            const end = joined ? await findEnd(page, joined) : page.findIndex(isLast);
            for (const event of end < 0 ? page : page.slice(0, end + 1))
              controller.enqueue(encodeEvent(event));
            if (end >= 0) {
              stop();
              break;
            }
            if (page.length > 0) return;
            if (isOver) break;
          }
          if (deltas.length > 0) {
            for (const delta of deltas.splice(0)) controller.enqueue(encodeDelta(delta));
            return;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (isOver || isBehind || fresh.length > 0 || deltas.length > 0) resolve();
          });
        }
        controller.close();
      },
      cancel: stop,
    },
    { highWaterMark: 4 },
  );

  /** Takes an event as it is announced. Commits may be announced out of order: after a gap the log decides what is next. */
  function hear(event: StoredEvent): void {
    const isHeard = isOurs(event);
    // The whole message comes with the event; its pieces would only arrive after it.
    if (isHeard && event.kind === "message.completed") deltas.length = 0;
    if (meanwhile) meanwhile.push(event);
    else take(event);
  }

  function take(event: StoredEvent): void {
    if (isBehind || event.seq <= seen) return;
    if (event.seq > seen + 1) {
      isBehind = true;
      return;
    }
    seen = event.seq;
    if (isOurs(event)) fresh.push(event);
  }

  /** Where a steer's stream ends: with its own run, or with the turn that it joined if it got none. */
  async function findEnd(page: StoredEvent[], turn: JoinedTurn): Promise<number> {
    for (const [index, event] of page.entries()) {
      if (!isLast(event)) continue;
      if (event.requestId === query.requestId || !(await turn.hasOwnRun())) return index;
    }
    return -1;
  }

  function takeFresh(): StoredEvent[] {
    const taken = fresh.splice(0).filter(({ seq }) => seq > after);
    after = taken.at(-1)?.seq ?? after;
    return taken;
  }

  /** Events that follow the last one sent, from the log. */
  async function readNext(): Promise<StoredEvent[]> {
    fresh.length = 0;
    isBehind = false;
    const heard: StoredEvent[] = [];
    meanwhile = heard;
    const { sessionId } = query;
    const read = await log.readPage({ sessionId, requestIds, after, limit: PAGE });
    const { events: page, lastSeq } = read;
    meanwhile = undefined;
    // Nothing follows of a session that was removed.
    if (read.isGone) stop();
    if (page.length === PAGE) isBehind = true;
    after = page.at(-1)?.seq ?? after;
    // Whatever is announced goes on from this number, or shows a gap.
    seen = lastSeq;
    heard.forEach(take);
    if (isJoining && !isBehind) {
      isJoining = false;
      // What it holds so far covers whatever was heard since the subscription.
      deltas.splice(0, deltas.length, ...log.readUnfinished(query.sessionId).filter(isOurs));
    }
    return page;
  }
}
