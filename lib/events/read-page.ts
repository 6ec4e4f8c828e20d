import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { events, sessions } from "#db/schema/index.ts";
import type { EventKind, StoredEvent } from "./event.ts";

/**
 * Selects a page of a session's log: at most `limit` events of the requests `requestIds`, with numbers above `after`.
 */
export type PageQuery = { sessionId: string; requestIds: readonly string[]; after: number; limit: number };

/**
 * A page of events, in order. `lastSeq` is the number of the session's last event, which may belong to another request.
 * `isGone` is set if the session is deleted.
 */
export type EventPage = { events: StoredEvent[]; lastSeq: number; isGone?: true };

const readers = new WeakMap<Database, (query: PageQuery) => Promise<EventPage>>();

/**
 * Reads a page of the log for followers of requests, with one statement. Calls that wait for the same page at the same
 * time share one statement and get the same event objects. For a deleted session, the page has no events and `isGone`
 * is set.
 *
 * @param query names one or two requests. A message that joined a running turn has two: its own request and the request
 * that started the turn.
 */
export function readPage(db: Database, query: PageQuery): Promise<EventPage> {
  const existing = readers.get(db);
  if (existing) return existing(query);
  const reader = createReader(db);
  readers.set(db, reader);
  return reader(query);
}

function createReader(db: Database) {
  const statement = prepare(db);
  const read = async ({ sessionId, requestIds, after, limit }: PageQuery): Promise<EventPage> => {
    const [first = "", second = first] = requestIds;
    const rows = await statement.execute({ sessionId, first, second, after, limit });
    const pageEvents = rows.flatMap(({ lastSeq: _, seq, kind, requestId, runId, body }) =>
      // The cast is safe because only `appendEvents` writes the column `kind`. It is a text column, so that a new kind
      // needs no migration.
      seq === null || kind === null || body === null
        ? []
        : [{ sessionId, seq, kind: kind as EventKind, requestId, runId, body }],
    );
    const [row] = rows;
    return row ? { events: pageEvents, lastSeq: row.lastSeq } : { events: [], lastSeq: 0, isGone: true };
  };
  return shareReads(read, ({ sessionId, requestIds, after, limit }) =>
    [sessionId, after, limit, ...requestIds].join(" "),
  );
}

function prepare(db: Database) {
  const { placeholder } = sql;
  const page = db
    .select({
      seq: events.seq,
      kind: events.kind,
      requestId: events.requestId,
      runId: events.runId,
      body: events.body,
    })
    .from(events)
    .where(
      and(
        eq(events.sessionId, sessions.id),
        gt(events.seq, placeholder("after")),
        sql`${events.requestId} in (${placeholder("first")}, ${placeholder("second")})`,
      ),
    )
    .orderBy(asc(events.seq))
    .limit(placeholder("limit"))
    .as("page");
  return db
    .select({
      lastSeq: sessions.eventSeq,
      seq: page.seq,
      kind: page.kind,
      requestId: page.requestId,
      runId: page.runId,
      body: page.body,
    })
    .from(sessions)
    .leftJoinLateral(page, sql`true`)
    .where(eq(sessions.id, placeholder("sessionId")))
    .orderBy(asc(page.seq))
    .prepare("read_event_page");
}

/**
 * Lets calls with the same key share reads. A call that arrives during a read waits for the next read, because the
 * current read may return an outdated result.
 *
 * @param keyOf returns the same key for equal queries.
 */
export function shareReads<Query, Result>(
  read: (query: Query) => Promise<Result>,
  keyOf: (query: Query) => string,
): (query: Query) => Promise<Result> {
  const reads = new Map<string, { running: Promise<Result>; next?: Promise<Result> }>();

  function begin(key: string, query: Query): Promise<Result> {
    const entry: { running: Promise<Result>; next?: Promise<Result> } = { running: read(query) };
    reads.set(key, entry);
    const end = () => {
      if (!entry.next) reads.delete(key);
    };
    entry.running.then(end, end);
    return entry.running;
  }

  return (query) => {
    const key = keyOf(query);
    const entry = reads.get(key);
    if (!entry) return begin(key, query);
    entry.next ??= entry.running.then(
      () => begin(key, query),
      () => begin(key, query),
    );
    return entry.next;
  };
}
