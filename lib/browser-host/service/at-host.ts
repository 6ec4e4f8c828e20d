import type { Link } from "#lib/host-link/link.ts";
import type { HostCalls } from "../host-calls.ts";
import type { BrowserHosts } from "./browser-hosts.ts";

/**
 * How often a session can move to another host during one call. It moves when a place becomes free at another host, and
 * when two processes choose different hosts for it at the same time.
 */
const MOVES_MAX = 10;
/** How long a call waits for a host that ended or cannot be reached. After 25 s the host counts as lost. */
const LOST_AFTER_MS = 40_000;
const RETRY_MS = 500;

/**
 * Makes a call to the host of a session, and repeats it at another host if the session's browser starts there.
 *
 * @param options.isRepeatable whether to repeat the call also after a lost connection: twice, it has the same effect.
 */
export async function callAtHost<Result>(
  hosts: Pick<BrowserHosts, "of">,
  sessionId: string,
  act: (link: Link<HostCalls>) => Promise<Result>,
  options: { signal?: AbortSignal | undefined; isRepeatable?: boolean } = {},
): Promise<Result> {
  const { signal, isRepeatable = false } = options;
  let moves = 0;
  let lostSinceMs: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const beganAtMs = performance.now();
    try {
      return await act((await hosts.of(sessionId)).link);
    } catch (error) {
      // The link keeps names of errors, but not their classes.
      const { name } = error as Error;
      const isLost = name === "LinkEndedError" || name === "UnreachableHostError";
      if (name === "ElsewhereError" && moves < MOVES_MAX) {
        moves += 1;
        continue;
      }
      const now = performance.now();
      // A call that ran for a while had a connection.
      if (lostSinceMs === undefined || now - beganAtMs > LOST_AFTER_MS) lostSinceMs = now;
      if (!isLost || !isRepeatable || now - lostSinceMs > LOST_AFTER_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
