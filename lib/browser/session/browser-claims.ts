import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createStoredRecord } from "./browser-record.ts";
import {
  type BrowserOwner,
  type BrowserRow,
  listClaims,
  readBrowserSession,
  readHeldBrowser,
} from "./browser-store.ts";

/** Short words between the processes that share a database. */
export type HandOver = {
  tell: (word: string) => void;
  /** @param onGap called when words may have been missed. */
  listen: (onWord: (word: string) => void, onGap: () => void) => () => void;
};

/** What the rows say of who has which browser, beside what this process has. */
type BrowserClaims = {
  /** Whether another process, which is there, holds the session's browser. */
  isElsewhere: (sessionId: string) => Promise<boolean>;
  /** The row as it is to be read: a browser that nobody has any more is `expired`. */
  read: (sessionId: string) => Promise<BrowserRow | undefined>;
  /** Tells the process that held a browser until now that it was taken over. */
  tellTakenOver: (sessionId: string, holder: string) => void;
  /** Records the end of browsers whose process has gone, and of our own whose end the database missed. */
  expireLost: () => Promise<void>;
  /** Begins to let go what others take over. @returns the way to stop. */
  follow: () => () => void;
};

/** @see BrowserClaims */
export function createBrowserClaims(deps: {
  db: Database;
  log: EventLog;
  logger: Logger;
  owner: BrowserOwner;
  handOver: HandOver | undefined;
  /** Sessions whose browser runs in this process, or is being started. */
  listLive: () => string[];
  /** Ends the browser of one. */
  end: (sessionId: string) => Promise<void>;
}): BrowserClaims {
  const { db, log, logger, owner, handOver, listLive, end } = deps;
  const isLive = (sessionId: string) => listLive().includes(sessionId);

  async function letGo(sessionId: string): Promise<void> {
    if (!isLive(sessionId)) return;
    if ((await readHeldBrowser(db, sessionId, owner))?.holder !== "self") await end(sessionId);
  }
  const letGoSoon = (sessionId: string) =>
    void letGo(sessionId).catch((error) =>
      logger.warn({ sessionId, err: error }, "a browser was not let go"),
    );

  return {
    isElsewhere: async (sessionId) => (await readHeldBrowser(db, sessionId, owner))?.holder === "other",
    async read(sessionId) {
      const held = await readHeldBrowser(db, sessionId, owner);
      const isLost = held?.holder === "gone" || (held?.holder === "self" && !isLive(sessionId));
      return held && isLost ? { ...held.row, status: "expired", currentUrl: null } : held?.row;
    },
    tellTakenOver: (sessionId, holder) => handOver?.tell(`${sessionId} ${holder}`),
    async expireLost() {
      for (const { sessionId, isOwn } of await listClaims(db, owner)) {
        if (isOwn && isLive(sessionId)) continue;
        const session = await readBrowserSession(db, sessionId);
        if (!session) continue;
        await createStoredRecord({ db, log, logger, owner }, sessionId, session)
          .dropClaim()
          .catch((error) =>
            logger.debug({ sessionId, err: error }, "somebody else took note of a browser's end"),
          );
      }
    },
    follow() {
      const onWord = (word: string) => {
        const at = word.indexOf(" ");
        if (word.slice(at + 1) === owner.name) letGoSoon(word.slice(0, at));
      };
      return handOver?.listen(onWord, () => listLive().forEach(letGoSoon)) ?? (() => {});
    },
  };
}
