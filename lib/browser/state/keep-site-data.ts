import type { BrowserContext, Frame, Page } from "playwright";
import type { Logger } from "#lib/log/logger.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { HoldRequests } from "../process/browser-egress.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { chooseChanges, describeStored, type StoredState } from "./choose-changes.ts";
import { createHiddenWork, type HiddenWork } from "./hidden-work.ts";
import {
  createDocumentReader,
  type DocumentReader,
  readStorage,
  type StorageReading,
} from "./read-open-documents.ts";
import { createSiteDataRestorer, type Restoration, type SiteDataRestorer } from "./restore-site-data.ts";
import type { SiteDataChange, StoredSiteData } from "./site-data.ts";
import { keyOfPage, parseStorageKey } from "./storage-key.ts";

/** Stores a change. @returns false if another browser of the session has started meanwhile. */
type Save = (change: Omit<SiteDataChange, "sessionId" | "generation">) => Promise<boolean>;

/**
 * The site data of a browser: cookies, and the local storage and databases of the origins that its pages have shown. It
 * is stored while the browser runs, and restored in the next browser of the session.
 */
export type SiteData = {
  /** Restores stored site data, before the first navigation. @see SiteDataRestorer.restore */
  restore: (stored: StoredSiteData) => Promise<void>;
  restoration: () => Restoration;
  /** Begins to store site data. */
  begin: (save: Save) => void;
  /** Stores site data soon, because the agent, a person or the page may have changed it. */
  saveSoon: () => void;
  /** Stores site data now. Never rejects; resolves after 8 s at the latest. */
  saveNow: () => Promise<void>;
  /** Ends the work in the background. */
  end: () => void;
};

type Deps = {
  context: BrowserContext;
  devtools: Devtools;
  guard: ListenerGuard;
  logger: Logger;
  /** Sets a function that the browser's requests to a host wait for. */
  holdRequests: (hold: HoldRequests) => void;
};

type Keeper = {
  deps: Deps;
  documents: DocumentReader;
  hidden: HiddenWork;
  restorer: SiteDataRestorer;
  save: Save | undefined;
  stored: StoredState;
  /** Origins of main frames that have not been read since they were shown. */
  visited: Set<string>;
  /** Settles when the latest save has ended. */
  saving: Promise<void>;
  timer: NodeJS.Timeout | undefined;
  /** When the next save may begin, in milliseconds of `performance.now`. */
  notBeforeMs: number;
  isEnded: boolean;
};

const SAVE_DELAY_MS = 500;
/** Saves may take this part of the time. Pages decide how much there is to read. */
const SHARE_OF_TIME = 1 / 10;
const SAVE_NOW_MS_MAX = 8_000;
const VISITED_MAX = 20;

/** @see SiteData */
export function keepSiteData(deps: Deps): SiteData {
  const { context, devtools, logger } = deps;
  const hidden = createHiddenWork(context, devtools);
  const restorer = createSiteDataRestorer({ context, hidden, logger });
  const keeper: Keeper = {
    deps,
    documents: createDocumentReader(context),
    hidden,
    restorer,
    save: undefined,
    stored: describeStored({ parts: [], unreadable: [] }),
    visited: new Set(),
    saving: Promise.resolve(),
    timer: undefined,
    notBeforeMs: 0,
    isEnded: false,
  };
  deps.holdRequests(restorer.hold);
  followPages(keeper);
  return {
    async restore(stored) {
      keeper.stored = describeStored(stored);
      await restorer.restore(stored);
    },
    restoration: () => restorer.restoration,
    begin(save) {
      keeper.save = save;
      saveSoon(keeper);
    },
    saveSoon: () => saveSoon(keeper),
    async saveNow() {
      clearTimeout(keeper.timer);
      keeper.timer = undefined;
      await createDeadline({ ms: SAVE_NOW_MS_MAX }).settles(enqueueSave(keeper, true));
    },
    end() {
      keeper.isEnded = true;
      hidden.end();
      clearTimeout(keeper.timer);
    },
  };
}

/** Notes the origins that main frames show: a page may leave an origin before it is read. */
function followPages(keeper: Keeper): void {
  const { context, guard } = keeper.deps;
  const onNavigated = (page: Page, frame: Frame) => {
    const url = frame === page.mainFrame() ? URL.parse(frame.url()) : null;
    if (url && /^https?:$/.test(url.protocol) && keeper.visited.size < VISITED_MAX)
      keeper.visited.add(url.origin);
    saveSoon(keeper);
  };
  const onPage = (page: Page) => {
    page.on(
      "framenavigated",
      guard((frame) => onNavigated(page, frame)),
    );
  };
  context.on("page", guard(onPage));
}

function saveSoon(keeper: Keeper): void {
  if (!keeper.save || keeper.timer || keeper.isEnded) return;
  const waitMs = Math.max(SAVE_DELAY_MS, keeper.notBeforeMs - performance.now());
  keeper.timer = setTimeout(() => {
    keeper.timer = undefined;
    void enqueueSave(keeper, false);
  }, waitMs).unref();
}

function enqueueSave(keeper: Keeper, isLast: boolean): Promise<void> {
  keeper.saving = keeper.saving.then(async () => {
    if (!keeper.save || keeper.isEnded) return;
    const beganMs = performance.now();
    try {
      await saveChanges(keeper, keeper.save, isLast);
    } catch (error) {
      if (!keeper.isEnded)
        keeper.deps.logger.debug({ err: error }, "the site data of a browser was not stored");
    }
    const endedMs = performance.now();
    keeper.notBeforeMs = endedMs + (endedMs - beganMs) / SHARE_OF_TIME;
  });
  return keeper.saving;
}

async function saveChanges(keeper: Keeper, save: Save, isLast: boolean): Promise<void> {
  const readings = await readAll(keeper);
  const cookies = await keeper.deps.context.cookies();
  const { change, next } = chooseChanges(keeper.stored, readings, cookies, Date.now());
  const isNeeded = change.changed.length + change.removed.length > 0 || (isLast && change.used.length > 0);
  if (!isNeeded) return;
  if (await save(change)) keeper.stored = next;
  // Another browser of the session stores its site data now.
  else keeper.save = undefined;
}

/** Reads the open documents, and the origins that main frames have left, in a hidden page. */
async function readAll({
  deps,
  documents,
  hidden,
  restorer,
  visited,
}: Keeper): Promise<Map<string, StorageReading>> {
  const origins = [...visited];
  visited.clear();
  const readings = await documents.read();
  const left = origins.filter((origin) => !readings.has(keyOfPage(origin)));
  if (left.length > 0 && hidden.isPossible)
    await hidden
      .run(async (page) => {
        for (const origin of left) {
          const key = parseStorageKey(keyOfPage(origin));
          const reading = key && (await readStorage(await page.visit(key), origin));
          if (reading) readings.set(keyOfPage(origin), reading);
        }
      })
      .catch((error: unknown) => {
        deps.logger.debug({ err: error }, "the storage of a site that a page has left was not read");
        for (const origin of left) if (!readings.has(keyOfPage(origin))) visited.add(origin);
      });
  for (const name of readings.keys()) if (restorer.isPending(name)) readings.delete(name);
  return readings;
}
