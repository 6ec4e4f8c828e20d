import { STATE_FILTERS, type StateFilter } from "../labels/state-filters.ts";
import type { SessionSummary } from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

const fetchDirectly: typeof fetch = (...call) => fetch(...call);

/** What the list of sessions shows. `cursor` is undefined for the newest sessions. */
export type ListQuery = { text: string; filter: StateFilter; cursor: string | undefined };

export type SessionPage = { data: SessionSummary[]; nextCursor: string | null };

/** Number of sessions on one page of the list. The first page, which the server renders, has as many. */
const PAGE = 20;

/** Composes the path that answers one page of the list. */
function listPath({ text, filter, cursor }: ListQuery): string {
  const query = new URLSearchParams({ limit: String(PAGE) });
  const { states } = STATE_FILTERS[filter];
  if (text.trim() !== "") query.set("q", text.trim());
  if (states.length > 0) query.set("state", states.join());
  if (cursor !== undefined) query.set("cursor", cursor);
  return `/actions/sessions?${query}`;
}

/** Reads one page of the list of the signed-in person's sessions. */
export const readSessions = (
  query: ListQuery,
  fetcher = fetchDirectly,
): Promise<ActionOutcome<SessionPage>> => callAction(fetcher, "GET", listPath(query));

const pathOf = (sessionId: string) => `/actions/sessions/${encodeURIComponent(sessionId)}`;

/** Gives a session another title. @returns the session with its new title. */
export const renameSession = async (
  sessionId: string,
  title: string,
  fetcher = fetchDirectly,
): Promise<ActionOutcome<SessionSummary>> =>
  pick(
    await callAction<{ session: SessionSummary }>(fetcher, "PATCH", pathOf(sessionId), { title }),
    "session",
  );

/** What a deletion left: data that is removed later, and what stays published. */
export type Deletion = {
  pending: unknown[];
  publications: { scriptUrl: string }[];
  pages: { url: string }[];
};

/** Deletes a session with everything that belongs to it. A deletion stops the turn first, which may take a while. */
export const deleteSession = (sessionId: string, fetcher = fetchDirectly): Promise<ActionOutcome<Deletion>> =>
  callAction(fetcher, "DELETE", pathOf(sessionId), undefined, { timeoutMs: 120_000 });
