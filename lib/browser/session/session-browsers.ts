import type { SessionBrowser } from "./session-browser.ts";

/** The session browsers of this process: each is made at its first use and stays until its session is closed. */
export type SessionBrowsers = {
  /** @throws Error with a sentence when the session cannot have a browser. */
  get: (sessionId: string) => Promise<SessionBrowser>;
  /** The session browser if it was made already. */
  peek: (sessionId: string) => SessionBrowser | undefined;
  /** All that were made, by session id. */
  list: () => [sessionId: string, browser: SessionBrowser][];
  /** Forgets a session's browser and returns it; waits for one that is being made. */
  remove: (sessionId: string) => Promise<SessionBrowser | undefined>;
};

/** @see SessionBrowsers */
export function createSessionBrowsers(make: (sessionId: string) => Promise<SessionBrowser>): SessionBrowsers {
  /** Includes those that are still being made, so that each is made once. */
  const pending = new Map<string, Promise<SessionBrowser>>();
  const made = new Map<string, SessionBrowser>();
  return {
    get(sessionId) {
      const existing = pending.get(sessionId);
      if (existing) return existing;
      const created = make(sessionId);
      pending.set(sessionId, created);
      created.then(
        (browser) => made.set(sessionId, browser),
        () => pending.delete(sessionId),
      );
      return created;
    },
    peek: (sessionId) => made.get(sessionId),
    list: () => [...made],
    async remove(sessionId) {
      const browser = await pending.get(sessionId)?.catch(() => undefined);
      pending.delete(sessionId);
      made.delete(sessionId);
      return browser;
    },
  };
}
