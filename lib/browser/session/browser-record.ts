import type { Database, Transaction } from "#db/client.ts";
import type { Emit, EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { BrowserEvent } from "./browser-machine.ts";
import {
  type BrowserFields,
  type BrowserOwner,
  type BrowserPatch,
  type BrowserRow,
  type BrowserSession,
  moveBrowser,
  openBrowserRow,
  patchBrowser,
  readBrowser,
  selectPage,
} from "./browser-store.ts";

/** What a row shows to clients, in the status endpoint and in `browser.status` events. */
type ShownFields = Pick<
  BrowserRow,
  "status" | "desiredUrl" | "lastNavigatedUrl" | "currentUrl" | "lastError"
>;

/**
 * Reads the fields that clients see. While the wanted page has not been reached, a `lastNavigatedUrl` equal to
 * `desiredUrl` is an earlier landing and reads null, so that a poll never takes it for the new one.
 * Source: `wire.md`, Browser status after a retarget.
 */
export function readShownFields(row: BrowserRow): ShownFields {
  const { status, desiredUrl, currentUrl, lastError, pageWant } = row;
  const isOnItsWay = pageWant === "selected" || pageWant === "returning";
  const isEarlierLanding = isOnItsWay && row.lastNavigatedUrl === desiredUrl;
  const lastNavigatedUrl = isEarlierLanding ? null : row.lastNavigatedUrl;
  return { status, desiredUrl, lastNavigatedUrl, currentUrl, lastError };
}

/** The stored record of one session's browser; every change of it is a `browser.status` event. */
export type StoredRecord = {
  read: () => Promise<BrowserRow | undefined>;
  /** Changes the status. @throws when the status does not allow the event, or another process owns the browser. */
  move: (event: BrowserEvent, fields?: BrowserFields) => Promise<BrowserRow>;
  /** Ends a claim on a browser that this process does not have. @returns who held it, if anybody did. */
  dropClaim: () => Promise<string | null>;
  /** Writes fields while the browser is `ready` and this process's; of the given retarget alone, where one is given. */
  patch: (patch: BrowserPatch, retargets?: number) => Promise<void>;
  /** As `patch`, but what comes in quick succession becomes one write. */
  note: (patch: BrowserPatch) => void;
  /** Emits `browser.waiting` at the first position of a wait, and at most once a second after that; 0 ends the wait. */
  noteWaiting: (position: number) => void;
  select: (url: string) => Promise<BrowserRow>;
  /** Waits for what was noted to be written. */
  settle: () => Promise<void>;
};

/** A page that changes its address in a loop makes no more events than this lets it, in milliseconds between two. */
const NOTE_INTERVAL_MS = 200;
/** A long line moves often: a session's position makes one event in this time, in milliseconds. */
const WAITING_INTERVAL_MS = 1_000;

/** Makes the record of one session; its writes happen one after the other. */
export function createStoredRecord(
  deps: { db: Database; log: EventLog; logger: Logger; owner: BrowserOwner },
  sessionId: string,
  session: BrowserSession,
): StoredRecord {
  const { db, log, logger, owner } = deps;
  let queue: Promise<unknown> = Promise.resolve();
  let noted: BrowserPatch | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastWriteMs = 0;
  const waiting = { position: 0, emitted: 0, timer: undefined as NodeJS.Timeout | undefined };

  function write<Result>(work: (tx: Transaction, emit: Emit) => Promise<Result>): Promise<Result> {
    const turn = queue.then(() => log.transact(sessionId, work));
    queue = turn.catch(() => {});
    return turn;
  }
  function announce(emit: Emit, row: BrowserRow): void {
    const ids = { requestId: null, runId: null, source: session.source };
    emit({ kind: "browser.status", ...ids, ...readShownFields(row) });
  }
  function patch(fields: BrowserPatch, retargets?: number): Promise<void> {
    lastWriteMs = Date.now();
    return write(async (tx, emit) => {
      const before = await readBrowser(tx, sessionId);
      if (!before || !changes(before, fields)) return;
      const row = await patchBrowser(tx, owner, sessionId, fields, retargets);
      if (row) announce(emit, row);
    });
  }
  /** What was noted is older than whatever is written next. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const fields = noted;
    noted = undefined;
    if (!fields) return Promise.resolve();
    return patch(fields).catch((error) =>
      logger.warn({ sessionId, err: error }, "browser record not written"),
    );
  }

  function emitWaiting(): void {
    waiting.timer = undefined;
    const { position } = waiting;
    if (position === waiting.emitted) return;
    waiting.emitted = position;
    waiting.timer = setTimeout(emitWaiting, WAITING_INTERVAL_MS).unref();
    const about = { requestId: null, runId: null, source: session.source };
    write(async (_tx, emit) => emit({ kind: "browser.waiting", ...about, position })).catch((error) =>
      logger.debug({ sessionId, err: error }, "the position of a waiting session was not recorded"),
    );
  }

  return {
    read: () => readBrowser(db, sessionId),
    async move(event, fields = {}) {
      void flush();
      return write(async (tx, emit) => {
        const from = await openBrowserRow(tx, sessionId, session.initialUrl);
        const isOurs = from.owner === null || from.owner === owner.name;
        const row =
          isOurs && (await moveBrowser(tx, owner, from, event, { ...fields, lastUsedAt: new Date() }));
        if (!row)
          throw new Error(`the browser of ${sessionId} was taken from ${from.status} by somebody else`);
        announce(emit, row);
        return row;
      });
    },
    async dropClaim() {
      void flush();
      return write(async (tx, emit) => {
        const from = await readBrowser(tx, sessionId);
        if (from?.status !== "ready" && from?.status !== "creating") return null;
        const event = from.status === "ready" ? "lost" : "abandoned";
        const row = await moveBrowser(tx, owner, from, event, { currentUrl: null, lastUsedAt: new Date() });
        if (!row)
          throw new Error(`the browser of ${sessionId} was taken from ${from.status} by somebody else`);
        announce(emit, row);
        return from.owner;
      });
    },
    async patch(fields, retargets) {
      void flush();
      await patch(fields, retargets);
    },
    note(fields) {
      noted = { ...noted, ...fields };
      const waitMs = lastWriteMs + NOTE_INTERVAL_MS - Date.now();
      if (waitMs <= 0) void flush();
      else timer ??= setTimeout(flush, waitMs).unref();
    },
    noteWaiting(position) {
      waiting.position = position;
      if (position > 0) {
        if (!waiting.timer) emitWaiting();
        return;
      }
      clearTimeout(waiting.timer);
      waiting.timer = undefined;
      waiting.emitted = 0;
    },
    select(url) {
      void flush();
      return write(async (tx, emit) => {
        const row = await selectPage(tx, sessionId, url);
        announce(emit, row);
        return row;
      });
    },
    async settle() {
      await flush();
      await queue;
    },
  };
}

function changes(row: BrowserRow, { reachedFor, ...fields }: BrowserPatch): boolean {
  if (reachedFor === row.retargets && row.pageWant !== "reached") return true;
  return Object.entries(fields).some(([key, value]) => row[key as keyof BrowserFields] !== value);
}
