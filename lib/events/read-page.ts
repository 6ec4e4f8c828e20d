import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { events, sessions } from "#db/schema/index.ts";
import type { EventKind, StoredEvent } from "./event.ts";

/** What to read of a session's log: events of these requests after a number, at most `limit`. */
export type PageQuery = { sessionId: string; requestIds: readonly string[]; after: number; limit: number };

/** Events in order, and the number of the session's last one at that moment, whosever it is; or that the session is gone. */
export type EventPage = { events: StoredEvent[]; lastSeq: number; isGone?: true };

const readers = new WeakMap<Database, (query: PageQuery) => Promise<EventPage>>();

/**
 * Reads a page of the log for whoever follows requests, in one statement; followers of the same requests that come at
 * the same time share it, down to the events themselves. A session that is gone has no events, and its page says so.
 *
 * @param query one request, or two: a steer's own and the one whose turn it joined.
 */
export function readPage(db: Database, query: PageQuery): Promise<EventPage> {
  const known = readers.get(db);
  if (known) return known(query);
  const reader = createReader(db);
  readers.set(db, reader);
  return reader(query);
}

function createReader(db: Database) {
  const statement = prepare(db);
  const read = async ({ sessionId, requestIds, after, limit }: PageQuery): Promise<EventPage> => {
    const [first = "", second = first] = requestIds;
    const rows = await statement.execute({ sessionId, first, second, after, limit });
    const found = rows.flatMap(({ lastSeq: _, seq, kind, requestId, runId, body }) =>
      // The column is text so that a kind can be added without a migration; only appendEvents writes it.
      seq === null || kind === null || body === null
        ? []
        : [{ sessionId, seq, kind: kind as EventKind, requestId, runId, body }],
    );
    const [row] = rows;
    return row ? { events: found, lastSeq: row.lastSeq } : { events: [], lastSeq: 0, isGone: true };
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
 * Answers everybody who asks the same at the same time with one read. Whoever comes while one is under way waits for
 * the next one: what the first finds may be older than the question.
 *
 * @param keyOf what makes two questions the same.
 */
export function shareReads<Asked, Found>(
  read: (asked: Asked) => Promise<Found>,
  keyOf: (asked: Asked) => string,
): (asked: Asked) => Promise<Found> {
  const lines = new Map<string, { running: Promise<Found>; next?: Promise<Found> }>();

  function begin(key: string, asked: Asked): Promise<Found> {
    const line: { running: Promise<Found>; next?: Promise<Found> } = { running: read(asked) };
    lines.set(key, line);
    const end = () => {
      if (!line.next) lines.delete(key);
    };
    line.running.then(end, end);
    return line.running;
  }

  return (asked) => {
    const key = keyOf(asked);
    const line = lines.get(key);
    if (!line) return begin(key, asked);
    line.next ??= line.running.then(
      () => begin(key, asked),
      () => begin(key, asked),
    );
    return line.next;
  };
}
