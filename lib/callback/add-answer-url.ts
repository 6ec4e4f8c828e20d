import type { InboxKind } from "#db/schema/unions.ts";
import type { AnswerLinks } from "#lib/session/inbox/answer-link.ts";
import type { DeliveryRow } from "./delivery-store.ts";

const ITEM = '"item":{';

/**
 * Returns the body to send. In a callback about a wait, the item gets its link (`answerUrl`). The link is a credential,
 * so the database does not contain it. It is derived, so every attempt sends the same bytes. Source: decision 124.
 */
export function addAnswerUrl(
  { event, body }: Pick<DeliveryRow, "event" | "body">,
  answers: Pick<AnswerLinks, "urlOf"> | undefined,
): string {
  if (event !== "run.waiting" || !answers) return body;
  const { item } = JSON.parse(body) as { item: { id: string; kind: InboxKind } };
  const url = answers.urlOf(item);
  if (url === undefined) return body;
  // Only ids and a time precede the item, so this is its beginning.
  const at = body.indexOf(ITEM) + ITEM.length;
  return `${body.slice(0, at)}"answerUrl":${JSON.stringify(url)},${body.slice(at)}`;
}
