import type { PageWatch } from "../inside/page-watch.ts";
import type { CheckContext } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import type { LostReaction } from "./judge-reactions.ts";
import type { Reaction } from "./operate-control.ts";

/**
 * Requests with GET the addresses to which a form leads only with the variant. A form with another method is not sent;
 * its address counts as dead if it answers 404, and the form's own address does not.
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
  const read = (url: string) =>
    load.look(readStatus, { url, timeoutMs: limits.answerMs / 2 }, limits.answerMs);
  const status = await read(request.method === "GET" ? request.url : request.address);
  if (status === null || status < 400 || status === 405) return undefined;
  const original = before?.requests.find(({ isDocument }) => isDocument);
  if (request.method !== "GET" && (!original || (await read(original.address)) === status)) return undefined;
  return {
    code: "dead_form",
    message: `${label} is dead: with the variant it leads to ${request.method} ${request.address}, which answers ${status}. Correct its action.`,
  };
}

/**
 * Reads the status with which an address answers. Null if it cannot be requested. The source of this function is sent to
 * the page and runs there.
 */
async function readStatus(
  _watch: PageWatch,
  { url, timeoutMs }: { url: string; timeoutMs: number },
): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: "GET", credentials: "same-origin", signal });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}
