import { createHmac, timingSafeEqual } from "node:crypto";
import type { InboxKind } from "#db/schema/unions.ts";

/** The path of the page of an item, and the parameter with its token. */
export const ANSWER_PATH = "/answer/";
export const ANSWER_TOKEN = "key";

/** Signed links, each of which settles one item of the inbox. */
export type AnswerLinks = {
  /** Returns the absolute link to an item; undefined for a kind that is settled elsewhere. */
  urlOf: (item: { id: string; kind: InboxKind }) => string | undefined;
  /** Whether a token belongs to the item. It says nothing about whether the item exists or is open. */
  isValid: (itemId: string, token: string) => boolean;
};

/** The kinds of items that have a link. A budget and a plan are settled elsewhere. */
const LINKED_KINDS: readonly InboxKind[] = ["question", "approval", "handover"];
const TOKEN_CHARS = 32;

/**
 * Creates the answer links of a deployment. A token has 192 bits and is derived from the item's id, so it is not stored,
 * and the same item always has the same link. Source: decision 124.
 *
 * @param baseUrl public origin of the service, without a trailing slash.
 * @param key the deployment's secret key, from which the key of the tokens is derived.
 * @param previous keys whose tokens are still accepted (`ENCRYPTION_KEY_PREVIOUS`).
 */
export function createAnswerLinks(
  baseUrl: string,
  key: Uint8Array,
  previous: readonly Uint8Array[] = [],
): AnswerLinks {
  const [current, ...earlier] = [key, ...previous].map((each) =>
    createHmac("sha256", each).update("answer-link/v1").digest(),
  );
  if (!current) throw new Error("the key of answer links is missing");
  const derive = (itemId: string, by: Buffer = current) =>
    createHmac("sha256", by).update(itemId).digest("base64url").slice(0, TOKEN_CHARS);
  return {
    urlOf: ({ id, kind }) =>
      LINKED_KINDS.includes(kind) ? `${baseUrl}${ANSWER_PATH}${id}?${ANSWER_TOKEN}=${derive(id)}` : undefined,
    isValid(itemId, token) {
      const given = Buffer.from(token);
      if (given.length !== TOKEN_CHARS) return false;
      return [current, ...earlier].some((by) => timingSafeEqual(given, Buffer.from(derive(itemId, by))));
    },
  };
}
