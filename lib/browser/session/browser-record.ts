import type { Database, Transaction } from "#db/client.ts";
import type { NewEvent } from "#lib/events/event.ts";
import type { Emit, EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import { readPictureTimes } from "../view/picture-store.ts";
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

/** The fields of a row that clients see, in the status endpoint and in `browser.status` events. */
type ShownFields = Pick<
  BrowserRow,
  "status" | "desiredUrl" | "lastNavigatedUrl" | "currentUrl" | "lastError"
>;

/**
 * Reads the fields that clients see. While the browser is still on its way to a page (`pageWant` is `selected` or
 * `returning`), a `lastNavigatedUrl` that equals `desiredUrl` is from an earlier navigation. It is then returned as
 * null, because a client that polls would take it for the outcome of the new navigation.
 */
export function readShownFields(row: BrowserRow): ShownFields {
  const { status, desiredUrl, currentUrl, lastError, pageWant } = row;
  const isOnItsWay = pageWant === "selected" || pageWant === "returning";
  const isEarlierLanding = isOnItsWay && row.lastNavigatedUrl === desiredUrl;
  const lastNavigatedUrl = isEarlierLanding ? null : row.lastNavigatedUrl;
  return { status, desiredUrl, lastNavigatedUrl, currentUrl, lastError };
}

/** An event of a page, without the fields that all events have. */
type PageEvent = OwnFields<"browser.dialog"> | OwnFields<"browser.download">;
type OwnFields<Kind extends NewEvent["kind"]> = Omit<
  Extract<NewEvent, { kind: Kind }>,
  "requestId" | "runId" | "source"
>;

/** The stored record of one session's browser. Each change emits a `browser.status` event. */
export type StoredRecord = {
  read: () => Promise<BrowserRow | undefined>;
  /** Changes the status. @throws when the status does not allow the event, or when another process owns the browser. */
  move: (event: BrowserEvent, fields?: BrowserFields) => Promise<BrowserRow>;
  /**
   * Records the end of the browser if the record says that one runs or starts. Call it when this process runs no
   * browser of the session.
   * @returns the process that owned the browser; null if there was nothing to record, or if the record named no owner.
   * @throws Error when another process changes the record at the same time.
   */
  dropClaim: () => Promise<string | null>;
  /**
   * Writes fields if the browser is `ready` and this process owns it. If the number of a retarget (a client's request
   * to show another page) is given, writes only if this retarget is the newest.
   */
  patch: (patch: BrowserPatch, retargets?: number) => Promise<void>;
  /** Like `patch`, but combines several changes into one write. Such changes are called notes. */
  note: (patch: BrowserPatch) => void;
  /**
   * Emits `browser.waiting` with the session's position in the queue: once when the wait begins, and again when the
   * position has changed, but at most once a second. Pass 0 when the wait has ended; this emits no event.
   */
  noteWaiting: (position: number) => void;
  /** Emits an event of a page. Drops events after the first 30 of a minute, because a page may cause them in a loop. */
  emitPageEvent: (event: PageEvent) => void;
  /** Selects a page, see {@link selectPage}. */
  select: (url: string) => Promise<BrowserRow>;
  /** Waits until all notes are written. */
  settle: () => Promise<void>;
};

/** The shortest time between two writes of notes, in milliseconds. A page may change its address in a loop. */
const NOTE_INTERVAL_MS = 200;
const PAGE_EVENTS_PER_MINUTE = 30;
/** The shortest time between two events about a session's position in the queue, in milliseconds. */
const WAITING_INTERVAL_MS = 1_000;

type RecordDeps = { db: Database; log: EventLog; logger: Logger; owner: BrowserOwner };

type Recorder = {
  deps: RecordDeps;
  sessionId: string;
  session: BrowserSession;
  /** Settles when the latest write has ended. Each write waits for the previous write. */
  queue: Promise<unknown>;
  /** Fields that were passed to `note` but are not written yet. */
  noted: BrowserPatch | undefined;
  noteTimer: NodeJS.Timeout | undefined;
  lastWriteMs: number;
};

/** Creates the record of one session. Its writes run one after the other. */
export function createStoredRecord(
  deps: RecordDeps,
  sessionId: string,
  session: BrowserSession,
): StoredRecord {
  const recorder: Recorder = {
    deps,
    sessionId,
    session,
    queue: Promise.resolve(),
    noted: undefined,
    noteTimer: undefined,
    lastWriteMs: Number.NEGATIVE_INFINITY,
  };
  return {
    read: () => readBrowser(deps.db, sessionId),
    async move(event, fields = {}) {
      void flush(recorder);
      return move(recorder, event, fields);
    },
    async dropClaim() {
      void flush(recorder);
      return dropClaim(recorder);
    },
    async patch(fields, retargets) {
      void flush(recorder);
      await patch(recorder, fields, retargets);
    },
    note(fields) {
      recorder.noted = { ...recorder.noted, ...fields };
      const waitMs = recorder.lastWriteMs + NOTE_INTERVAL_MS - performance.now();
      if (waitMs <= 0) void flush(recorder);
      else recorder.noteTimer ??= setTimeout(() => flush(recorder), waitMs).unref();
    },
    noteWaiting: createWaitingNotes(recorder),
    emitPageEvent: createPageEventEmitter(recorder),
    select(url) {
      void flush(recorder);
      return write(recorder, async (tx, emit) => {
        const row = await selectPage(tx, sessionId, url);
        await emitStatus(recorder, tx, emit, row);
        return row;
      });
    },
    async settle() {
      await flush(recorder);
      await recorder.queue;
    },
  };
}

function write<Result>(
  recorder: Recorder,
  work: (tx: Transaction, emit: Emit) => Promise<Result>,
): Promise<Result> {
  const { deps, sessionId } = recorder;
  const turn = recorder.queue.then(() => deps.log.transact(sessionId, work));
  recorder.queue = turn.catch(() => {});
  return turn;
}

/** Emits the fields that clients see. If the browser has ended, adds the time of the session's last picture. */
async function emitStatus(
  { session, sessionId }: Recorder,
  tx: Transaction,
  emit: Emit,
  row: BrowserRow,
): Promise<void> {
  const ids = { requestId: null, runId: null, source: session.source };
  const isGone = row.status === "expired" || row.status === "error";
  const takenAt = isGone ? (await readPictureTimes(tx, [sessionId])).get(sessionId) : undefined;
  const picture = isGone ? { pictureTakenAt: takenAt?.toISOString() ?? null } : undefined;
  emit({ kind: "browser.status", ...ids, ...readShownFields(row), ...picture });
}

function move(recorder: Recorder, event: BrowserEvent, fields: BrowserFields): Promise<BrowserRow> {
  const { deps, sessionId, session } = recorder;
  return write(recorder, async (tx, emit) => {
    const from = await openBrowserRow(tx, sessionId, session.initialUrl);
    const isOurs = from.owner === null || from.owner === deps.owner.name;
    const patch = { ...fields, lastUsedAt: new Date() };
    const row = isOurs ? await moveBrowser(tx, deps.owner, from, event, patch) : undefined;
    if (!row) throw takenByOther(sessionId, from);
    await emitStatus(recorder, tx, emit, row);
    return row;
  });
}

function dropClaim(recorder: Recorder): Promise<string | null> {
  const { deps, sessionId } = recorder;
  return write(recorder, async (tx, emit) => {
    const from = await readBrowser(tx, sessionId);
    if (from?.status !== "ready" && from?.status !== "creating") return null;
    const event = from.status === "ready" ? "lost" : "abandoned";
    const patch = { currentUrl: null, lastUsedAt: new Date() };
    const row = await moveBrowser(tx, deps.owner, from, event, patch);
    if (!row) throw takenByOther(sessionId, from);
    await emitStatus(recorder, tx, emit, row);
    return from.owner;
  });
}

const takenByOther = (sessionId: string, from: BrowserRow) =>
  new Error(`the browser of ${sessionId} was taken from ${from.status} by another process`);

function patch(recorder: Recorder, fields: BrowserPatch, retargets?: number): Promise<void> {
  const { deps, sessionId } = recorder;
  recorder.lastWriteMs = performance.now();
  return write(recorder, async (tx, emit) => {
    const before = await readBrowser(tx, sessionId);
    if (!before || !changes(before, fields)) return;
    const row = await patchBrowser(tx, deps.owner, sessionId, fields, retargets);
    if (row) await emitStatus(recorder, tx, emit, row);
  });
}

function changes(row: BrowserRow, { reachedFor, ...fields }: BrowserPatch): boolean {
  if (reachedFor === row.retargets && row.pageWant !== "reached") return true;
  return Object.entries(fields).some(([key, value]) => row[key as keyof BrowserFields] !== value);
}

/** Writes the notes. Every other change of the record calls this first, so that the older notes are written first. */
async function flush(recorder: Recorder): Promise<void> {
  const { noted, deps, sessionId } = recorder;
  clearTimeout(recorder.noteTimer);
  recorder.noteTimer = undefined;
  recorder.noted = undefined;
  if (!noted) return;
  await patch(recorder, noted).catch((error) =>
    deps.logger.warn({ sessionId, err: error }, "the browser record was not written"),
  );
}

/** @see StoredRecord.noteWaiting */
function createWaitingNotes(recorder: Recorder): (position: number) => void {
  const { deps, sessionId, session } = recorder;
  const waiting = { position: 0, emitted: 0, timer: undefined as NodeJS.Timeout | undefined };

  function emitPosition(): void {
    waiting.timer = undefined;
    const { position } = waiting;
    if (position === waiting.emitted) return;
    waiting.emitted = position;
    waiting.timer = setTimeout(emitPosition, WAITING_INTERVAL_MS).unref();
    const ids = { requestId: null, runId: null, source: session.source };
    write(recorder, async (_tx, emit) => emit({ kind: "browser.waiting", ...ids, position })).catch((error) =>
      deps.logger.debug({ sessionId, err: error }, "the position of a waiting session was not recorded"),
    );
  }

  return (position) => {
    waiting.position = position;
    if (position > 0) {
      if (!waiting.timer) emitPosition();
      return;
    }
    clearTimeout(waiting.timer);
    waiting.timer = undefined;
    waiting.emitted = 0;
  };
}

/** @see StoredRecord.emitPageEvent */
function createPageEventEmitter(recorder: Recorder): (event: PageEvent) => void {
  const { deps, sessionId, session } = recorder;
  let minute = 0;
  let count = 0;
  return (event) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) count = 0;
    minute = now;
    count += 1;
    if (count > PAGE_EVENTS_PER_MINUTE) return;
    const ids = { requestId: null, runId: null, source: session.source };
    write(recorder, async (_tx, emit) => emit({ ...ids, ...event })).catch((error) =>
      deps.logger.warn({ sessionId, err: error }, "an event of a page was not stored"),
    );
  };
}
