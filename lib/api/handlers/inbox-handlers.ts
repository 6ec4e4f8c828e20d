import { settleItem } from "#lib/session/inbox/settle-item.ts";
import { findSessionPages } from "#lib/session/list/list-store.ts";
import {
  findItem,
  type ItemFilter,
  type ListedItem,
  listItems,
  titleOf,
} from "#lib/session/store/inbox-store.ts";
import { type Caller, roleOf } from "../auth/authenticate.ts";
import { fail } from "../http/errors.ts";
import { formatPath } from "../http/validate.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { cutPage, readRange, unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

/** `GET /api/inbox`: lists the items of the caller's sessions, newest first. */
const listInbox = (services: ApiServices, { caller, query }: CallOf<"listInbox">): Promise<Answer> =>
  list(services, { ownerId: caller.ownerId, sessionId: query.sessionId, state: query.state }, query, caller);

/** `GET …/inbox`: lists the items of a session and its sub-agents, newest first. */
const listSessionInbox = (
  services: ApiServices,
  { session, query, caller }: CallOf<"listSessionInbox">,
): Promise<Answer> =>
  list(services, { ownerId: session.ownerId, sessionId: session.id, state: query.state }, query, caller);

/** Lists the items for the session page, which shows people all arguments of the calls that they approve. */
const listPersonInbox = (
  services: ApiServices,
  { session, query, caller }: CallOf<"listPersonInbox">,
): Promise<Answer> => {
  const filter = { ownerId: session.ownerId, sessionId: session.id, state: query.state };
  return list(services, filter, query, caller, { isWhole: true });
};

/** `GET …/inbox/:itemId`: returns an item with all arguments of its call. */
async function readInboxItem(
  services: ApiServices,
  { session, params, caller }: CallOf<"readInboxItem">,
): Promise<Answer> {
  const row = await findItem(services.db, session.id, params.itemId);
  if (!row) return fail("not_found", "no such item");
  return { ok: true, status: 200, body: { success: true, item: toLinkedItem(services, row, caller) } };
}

/** `GET /actions/inbox`: lists the open items of a person's sessions with the pages of the sessions. */
async function listHomeInbox(
  services: ApiServices,
  { caller, query }: CallOf<"listHomeInbox">,
): Promise<Answer> {
  const range = readRange(query);
  if (!range) return unknownCursor();
  const filter = { ownerId: caller.ownerId, state: "open" } as const;
  const { page, nextCursor } = cutPage(await listItems(services.db, filter, range), range, (row) => row);
  const pages = await findSessionPages(
    services.db,
    page.map((row) => row.rootSessionId),
  );
  const data = page.flatMap((row) => {
    const session = pages.get(row.rootSessionId);
    // A session that was deleted since the items were read.
    if (!session) return [];
    const shareUrl = services.shares.sharePath(row.rootSessionId, session.shareRevocation, roleOf(caller));
    return [{ ...toItem({ ...row, call: null, form: null }), sessionTitle: session.title, shareUrl }];
  });
  return { ok: true, status: 200, body: { success: true, data, nextCursor } };
}

async function list(
  { db, answers }: ApiServices,
  filter: ItemFilter,
  query: { cursor?: string | undefined; limit?: number | undefined },
  caller: Caller | undefined,
  { isWhole = false } = {},
): Promise<Answer> {
  const range = readRange(query);
  if (!range) return unknownCursor();
  const { page, nextCursor } = cutPage(
    await listItems(db, filter, { ...range, isWhole }),
    range,
    (row) => row,
  );
  return {
    ok: true,
    status: 200,
    body: {
      success: true,
      data: page.map((row) => toLinkedItem({ answers }, row, caller)),
      nextCursor,
    },
  };
}

/** `POST …/inbox/:itemId`: settles an item. Called with an API key or from the session page. */
async function settleInboxItem(
  services: ApiServices,
  { params, body, caller }: CallOf<"settleInboxItem" | "settlePersonInboxItem">,
): Promise<Answer> {
  const result = await settleItem(services, params, body, caller ? "program" : "person");
  switch (result.status) {
    case "unknown":
      return fail("not_found", "no such item");
    case "settled":
      return { ...fail("conflict", `this item is not open any more: ${result.state}`), state: result.state };
    case "invalid": {
      const [first = "itemId", ...rest] = result.path;
      return fail("invalid_request", `${formatPath([first, ...rest], first)}: ${result.problem}`);
    }
    case "accepted":
      return { ok: true, status: 200, body: { success: true, item: toItem(result.item) } };
  }
}

/**
 * Converts an item, with its link while it is open. A link is a credential that settles the item: only a program that may
 * settle it with its key gets the link.
 */
function toLinkedItem(
  { answers }: Pick<ApiServices, "answers">,
  row: ListedItem,
  caller: Caller | undefined,
) {
  const mayLink =
    caller !== undefined && caller.loginId === undefined && caller.scopes.includes("sessions:write");
  const answerUrl = mayLink && row.state === "open" ? answers.urlOf(row) : undefined;
  return { ...toItem(row), ...(answerUrl !== undefined && { answerUrl }) };
}

const toItem = (row: ListedItem) => ({
  id: row.id,
  sessionId: row.rootSessionId,
  runId: row.runId,
  kind: row.kind,
  ...(row.agentName !== null && { agentName: row.agentName }),
  title: titleOf(row),
  body: row.body,
  ...(row.options && { options: row.options }),
  ...(row.form && { form: row.form }),
  ...(row.call && { call: row.call }),
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt?.toISOString() ?? null,
  state: row.state,
  ...(row.settledBy && { settledBy: row.settledBy }),
  ...(row.settledAt && { settledAt: row.settledAt.toISOString() }),
});

export const inboxHandlers = {
  listInbox,
  listSessionInbox,
  listPersonInbox,
  listHomeInbox,
  readInboxItem,
  settleInboxItem,
  settlePersonInboxItem: settleInboxItem,
} satisfies Partial<Handlers>;
