import { and, asc, desc, eq, getTableColumns, inArray, or, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { type ItemCall, inboxItems, runs } from "#db/schema/index.ts";
import type { ElicitationState, InboxSettler, InboxState } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";
import { newId } from "../new-id.ts";

export type InboxItemRow = typeof inboxItems.$inferSelect;

/** The title of an item as callers see it. That of a sub-agent begins with its name. */
export const titleOf = ({ agentName, title }: Pick<InboxItemRow, "agentName" | "title">): string =>
  agentName === null ? title : `${agentName}: ${title}`;

/** A new item. The session that waits determines the owner, the root session and the name of the sub-agent. */
type NewItem = Pick<InboxItemRow, "sessionId" | "runId" | "kind" | "subjectId" | "title" | "body"> &
  Partial<Pick<InboxItemRow, "form" | "options" | "call" | "browserSessionId" | "expiresAt">>;

/**
 * Opens an item. If its subject has an open item already, that item gets the new title, text and deadline instead. The
 * caller has locked the session.
 */
export async function openItem(tx: Transaction, item: NewItem): Promise<void> {
  const {
    sessionId,
    form = null,
    options = null,
    call = null,
    browserSessionId = null,
    expiresAt = null,
  } = item;
  const { title, body } = storable({ title: item.title, body: item.body });
  const values = {
    form: form && JSON.stringify(storable(form)),
    options: options && JSON.stringify(storable(options)),
    call: call && JSON.stringify(storable(call)),
    expiresAt: expiresAt?.toISOString() ?? null,
  };
  await tx.execute(sql`
    insert into ${inboxItems} as item (id, session_id, root_session_id, owner_id, run_id, kind, subject_id, title, body,
      options, form, call, browser_session_id, agent_name, expires_at)
    select ${newId("itm")}, s.id, coalesce(a.root_session_id, s.id), s.owner_id, ${item.runId}, ${item.kind},
      ${item.subjectId}, ${title}, ${body}, ${values.options}::jsonb, ${values.form}::json, ${values.call}::json,
      ${browserSessionId}, a.name, ${values.expiresAt}::timestamptz
    from sessions s left join agents a on a.session_id = s.id where s.id = ${sessionId}
    on conflict (subject_id) where state = 'open'
      do update set title = excluded.title, body = excluded.body, expires_at = excluded.expires_at`);
}

/** Opens the item of a run that waits for a larger budget, or changes its text. The caller has locked the session. */
export const openBudgetItem = (
  tx: Transaction,
  { sessionId, runId }: { sessionId: string; runId: string },
  { sentence, until }: { sentence: string; until: Date | null },
): Promise<void> =>
  openItem(tx, {
    sessionId,
    runId,
    kind: "budget",
    subjectId: runId,
    title: "The budget is used up",
    body: sentence,
    expiresAt: until,
  });

/** How an item ended, and who settled it; null if the service closed it. */
type ItemEnd = { state: Exclude<InboxState, "open">; settledBy: InboxSettler | null };

/**
 * The state in which an item is stored when it is closed. An item whose deadline had passed when its run was stopped stays
 * `expired`, as callers have seen it, although the periodic search for overdue waits had not closed it yet.
 */
export const closedState = (state: ItemEnd["state"]): SQL<InboxState> =>
  state === "withdrawn"
    ? sql`case when ${inboxItems.kind} <> 'budget' and ${inboxItems.expiresAt} <=
        (select ${runs.cancelRequestedAt} from ${runs} where ${runs.id} = ${inboxItems.runId}) then 'expired' else 'withdrawn' end`
    : sql`${state}`;

/** Ends the open items of these subjects. The caller has locked the session. */
export async function closeItems(tx: Transaction, subjectIds: string[], end: ItemEnd): Promise<void> {
  await tx
    .update(inboxItems)
    .set({ ...end, state: closedState(end.state), settledAt: sql`now()` })
    .where(and(inArray(inboxItems.subjectId, subjectIds), eq(inboxItems.state, "open")));
}

/** The state of an item whose question ended in this state. */
export const ITEM_STATE_OF: Record<Exclude<ElicitationState, "open">, Exclude<InboxState, "open">> = {
  answered: "answered",
  declined: "declined",
  unanswered: "expired",
  withdrawn: "withdrawn",
};

/** The subjects of items for calls of scripts begin with this text. No run waits for them. */
export const SCRIPT_SUBJECTS = "script/";

/** The subjects of items for calls of other agents over MCP begin with this text. These calls belong to no run. */
export const OUTSIDE_SUBJECTS = "mcp/";

/**
 * The state of an item as callers see it. An open item whose deadline has passed is `expired`, although the periodic
 * search for overdue waits has not closed it yet. An open item of a run that has ended or was stopped before is `withdrawn`,
 * except that the call of a script may be approved after its run. A plan, and the call of another agent, belong to no run.
 */
const state = sql<InboxState>`case
  when ${inboxItems.state} <> 'open' then ${inboxItems.state}
  when ${inboxItems.kind} <> 'budget' and ${inboxItems.expiresAt} <= least(now(), ${runs.cancelRequestedAt},
    case when starts_with(${inboxItems.subjectId}, ${SCRIPT_SUBJECTS}) then null else ${runs.endedAt} end) then 'expired'
  when ${inboxItems.kind} <> 'plan' and not starts_with(${inboxItems.subjectId}, ${OUTSIDE_SUBJECTS}) and (${runs.id} is null
    or (${runs.state} not in ('pending', 'running') and not starts_with(${inboxItems.subjectId}, ${SCRIPT_SUBJECTS}))
    or ${runs.cancelRequestedAt} is not null) then 'withdrawn'
  else 'open' end`;

/** The most characters of JSON that the arguments of a call may have in a list, and how many are shown of longer ones. */
const LISTED_INPUT_MAX = 16_384;
const PREVIEW_MAX = 2_000;

/** The call of an item in a list. Of long arguments, `inputPreview` is the beginning of their JSON text. */
type ListedCall = Omit<ItemCall, "input"> & { input?: unknown; inputPreview?: string };

/** Shortened in the database, so that a page of a list is never hundreds of megabytes. */
const listedCall = sql<ListedCall | null>`case
  when length((${inboxItems.call} -> 'input')::text) > ${LISTED_INPUT_MAX} then json_build_object(
    'toolCallId', ${inboxItems.call} -> 'toolCallId', 'toolName', ${inboxItems.call} -> 'toolName',
    'inputPreview', left((${inboxItems.call} -> 'input')::text, ${PREVIEW_MAX}))
  else ${inboxItems.call} end`;

/** An item as lists have it. */
export type ListedItem = Omit<InboxItemRow, "call"> & { call: ListedCall | null };

const selectItems = (db: Executor) =>
  db
    .select({ ...getTableColumns(inboxItems), state })
    .from(inboxItems)
    .leftJoin(runs, eq(runs.id, inboxItems.runId));

/** The items that are listed for a session: its own, and those of the sub-agents below a root session. */
const ofSession = (sessionId: string): SQL | undefined =>
  or(eq(inboxItems.rootSessionId, sessionId), eq(inboxItems.sessionId, sessionId));

/** Finds an item of a session or of its sub-agents. */
export async function findItem(
  db: Executor,
  sessionId: string,
  id: string,
): Promise<InboxItemRow | undefined> {
  const [row] = await selectItems(db).where(and(eq(inboxItems.id, id), ofSession(sessionId)));
  return row;
}

/** Finds an item of any session. The caller has checked a credential for this item. */
export async function findAnyItem(db: Executor, id: string): Promise<InboxItemRow | undefined> {
  const [row] = await selectItems(db).where(eq(inboxItems.id, id));
  return row;
}

/** Finds the title of the first question or approval of a run that no one settled in time. */
export async function findExpiredOfRun(
  db: Executor,
  { sessionId, runId }: { sessionId: string; runId: string },
): Promise<string | undefined> {
  const [row] = await db
    .select({ title: inboxItems.title })
    .from(inboxItems)
    .where(
      and(eq(inboxItems.sessionId, sessionId), eq(inboxItems.runId, runId), eq(inboxItems.state, "expired")),
    )
    .orderBy(asc(inboxItems.createdAt), asc(inboxItems.id))
    .limit(1);
  return row?.title;
}

/** Which items to list. */
export type ItemFilter = {
  ownerId: string;
  sessionId?: string | undefined;
  state?: InboxState | undefined;
};

/** Lists items of an owner, newest first. With `isWhole`, calls have all of their arguments. */
export function listItems(
  db: Executor,
  filter: ItemFilter,
  page: { before?: { createdAt: Date; id: string }; limit: number; isWhole?: boolean },
): Promise<ListedItem[]> {
  const { before, limit, isWhole = false } = page;
  const isPossible =
    filter.state === undefined
      ? undefined
      : filter.state === "expired" || filter.state === "withdrawn"
        ? sql`${inboxItems.state} in ('open', ${filter.state})`
        : sql`${inboxItems.state} = ${filter.state}`;
  return db
    .select({
      ...getTableColumns(inboxItems),
      state,
      call: isWhole ? inboxItems.call : listedCall.mapWith(inboxItems.call),
    })
    .from(inboxItems)
    .leftJoin(runs, eq(runs.id, inboxItems.runId))
    .where(
      and(
        eq(inboxItems.ownerId, filter.ownerId),
        filter.sessionId === undefined ? undefined : ofSession(filter.sessionId),
        // Implied by the next condition; it lets Postgres use the index of open items.
        isPossible,
        filter.state === undefined ? undefined : sql`${state} = ${filter.state}`,
        before &&
          sql`(${inboxItems.createdAt}, ${inboxItems.id}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id})`,
      ),
    )
    .orderBy(desc(inboxItems.createdAt), desc(inboxItems.id))
    .limit(limit);
}
