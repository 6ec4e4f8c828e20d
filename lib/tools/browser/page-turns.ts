/** Gives agents that share a page their turns, in order of arrival. Calls of one agent may run side by side. */
export type PageTurns = {
  /**
   * Resolves when it is the turn of this session's agent. @returns the way to end the call.
   * @throws the signal's reason when the call is stopped while it waits.
   */
  take: (call: { browserSessionId: string; sessionId: string }, signal: AbortSignal) => Promise<() => void>;
};

type Waiting = { sessionId: string; begin: () => void };
/** A page in use: whose turn it is, how many calls that agent has in progress, and who waits. */
type PageInUse = { holder: string; calls: number; waiting: Waiting[] };

/** @see PageTurns */
export function createPageTurns(): PageTurns {
  const pages = new Map<string, PageInUse>();

  function endCall(browserSessionId: string, page: PageInUse): void {
    if (--page.calls > 0) return;
    const [next] = page.waiting;
    if (!next) {
      pages.delete(browserSessionId);
      return;
    }
    page.holder = next.sessionId;
    while (page.waiting[0]?.sessionId === page.holder) {
      page.calls++;
      page.waiting.shift()?.begin();
    }
  }

  return {
    async take({ browserSessionId, sessionId }, signal) {
      signal.throwIfAborted();
      const page = pages.get(browserSessionId);
      if (!page) {
        const own: PageInUse = { holder: sessionId, calls: 1, waiting: [] };
        pages.set(browserSessionId, own);
        return () => endCall(browserSessionId, own);
      }
      if (page.holder === sessionId && page.waiting.length === 0) page.calls++;
      else await waitInLine(page, sessionId, signal);
      return () => endCall(browserSessionId, page);
    },
  };
}

async function waitInLine(page: PageInUse, sessionId: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const waiting = { sessionId, begin: resolve };
  const leave = () => {
    page.waiting.splice(page.waiting.indexOf(waiting), 1);
    reject(signal.reason);
  };
  page.waiting.push(waiting);
  signal.addEventListener("abort", leave, { once: true });
  waiting.begin = () => {
    signal.removeEventListener("abort", leave);
    resolve();
  };
  await promise;
}
