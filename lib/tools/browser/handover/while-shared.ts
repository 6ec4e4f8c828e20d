import type { HostControl } from "#lib/browser/view/host-control.ts";
import type { PageCall } from "../page-tools.ts";

/**
 * Does work on a page that is not handed over. A handover that begins meanwhile aborts the signal of the work, so that it
 * stores nothing that a person types. Source: decision 126.
 *
 * @returns undefined if the page is handed over, or was during the work.
 */
export async function whileShared<Call extends Pick<PageCall, "browserSessionId" | "signal">, Result>(
  control: Pick<HostControl, "isPrivate" | "follow">,
  call: Call,
  work: (call: Call) => Promise<Result>,
): Promise<Result | undefined> {
  const isPrivate = () => control.isPrivate(call.browserSessionId);
  if (isPrivate()) return undefined;
  const handedOver = new AbortController();
  const stopFollowing = control.follow(call.browserSessionId, () => {
    if (isPrivate()) handedOver.abort(new Error("the page was handed over to a person"));
  });
  try {
    const result = await work({ ...call, signal: AbortSignal.any([call.signal, handedOver.signal]) });
    return handedOver.signal.aborted ? undefined : result;
  } catch (error) {
    if (handedOver.signal.aborted && !call.signal.aborted) return undefined;
    throw error;
  } finally {
    stopFollowing();
  }
}
