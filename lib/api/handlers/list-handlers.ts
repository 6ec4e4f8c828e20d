import type { ShareRole } from "#db/schema/unions.ts";
import { findSessionRuns, listSessions as readSessions } from "#lib/session/list/list-store.ts";
import { projectSessionState } from "#lib/session/list/project-session-state.ts";
import { type ListPosition, searchSessions } from "#lib/session/list/search-store.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { isCompacting, projectOutcome, projectTurnState } from "#lib/session/run/status.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { roleOf } from "../auth/authenticate.ts";
import { type Failure, fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

const PAGE = 50;

/** Number of sessions that one call examines for `q`, and for `state`, which also reads the runs of the sessions. */
const SEARCH_WINDOW = { words: 2_000, states: 300 };
/** Further words of `q` are ignored. */
const WORDS_MAX = 10;

/** `GET /api/sessions` and `GET /actions/sessions`: lists sessions, newest first. */
async function listSessions(
  services: ApiServices,
  { caller, query }: Pick<CallOf<"listSessions">, "caller" | "query">,
): Promise<Answer> {
  const range = readRange(query);
  if (!range) return unknownCursor();
  const isSearch = query.q !== undefined || query.state !== undefined;
  const page = isSearch
    ? await search(services, caller, query, range)
    : await readRangeOf(services, caller, range);
  return { ok: true, status: 200, body: { success: true, ...page } };
}

type ListCaller = CallOf<"listSessions">["caller"];

async function readRangeOf(services: ApiServices, caller: ListCaller, range: Range) {
  const rows = await readSessions(services.db, caller.ownerId, range);
  const { page, nextCursor } = cutPage(rows, range, (row) => row);
  return { data: await summarise(services, page, roleOf(caller)), nextCursor };
}

/** Reads the first page of a caller's sessions, newest first. */
export const readFirstPage = (services: ApiServices, caller: ListCaller, limit: number) =>
  readRangeOf(services, caller, { limit: limit + 1 });

/** Lists the sessions that have the words and one of the states of a query. */
async function search(
  services: ApiServices,
  caller: ListCaller,
  { q, state }: CallOf<"listSessions">["query"],
  { before, limit }: Range,
) {
  const words = q?.split(/\s+/).slice(0, WORDS_MAX) ?? [];
  const window = state ? SEARCH_WINDOW.states : SEARCH_WINDOW.words;
  const { rows, examinedTo } = await searchSessions(services.db, caller.ownerId, {
    words,
    before,
    window,
    limit: state ? window : limit,
  });
  const found = await summarise(services, rows, roleOf(caller));
  const matching = state ? found.filter((session) => state.includes(session.state)) : found;
  const data = matching.slice(0, limit - 1);
  const last = matching.length >= limit ? data.at(-1) : undefined;
  const end = last ? { id: last.id, createdAt: new Date(last.createdAt) } : examinedTo;
  return { data, nextCursor: end && writeCursor(end) };
}

/**
 * Describes sessions for lists.
 *
 * @param role the role of the share links in the list. The role must not allow more than the caller's own access.
 */
export async function summarise({ db, shares }: ApiServices, rows: SessionRow[], role: ShareRole) {
  const ids = rows.map((row) => row.id);
  const { last, open } = await findSessionRuns(db, ids);
  return rows.map((row) => {
    const [lastRun, openRun] = [last.get(row.id), open.get(row.id)];
    return {
      id: row.id,
      title: row.title,
      targetUrl: row.targetUrl,
      source: row.source,
      isStructured: row.outputSchema !== null,
      ...projectSessionState(openRun, lastRun),
      turnState: projectTurnState(openRun ? 1 : 0, openRun && isCompacting(openRun)),
      lastOutcome: lastRun ? projectOutcome(lastRun) : null,
      createdAt: row.createdAt.toISOString(),
      shareUrl: shares.sharePath(row.id, row.shareRevocation, role),
    };
  });
}

/**
 * `GET …/messages`: lists messages, oldest first. The cursor is the sequence number of the last message on the page.
 */
async function listMessages(
  services: ApiServices,
  { params, query }: CallOf<"listMessages">,
): Promise<Answer> {
  const limit = query.limit ?? PAGE;
  const rows = await services.transcript.list(params.sessionId, {
    after: query.cursor ?? 0,
    limit: limit + 1,
  });
  const data = rows.slice(0, limit);
  const nextCursor = rows.length > limit ? String(data.at(-1)?.seq) : null;
  return { ok: true, status: 200, body: { success: true, data, nextCursor } };
}

/**
 * The rows to read for one page: the rows that are older than `before`. `limit` is one more than the size of the page,
 * to detect whether a next page exists.
 */
type Range = { before?: ListPosition; limit: number };

/** Determines the range of rows for a request. Undefined if the cursor of the request is invalid. */
export function readRange(query: {
  cursor?: string | undefined;
  limit?: number | undefined;
}): Range | undefined {
  const { cursor, limit = PAGE } = query;
  const before = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && !before) return undefined;
  return { ...(before && { before }), limit: limit + 1 };
}

/**
 * Cuts the rows of a range down to one page. Also returns the cursor of the next page, or null if there is no next
 * page.
 */
export function cutPage<Row>(
  rows: Row[],
  { limit }: Range,
  positionOf: (row: Row) => ListPosition,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit - 1);
  const last = rows.length === limit ? page.at(-1) : undefined;
  return { page, nextCursor: last ? writeCursor(positionOf(last)) : null };
}

/** Returns the refusal of an invalid cursor. */
export const unknownCursor = (): Failure => fail("invalid_request", "cursor: is not one that this list gave");

/** Returns the cursor of the page that begins after a row. */
const writeCursor = (row: ListPosition) =>
  Buffer.from(`${row.createdAt.toISOString()} ${row.id}`).toString("base64url");

/** Reads the position from a cursor. @returns undefined if the cursor is invalid. */
function readCursor(cursor: string): ListPosition | undefined {
  const [at = "", id = ""] = Buffer.from(cursor, "base64url").toString().split(" ");
  const createdAt = new Date(at);
  const isValid =
    /^[1-9]\d{3}-.*Z$/.test(at) && !Number.isNaN(createdAt.getTime()) && SESSION_ID_PATTERN.test(id);
  return isValid ? { createdAt, id } : undefined;
}

export const listHandlers = {
  listSessions,
  listHomeSessions: listSessions,
  listMessages,
  listAgentMessages: listMessages,
} satisfies Partial<Handlers>;
