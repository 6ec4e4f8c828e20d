import { createHash } from "node:crypto";
import type { BrowserContext, Frame, Page } from "playwright";
import { callInjected } from "#lib/injected/call-injected.ts";
import type { Logger } from "#lib/log/logger.ts";
import { hostAndPort } from "#lib/net/address/address-rule.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { HoldRequests } from "../process/browser-egress.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { type HiddenPage, openHiddenPage } from "./hidden-page.ts";
import { readOpenDocuments, readStorage, type StorageReading } from "./read-open-documents.ts";
import {
  byteLength,
  COOKIES_PART,
  type CookiesPart,
  chooseLeftOut,
  limitCookies,
  ORIGINS_MAX,
  type SiteDataChange,
  type SiteDataPart,
  type StoredSiteData,
} from "./site-data.ts";
import { keyOfPage, parseStorageKey, type StorageKey } from "./storage-key.ts";

/** What became available again when a browser started. */
export type Restoration = {
  /** `none`: nothing was stored. `failed`: something was stored, and cookies could not be restored. */
  outcome: "restored" | "none" | "failed";
  /** The origins whose storage was too large to be stored, or could not be restored. */
  lost: string[];
};

/** Stores a change. @returns false if another browser of the session has started meanwhile. */
type Save = (change: Omit<SiteDataChange, "sessionId" | "generation">) => Promise<boolean>;

/**
 * The site data of a browser: cookies, and the local storage and databases of the origins that its pages have shown. It
 * is stored while the browser runs, and restored in the next browser of the session.
 */
export type SiteData = {
  /**
   * Restores cookies. What an origin has stored is restored when the browser connects to it for the first time, before
   * its scripts run.
   */
  restore: (stored: StoredSiteData) => Promise<void>;
  restoration: () => Restoration;
  /** Begins to store site data. */
  begin: (save: Save) => void;
  /** Stores site data soon, because the agent, a person or the page may have changed it. */
  saveSoon: () => void;
  /** Stores site data now. Never rejects; resolves after 10 s at the latest. */
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

type Known = { bytes: number; hash: string; usedAtMs: number };

type Keeper = {
  deps: Deps;
  save: Save | undefined;
  /** The stored parts, by name. */
  known: Map<string, Known>;
  /** Storage that was not restored yet, by storage key. */
  pending: Map<string, { key: StorageKey; text: string }>;
  /** Origins of main frames that have not been read since they were shown. */
  visited: Set<string>;
  /** Storage keys whose data is too large. */
  leftOut: Set<string>;
  restoration: Restoration;
  /** Restorations in progress, by host and port. */
  restoring: Map<string, Promise<unknown>>;
  /** The hidden page does one thing at a time. */
  hidden: Promise<unknown>;
  saving: Promise<void>;
  timer: NodeJS.Timeout | undefined;
  /** When the next save may begin, in milliseconds of `performance.now`. */
  notBeforeMs: number;
  isEnded: boolean;
};

const SAVE_DELAY_MS = 500;
/** A save may take this part of the time. Pages decide how much there is to read. */
const SHARE_OF_TIME = 1 / 10;
const SAVE_NOW_MS_MAX = 10_000;
const HIDDEN_MS_MAX = 15_000;
const VISITED_MAX = 20;

/** @see SiteData */
export function keepSiteData(deps: Deps): SiteData {
  const keeper: Keeper = {
    deps,
    save: undefined,
    known: new Map(),
    pending: new Map(),
    visited: new Set(),
    leftOut: new Set(),
    restoration: { outcome: "none", lost: [] },
    restoring: new Map(),
    hidden: Promise.resolve(),
    saving: Promise.resolve(),
    timer: undefined,
    notBeforeMs: 0,
    isEnded: false,
  };
  deps.holdRequests((host) => restoreForHost(keeper, host));
  followPages(keeper);
  return {
    restore: (stored) => restore(keeper, stored),
    restoration: () => keeper.restoration,
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

async function restore(keeper: Keeper, { parts, unreadable }: StoredSiteData): Promise<void> {
  const { deps, known, pending, restoration } = keeper;
  if (parts.length + unreadable === 0) return;
  restoration.outcome = unreadable > 0 ? "failed" : "restored";
  for (const { name, text, usedAtMs } of parts) {
    known.set(name, { bytes: byteLength(text), hash: hashOf(text), usedAtMs });
    const key = parseStorageKey(name);
    if (key && deps.devtools.createHidden) pending.set(name, { key, text });
    else if (key) restoration.lost.push(key.origin);
  }
  const text = parts.find(({ name }) => name === COOKIES_PART)?.text;
  if (text === undefined) return;
  const { cookies, leftOut } = JSON.parse(text) as CookiesPart;
  for (const name of leftOut) {
    keeper.leftOut.add(name);
    restoration.lost.push(parseStorageKey(name)?.origin ?? name);
  }
  try {
    await deps.context.addCookies(cookies);
  } catch {
    // One cookie that is refused makes the whole call fail.
    const added = await Promise.allSettled(cookies.map((cookie) => deps.context.addCookies([cookie])));
    if (added.every(({ status }) => status === "rejected")) restoration.outcome = "failed";
  }
}

/** Restores what the origins of a host have stored. Undefined if nothing is left to restore. */
function restoreForHost(keeper: Keeper, host: string): Promise<unknown> | undefined {
  const { pending, restoring } = keeper;
  const names = [...pending].flatMap(([name, { key }]) => (hostOf(key.origin) === host ? [name] : []));
  if (names.length === 0) return undefined;
  const restored =
    restoring.get(host) ??
    withHiddenPage(keeper, async (page) => {
      for (const name of names) await restoreStorage(keeper, page, name);
    })
      .catch((error: unknown) => {
        keeper.deps.logger.warn({ err: error }, "the storage of a site was not restored");
        for (const name of names) keeper.restoration.lost.push(parseStorageKey(name)?.origin ?? name);
      })
      .finally(() => {
        restoring.delete(host);
        for (const name of names) pending.delete(name);
      });
  restoring.set(host, restored);
  return restored;
}

async function restoreStorage(keeper: Keeper, page: HiddenPage, name: string): Promise<void> {
  const stored = keeper.pending.get(name);
  if (!stored) return;
  const { key, text } = stored;
  const failed = await callInjected(await page.visit(key), "site-data", "writeSiteStorage", [
    key.origin,
    text,
  ]);
  if (failed > 0) keeper.restoration.lost.push(key.origin);
}

/** Does something in a hidden page, after everything else that is done there. */
function withHiddenPage<Result>(
  keeper: Keeper,
  work: (page: HiddenPage) => Promise<Result>,
): Promise<Result> {
  const { context, devtools } = keeper.deps;
  const turn = keeper.hidden.then(async () => {
    const [page] = context.pages();
    if (!page || keeper.isEnded) throw new Error("the browser is closing");
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send("Target.getTargetInfo");
    session.detach().catch(() => {});
    const hidden = await openHiddenPage(devtools, String(targetInfo.browserContextId));
    try {
      return await createDeadline({
        ms: HIDDEN_MS_MAX,
        lateMessage: "the hidden page did not answer",
      }).race(work(hidden));
    } finally {
      hidden.close();
    }
  });
  keeper.hidden = turn.catch(() => {});
  return turn;
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
    const { save, deps } = keeper;
    if (!save || keeper.isEnded) return;
    const beganMs = performance.now();
    try {
      await saveChanges(keeper, save, isLast);
    } catch (error) {
      if (!keeper.isEnded) deps.logger.debug({ err: error }, "the site data of a browser was not stored");
    }
    const endedMs = performance.now();
    keeper.notBeforeMs = endedMs + (endedMs - beganMs) / SHARE_OF_TIME;
  });
  return keeper.saving;
}

async function saveChanges(keeper: Keeper, save: Save, isLast: boolean): Promise<void> {
  const { known, leftOut } = keeper;
  const readings = await readAll(keeper);
  const nowMs = Date.now();
  const parts = new Map<string, SiteDataPart>();
  const removed = new Set<string>();
  for (const [name, reading] of readings) {
    leftOut.delete(name);
    if (reading.kind === "data") parts.set(name, { name, text: reading.text, usedAtMs: nowMs });
    else removed.add(name);
    if (reading.kind === "large") leftOut.add(name);
  }
  const next = new Map(known);
  for (const name of removed) next.delete(name);
  for (const { name, text } of parts.values())
    next.set(name, { bytes: byteLength(text), hash: hashOf(text), usedAtMs: nowMs });
  for (const name of chooseLeftOut([...next].map(([name, each]) => ({ name, ...each })))) {
    next.delete(name);
    parts.delete(name);
    removed.add(name);
    leftOut.add(name);
  }
  for (const name of [...leftOut].slice(0, -ORIGINS_MAX)) leftOut.delete(name);
  const cookies = limitCookies(await keeper.deps.context.cookies());
  const text = JSON.stringify({ cookies, leftOut: [...leftOut] } satisfies CookiesPart);
  parts.set(COOKIES_PART, { name: COOKIES_PART, text, usedAtMs: nowMs });
  next.set(COOKIES_PART, { bytes: byteLength(text), hash: hashOf(text), usedAtMs: nowMs });

  const [changed, used] = [[] as SiteDataPart[], [] as string[]];
  for (const part of parts.values())
    if (known.get(part.name)?.hash !== next.get(part.name)?.hash) changed.push(part);
    else used.push(part.name);
  const gone = [...removed].filter((name) => known.has(name));
  if (changed.length + gone.length === 0 && !(isLast && used.length > 0)) return;
  const isStored = await save({ changed, removed: gone, used });
  // Another browser of the session stores its site data now.
  if (!isStored) keeper.save = undefined;
  else keeper.known = next;
}

/** Reads the open documents, and the origins that main frames have left, in a hidden page. */
async function readAll(keeper: Keeper): Promise<Map<string, StorageReading>> {
  const { deps, visited } = keeper;
  const origins = [...visited];
  visited.clear();
  const readings = await readOpenDocuments(deps.context);
  const left = origins.filter((origin) => !readings.has(keyOfPage(origin)));
  if (left.length > 0 && deps.devtools.createHidden)
    await withHiddenPage(keeper, async (page) => {
      for (const origin of left) {
        const key = parseStorageKey(keyOfPage(origin));
        const reading = key && (await readStorage(await page.visit(key), origin));
        if (reading) readings.set(keyOfPage(origin), reading);
      }
    }).catch((error: unknown) =>
      deps.logger.debug({ err: error }, "the storage of a site that a page has left was not read"),
    );
  for (const name of keeper.pending.keys()) readings.delete(name);
  return readings;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");

/** Returns the host and port of an origin, as the proxy names them. */
function hostOf(origin: string): string {
  const { hostname, port } = hostAndPort(new URL(origin));
  return `${hostname}:${port}`;
}
