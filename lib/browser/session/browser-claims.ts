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
  /** @param onGap called when messages may have been missed. */
  subscribe: (onMessage: (message: string) => void, onGap: () => void) => () => void;
};

/** Determines from the stored records which process holds which browser. */
export type BrowserClaims = {
  /** Whether another running process holds the session's browser. */
  isElsewhere: (sessionId: string) => Promise<boolean>;
  /** Reads the row as clients see it: `expired` if the owning process has ended or does not run the browser any more. */
  read: (sessionId: string) => Promise<BrowserRow | undefined>;
  /** Notifies the previous holder of a browser that this process took it over. */
  notifyTakenOver: (sessionId: string, holder: string) => void;
  /** Records the end of browsers whose process has ended, and of this process's own browsers whose end was not recorded. */
  expireLost: () => Promise<void>;
  /**
   * Starts to listen for messages that another process has taken over a browser of this process, and ends that browser here.
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
