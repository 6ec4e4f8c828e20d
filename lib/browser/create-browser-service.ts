import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { BrowserRecord, BrowserService, HostBrowsers } from "./browser-service.ts";
import {
  type BrowserRow,
  listBrowsersOf,
  listLostBrowsers,
  readBrowserSession,
  readHostedBrowser,
} from "./store/browser-store.ts";
import { readPagePicture, readPictureTimes } from "./store/picture-store.ts";
import { dropBrowser, failBrowserPage, readShownFields, selectBrowserPage } from "./store/stored-records.ts";

/** The browsers as a process of the service reaches them: those of one host, or of all hosts. */
export type ReachedBrowsers = Omit<
  HostBrowsers,
  | "ensure"
  | "hold"
  | "lease"
  | "takeRestartNote"
  | "takeViewportNote"
  | "readLastError"
  | "listLive"
  | "listUp"
  | "reapIdle"
  | "input"
  | "copy"
  | "paste"
  | "setViewport"
  | "act"
  | "readField"
  | "addressOf"
> &
  Pick<
    BrowserService,
    "lease" | "drive" | "copy" | "paste" | "setViewport" | "act" | "control" | "readControl" | "noteHandover"
  > & {
    /** Ends idle browsers. @param listRecorded lists the sessions that are recorded at a host. */
    reapIdle: (listRecorded: (hostId: string) => Promise<string[]>) => Promise<number>;
  };

type BrowserServiceDeps = { db: Database; log: EventLog; logger: Logger; browsers: ReachedBrowsers };

/** Creates the browser service of a process: the browsers of hosts, and what the database records about them. */
export function createBrowserService(deps: BrowserServiceDeps): BrowserService {
  const { db, logger, browsers } = deps;
  return {
    ...browsers,
    readStatus: (sessionId) => readStatus(db, sessionId),
    async retarget(sessionId, url) {
      const { retargets } = await selectBrowserPage(deps, sessionId, url);
      browsers.goTo(sessionId, url, retargets).catch(async (error: unknown) => {
        logger.debug({ sessionId, err: error }, "no browser could be started for a retarget");
        await failBrowserPage(deps, sessionId, retargets, describeFailure(error)).catch((failure: unknown) =>
          logger.warn({ sessionId, err: failure }, "the failure of a retarget was not recorded"),
        );
      });
    },
    readPicture: (sessionId) => readPagePicture(db, sessionId),
    readPictureTimes: (sessionIds) => readPictureTimes(db, sessionIds),
    async reapIdle() {
      const ended = await browsers.reapIdle((hostId) => listBrowsersOf(db, hostId));
      await expireLost(deps);
      return ended;
    },
  };
}

/** Describes to a client why the browser of a session did not get its request. Links keep names, but not classes. */
function describeFailure(error: unknown): string {
  const { name, message } = error as Error;
  return name === "UnreachableHostError" || name === "LinkEndedError"
    ? message
    : "The browser could not be started; try again later.";
}

/** Records the end of all browsers whose host is lost. */
export async function expireLost(deps: Pick<BrowserServiceDeps, "db" | "log" | "logger">): Promise<void> {
  for (const { sessionId } of await listLostBrowsers(deps.db))
    if (await dropBrowser(deps, sessionId, null, ({ isLost }) => isLost))
      deps.logger.warn({ sessionId }, "the browser host of a session was lost");
}

async function readStatus(db: Database, sessionId: string): Promise<BrowserRecord> {
  const found = await readHostedBrowser(db, sessionId);
  if (found) {
    const { row, isLost } = found;
    return toRecord(sessionId, isLost ? { ...row, status: "expired", currentUrl: null } : row);
  }
  const session = await readBrowserSession(db, sessionId);
  return {
    ...NO_BROWSER,
    sessionId: session ? sessionId : null,
    desiredUrl: session?.initialUrl ?? null,
  };
}

const NO_BROWSER: BrowserRecord = {
  status: "idle",
  sessionId: null,
  liveViewUrl: null,
  desiredUrl: null,
  lastNavigatedUrl: null,
  currentUrl: null,
  lastError: null,
};

function toRecord(sessionId: string, row: BrowserRow): BrowserRecord {
  const liveViewUrl = row.status === "ready" ? `/s/${sessionId}/live` : null;
  return { ...readShownFields(row), sessionId, liveViewUrl };
}
