/** Serializes the calls of agents that share a page, in order of arrival. Calls of one agent may run concurrently. */
export type PageTurns = {
  /**
   * Waits until the agent of the session may use the page.
   * @returns a function to call when the tool call ends.
   * @throws the reason of the signal if the call is stopped before its turn.
   */
  take: (call: { browserSessionId: string; sessionId: string }, signal: AbortSignal) => Promise<() => void>;
};

type Waiting = { sessionId: string; begin: () => void };
/** A page in use: the session whose turn it is, the number of its calls in progress, and the waiting calls. */
type PageInUse = { holder: string; calls: number; waiting: Waiting[] };

/** Creates the queues of this process: one for each page. */
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
      else await waitInQueue(page, sessionId, signal);
      return () => endCall(browserSessionId, page);
    },
  };
}

async function waitInQueue(page: PageInUse, sessionId: string, signal: AbortSignal): Promise<void> {
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
