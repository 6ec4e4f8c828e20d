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

/** Exchanges text messages with the other processes that share the database. */
export type HandOver = {
  publish: (message: string) => void;
  /** Calls `onGap` when messages may have been missed. @returns a function that ends the subscription. */
  subscribe: (onMessage: (message: string) => void, onGap: () => void) => () => void;
};

/** Determines from the stored records which process holds (runs or starts) the browser of a session. */
export type BrowserClaims = {
  /** Whether another running process holds the session's browser. */
  isElsewhere: (sessionId: string) => Promise<boolean>;
  /**
   * Reads the browser's row as clients see it. The status is `expired` if the owning process no longer runs the
   * browser.
   */
  read: (sessionId: string) => Promise<BrowserRow | undefined>;
  /** Notifies the process `holder` that this process has taken over the session's browser. */
  notifyTakenOver: (sessionId: string, holder: string) => void;
  /**
   * Records the end of all browsers whose owning process has ended. Does the same for browsers of this process that are
   * recorded as running or starting, but do not run or start any more.
   */
  expireLost: () => Promise<void>;
  /**
   * Starts to listen for messages about takeovers. When another process has taken over a browser of this process, ends
   * the browser that runs in this process.
   * @returns a function that stops listening.
   */
  follow: () => () => void;
};

/** @see BrowserClaims */
export function createBrowserClaims(deps: {
  db: Database;
  log: EventLog;
  logger: Logger;
  owner: BrowserOwner;
  handOver: HandOver | undefined;
  /** Returns the sessions whose browser runs or starts in this process. */
  listLive: () => string[];
  isLive: (sessionId: string) => boolean;
  /** Ends the browser of one session. */
  end: (sessionId: string) => Promise<void>;
}): BrowserClaims {
  const { db, log, logger, owner, handOver, listLive, isLive, end } = deps;

  async function endIfTakenOver(sessionId: string): Promise<void> {
    if (!isLive(sessionId)) return;
    if ((await readHeldBrowser(db, sessionId, owner))?.holder !== "self") await end(sessionId);
  }
  const endIfTakenOverSoon = (sessionId: string) =>
    void endIfTakenOver(sessionId).catch((error) =>
      logger.warn({ sessionId, err: error }, "ending a browser that another process took over failed"),
    );

  return {
    isElsewhere: async (sessionId) => (await readHeldBrowser(db, sessionId, owner))?.holder === "other",
    async read(sessionId) {
      const claim = await readHeldBrowser(db, sessionId, owner);
      const isLost = claim?.holder === "gone" || (claim?.holder === "self" && !isLive(sessionId));
      return claim && isLost ? { ...claim.row, status: "expired", currentUrl: null } : claim?.row;
    },
    notifyTakenOver: (sessionId, holder) => handOver?.publish(`${sessionId} ${holder}`),
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
      const onMessage = (message: string) => {
        const at = message.indexOf(" ");
        if (message.slice(at + 1) === owner.name) endIfTakenOverSoon(message.slice(0, at));
      };
      return handOver?.subscribe(onMessage, () => listLive().forEach(endIfTakenOverSoon)) ?? (() => {});
    },
  };
}
