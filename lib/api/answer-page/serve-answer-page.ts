import type { Database } from "#db/client.ts";
import type { InboxState } from "#db/schema/unions.ts";
import { ANSWER_PATH, ANSWER_TOKEN, type AnswerLinks } from "#lib/session/inbox/answer-link.ts";
import { settleItem } from "#lib/session/inbox/settle-item.ts";
import { findAnyItem, type InboxItemRow } from "#lib/session/store/inbox-store.ts";
import type { WakeDeps } from "#lib/session/waiting/waiting.ts";
import type { FailedAttempts } from "../auth/failed-attempts.ts";
import type { BodyReader } from "../http/body/body-reader.ts";
import { clientOf } from "../http/client-address.ts";
import { failureResponse } from "../http/errors.ts";
import { markKnownCaller } from "../http/known-caller.ts";
import { answerPage, html } from "./answer-html.ts";
import { itemForm, type Sent } from "./item-form.ts";
import { readReply } from "./read-answer.ts";

type AnswerServices = WakeDeps & {
  db: Database;
  answers: Pick<AnswerLinks, "isValid">;
  bodies: Pick<BodyReader, "readBytes">;
  failedAttempts: Pick<FailedAttempts, "count">;
};

/** A text of 100,000 characters has up to 900 KB in this encoding. */
const BODY_BYTES_MAX = 1_000_000;

/** Returns the id of the item at a path of an answer link; undefined for another path. */
export const readAnswerPath = (pathname: string): string | undefined =>
  pathname.startsWith(ANSWER_PATH) ? pathname.slice(ANSWER_PATH.length) : undefined;

/**
 * Serves the page of an answer link. The token in the link is the credential: it settles this item and gives no other
 * access. GET and HEAD only show the item, however often a preview or a prefetch loads it; POST settles it. The token is
 * checked before the database is read. Source: `wire.md`, Answer links; decision 124.
 */
export async function serveAnswerPage(services: AnswerServices, request: Request): Promise<Response> {
  const { method } = request;
  if (method !== "GET" && method !== "HEAD" && method !== "POST")
    return notice(405, "This page only shows and takes an answer", "", { Allow: "GET, HEAD, POST" });
  const { pathname, searchParams } = new URL(request.url);
  const itemId = readAnswerPath(pathname) ?? "";
  if (!services.answers.isValid(itemId, searchParams.get(ANSWER_TOKEN) ?? "")) {
    const limited = services.failedAttempts.count(clientOf(request));
    return limited ? failureResponse(limited) : unknown();
  }
  markKnownCaller(request);
  const item = await findAnyItem(services.db, itemId);
  if (!item) return unknown();
  if (item.state !== "open") return closed(item.state, method === "POST");
  if (method !== "POST") return answerPage(200, itemForm(item));
  const body = await services.bodies.readBytes(request, { maxBytes: BODY_BYTES_MAX, owner: undefined });
  if (!body.ok) return failureResponse(body);
  try {
    // The cast is safe: `readBytes` returns bytes. Forms send each end of a line as CR and LF.
    const sent = new TextDecoder().decode(body.value as Uint8Array).replaceAll(/%0D%0A/gi, "%0A");
    const values = new URLSearchParams(sent);
    return await settle(services, item, values);
  } finally {
    body.release();
  }
}

async function settle(
  services: AnswerServices,
  item: InboxItemRow,
  values: URLSearchParams,
): Promise<Response> {
  const correct = (problems: Sent["problems"]) => answerPage(422, itemForm(item, { values, problems }));
  const reply = readReply(item, values);
  if (reply.kind === "invalid") return correct(reply.problems);
  // Question items name the session that waits; the root session is not needed to find them.
  const key = { sessionId: item.sessionId, itemId: item.id };
  const result = await settleItem(services, key, reply.settlement, "person");
  switch (result.status) {
    case "unknown":
      return unknown();
    case "settled":
      return closed(result.state, true);
    case "invalid": {
      const field = result.path.at(-1) ?? "";
      return correct({ [field]: result.problem });
    }
    case "accepted":
      return notice(
        200,
        THANKS[result.item.state] ?? "Your answer was sent",
        "The agent continues. You can close this page.",
      );
  }
}

const THANKS: Partial<Record<InboxState, string>> = {
  answered: "Your answer was sent",
  declined: "You declined to answer",
  approved: "You approved the call",
  denied: "You denied the call",
};

const CLOSED: Record<Exclude<InboxState, "open">, string> = {
  answered: "This question has been answered",
  declined: "An answer to this question has been declined",
  approved: "This call has been approved",
  denied: "This call has been denied",
  done: "This has been done",
  expired: "This link has expired",
  withdrawn: "This is not needed any more",
};

/**
 * Answers for an item that is not open. A POST that comes second is a conflict, because its answer was not taken. In all
 * other cases, the link is used up.
 */
function closed(state: Exclude<InboxState, "open">, isPost: boolean): Response {
  const isOver = state === "expired" || state === "withdrawn";
  const text =
    isPost && !isOver
      ? "It can be settled only once: what you sent was not taken."
      : "There is nothing left to do here.";
  return notice(isPost && !isOver ? 409 : 410, CLOSED[state], text);
}

const unknown = (): Response =>
  notice(404, "This link is not valid", "It may be incomplete, or its session has been deleted.");

const notice = (status: number, title: string, text: string, headers?: Record<string, string>): Response =>
  answerPage(
    status,
    { title, body: html`<h1>${title}</h1>${text !== "" && html`<p role="status">${text}</p>`}` },
    headers,
  );
