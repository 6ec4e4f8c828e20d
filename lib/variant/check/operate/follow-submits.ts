import type { CheckContext } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import type { LostReaction } from "./compare-reactions.ts";
import type { Reaction } from "./operate-control.ts";

/** Statuses of an address at which there is nothing. */
const MISSING = new Set([404, 410]);

/**
 * Requests with GET the addresses to which a form leads only with the variant. A form with another method is not sent.
 * Its address counts as dead if GET answers an error that the form's own address does not answer. The address of a form
 * that only the variant has is probably dead if neither GET nor OPTIONS finds anything there; that is a warning, because
 * some servers answer only POST.
 *
 * @param before what happened without the variant. Null for a form that only the variant has.
 */
export async function followSubmit(
  { limits }: CheckContext,
  load: PageLoad,
  label: string,
  before: Reaction | null,
  after: Reaction,
): Promise<LostReaction | undefined> {
  const own = before?.requests.map(({ address }) => address) ?? [];
  const request = after.requests.find(({ isDocument, address }) => isDocument && !own.includes(address));
  if (!request) return undefined;
  const read = (url: string, method = "GET") =>
    load.look("readStatus", { url, method, timeoutMs: limits.answerMs / 2 }, limits.answerMs);
  const status = await read(request.method === "GET" ? request.url : request.address);
  if (status === null || status < 400 || status === 405) return undefined;
  const original = before?.requests.find(({ isDocument }) => isDocument);
  if (request.method !== "GET") {
    if (!original) {
      if (!MISSING.has(status) || (await read(request.address, "OPTIONS")) !== status) return undefined;
      return {
        code: "dead_form",
        level: "warn",
        message: `${label} may be dead: it leads to ${request.method} ${request.address}, which answers ${status} to GET and OPTIONS. Submit it once, or correct its action.`,
      };
    }
    if ((await read(original.address)) === status) return undefined;
  }
  return {
    code: "dead_form",
    message: `${label} is dead: with the variant it leads to ${request.method} ${request.address}, which answers ${status}. Correct its action.`,
  };
}
