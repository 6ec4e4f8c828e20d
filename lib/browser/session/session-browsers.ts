import type { SessionBrowser } from "./session-browser.ts";

/**
 * The session browsers of this process. Each is created at its first use. It is dropped when its session is closed, or
 * when it has been at rest for a while; the next use then creates it again.
 */
export type SessionBrowsers = {
  /**
   * Returns the session browser; the first call creates it.
   * @throws Error with a readable message if the session has no browser.
   */
  get: (sessionId: string) => Promise<SessionBrowser>;
  /** Returns the session browser. Undefined if it has not been created yet. */
  peek: (sessionId: string) => SessionBrowser | undefined;
  /** Lists all created session browsers with their session ids. */
  list: () => [sessionId: string, browser: SessionBrowser][];
  /** Drops the browsers that are at rest. */
  dropResting: (nowMs: number) => void;
  /** Removes and returns a session's browser. Waits if the browser is still being created. */
  remove: (sessionId: string) => Promise<SessionBrowser | undefined>;
};

/** @see SessionBrowsers */
export function createSessionBrowsers(make: (sessionId: string) => Promise<SessionBrowser>): SessionBrowsers {
  /** Also contains browsers that are still being created, so that no browser is created twice. */
  const promises = new Map<string, Promise<SessionBrowser>>();
  const created = new Map<string, SessionBrowser>();
  return {
    get(sessionId) {
      const existing = promises.get(sessionId);
      if (existing) return existing;
      const promise = make(sessionId);
      promises.set(sessionId, promise);
      promise.then(
        (browser) => created.set(sessionId, browser),
        () => promises.delete(sessionId),
      );
      return promise;
    },
    peek: (sessionId) => created.get(sessionId),
    list: () => [...created],
    dropResting(nowMs) {
      for (const [sessionId, browser] of created) {
        if (!browser.isEvictable(nowMs)) continue;
        promises.delete(sessionId);
        created.delete(sessionId);
      }
    },
    async remove(sessionId) {
      const browser = await promises.get(sessionId)?.catch(() => undefined);
      promises.delete(sessionId);
      created.delete(sessionId);
      return browser;
    },
  };
}
