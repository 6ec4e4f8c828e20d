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

/** Sends short messages between the processes that share a database. */
export type HandOver = {
  publish: (word: string) => void;
  /** @param onGap called when messages may have been missed. */
  subscribe: (onWord: (word: string) => void, onGap: () => void) => () => void;
};

/** Which process holds which browser, by the stored records. */
export type BrowserClaims = {
  /** Whether another running process holds the session's browser. */
  isElsewhere: (sessionId: string) => Promise<boolean>;
  /** The row as clients see it: a browser whose process no longer has it is `expired`. */
  read: (sessionId: string) => Promise<BrowserRow | undefined>;
  /** Notifies the previous holder of a browser that it was taken over. */
  tellTakenOver: (sessionId: string, holder: string) => void;
  /** Records the end of browsers whose process has gone, and of our own whose end was not written. */
  expireLost: () => Promise<void>;
  /** Starts to end browsers that other processes take over. @returns a function that stops it. */
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
  /** Ends the browser of one session. */
  end: (sessionId: string) => Promise<void>;
}): BrowserClaims {
  const { db, log, logger, owner, handOver, listLive, end } = deps;
  const isLive = (sessionId: string) => listLive().includes(sessionId);

  async function endIfTakenOver(sessionId: string): Promise<void> {
    if (!isLive(sessionId)) return;
    if ((await readHeldBrowser(db, sessionId, owner))?.holder !== "self") await end(sessionId);
  }
  const endIfTakenOverSoon = (sessionId: string) =>
    void endIfTakenOver(sessionId).catch((error) =>
      logger.warn({ sessionId, err: error }, "a browser that was taken over could not be ended"),
    );

  return {
    isElsewhere: async (sessionId) => (await readHeldBrowser(db, sessionId, owner))?.holder === "other",
    async read(sessionId) {
      const held = await readHeldBrowser(db, sessionId, owner);
      const isLost = held?.holder === "gone" || (held?.holder === "self" && !isLive(sessionId));
      return held && isLost ? { ...held.row, status: "expired", currentUrl: null } : held?.row;
    },
    tellTakenOver: (sessionId, holder) => handOver?.publish(`${sessionId} ${holder}`),
    async expireLost() {
      for (const { sessionId, isOwn } of await listClaims(db, owner)) {
        if (isOwn && isLive(sessionId)) continue;
        const session = await readBrowserSession(db, sessionId);
        if (!session) continue;
        await createStoredRecord({ db, log, logger, owner }, sessionId, session)
          .dropClaim()
          .catch((error) =>
            logger.debug({ sessionId, err: error }, "another process recorded the end of a browser"),
          );
      }
    },
    follow() {
      const onWord = (word: string) => {
        const at = word.indexOf(" ");
        if (word.slice(at + 1) === owner.name) endIfTakenOverSoon(word.slice(0, at));
      };
      return handOver?.subscribe(onWord, () => listLive().forEach(endIfTakenOverSoon)) ?? (() => {});
    },
  };
}
