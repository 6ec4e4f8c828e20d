import type { Logger } from "#lib/log/logger.ts";
import { withoutQuery } from "#lib/text/without-query.ts";
import type {
  BrowserFields,
  BrowserPatch,
  BrowserRecords,
  BrowserRow,
  PageEvent,
} from "../browser-records.ts";
import type { BrowserEvent } from "../store/browser-machine.ts";

/** The stored record of one session's browser. Each change emits a `browser.status` event. */
export type StoredRecord = {
  read: () => Promise<BrowserRow | undefined>;
  /** Changes the status. @throws when the status does not allow the event, or when another host has the browser. */
  move: (event: BrowserEvent, fields?: BrowserFields) => Promise<BrowserRow>;
  /** Records the end of the browser if the record says that this host runs or starts one. */
  dropClaim: () => Promise<void>;
  /**
   * Writes fields if the browser is `ready` and this host runs it. If the number of a retarget (a client's request to
   * show another page) is given, writes only if this retarget is the newest.
   */
  patch: (patch: BrowserPatch, retargets?: number) => Promise<void>;
  /** Like `patch`, but combines several changes into one write. Such changes are called notes. */
  note: (patch: BrowserPatch) => void;
  /** Puts the session into the queue of all hosts. */
  enqueue: () => Promise<void>;
  /**
   * Emits `browser.waiting` with the session's position in the queue: once when the wait begins, and again when the
   * position has changed, but at most once a second. Pass 0 when the wait has ended; this emits no event.
   */
  noteWaiting: (position: number) => void;
  /** Emits an event of a page. Drops events after the first 30 of a minute, because a page may cause them in a loop. */
  emitPageEvent: (event: PageEvent) => void;
  /** Waits until all notes are written. */
  settle: () => Promise<void>;
};

/** The shortest time between two writes of notes, in milliseconds. A page may change its address in a loop. */
const NOTE_INTERVAL_MS = 200;
const PAGE_EVENTS_PER_MINUTE = 30;
/** The shortest time between two events about a session's position in the queue, in milliseconds. */
const WAITING_INTERVAL_MS = 1_000;

type Recorder = {
  records: BrowserRecords;
  logger: Logger;
  /** Whether a person works in the page during a handover. */
  isPrivate: () => boolean;
  sessionId: string;
  /** Settles when the latest write has ended. Each write waits for the previous write. */
  queue: Promise<unknown>;
  /** Fields that were passed to `note` but are not written yet. */
  noted: BrowserPatch | undefined;
  noteTimer: NodeJS.Timeout | undefined;
  lastWriteMs: number;
};

/** Creates the record of one session. Its writes run one after the other. */
export function createStoredRecord(
  {
    records,
    logger,
    isPrivate = () => false,
  }: Pick<Recorder, "records" | "logger"> & Partial<Pick<Recorder, "isPrivate">>,
  sessionId: string,
): StoredRecord {
  const recorder: Recorder = {
    records,
    logger,
    isPrivate,
    sessionId,
    queue: Promise.resolve(),
    noted: undefined,
    noteTimer: undefined,
    lastWriteMs: Number.NEGATIVE_INFINITY,
  };
  return {
    read: () => records.read(sessionId),
    async move(event, fields = {}) {
      void flush(recorder);
      return write(recorder, (change) => records.move({ ...change, event, fields }));
    },
    async dropClaim() {
      void flush(recorder);
      await write(recorder, (change) => records.dropClaim(change));
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
    enqueue: () => write(recorder, () => records.enqueue({ sessionId })),
    noteWaiting: createWaitingNotes(recorder),
    emitPageEvent: createPageEventEmitter(recorder),
    async settle() {
      await flush(recorder);
      await recorder.queue;
    },
  };
}

/** Queues a write. The id of its change is new, and stays the same if the write is repeated after a lost connection. */
function write<Result>(
  recorder: Recorder,
  work: (change: { sessionId: string; change: string }) => Promise<Result>,
): Promise<Result> {
  const change = { sessionId: recorder.sessionId, change: crypto.randomUUID() };
  const turn = recorder.queue.then(() => work(change));
  recorder.queue = turn.catch(() => {});
  return turn;
}

function patch(recorder: Recorder, fields: BrowserPatch, retargets?: number): Promise<void> {
  recorder.lastWriteMs = performance.now();
  const isRetarget = retargets !== undefined || fields.reachedFor !== undefined;
  const shown = recorder.isPrivate() && !isRetarget ? withoutQueries(fields) : fields;
  return write(recorder, (change) => recorder.records.patch({ ...change, fields: shown, retargets }));
}

/** A form may send what a person typed in the query of an address. */
function withoutQueries(fields: BrowserPatch): BrowserPatch {
  const { currentUrl, lastNavigatedUrl } = fields;
  return {
    ...fields,
    ...(currentUrl && { currentUrl: withoutQuery(currentUrl) }),
    ...(lastNavigatedUrl && { lastNavigatedUrl: withoutQuery(lastNavigatedUrl) }),
  };
}

/** Writes the notes. Every other change of the record calls this first, so that the older notes are written first. */
async function flush(recorder: Recorder): Promise<void> {
  const { noted, logger, sessionId } = recorder;
  clearTimeout(recorder.noteTimer);
  recorder.noteTimer = undefined;
  recorder.noted = undefined;
  if (!noted) return;
  await patch(recorder, noted).catch((error) =>
    logger.warn({ sessionId, err: error }, "the browser record was not written"),
  );
}

/** @see StoredRecord.noteWaiting */
function createWaitingNotes(recorder: Recorder): (position: number) => void {
  const { logger, sessionId } = recorder;
  const waiting = { position: 0, emitted: 0, timer: undefined as NodeJS.Timeout | undefined };

  function emitPosition(): void {
    waiting.timer = undefined;
    const { position } = waiting;
    if (position === waiting.emitted) return;
    waiting.emitted = position;
    waiting.timer = setTimeout(emitPosition, WAITING_INTERVAL_MS).unref();
    const event = { kind: "browser.waiting", position } as const;
    write(recorder, (change) => recorder.records.emit({ ...change, event })).catch((error) =>
      logger.debug({ sessionId, err: error }, "the position of a waiting session was not recorded"),
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
  const { logger, sessionId } = recorder;
  let minute = 0;
  let count = 0;
  return (event) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) count = 0;
    minute = now;
    count += 1;
    if (count > PAGE_EVENTS_PER_MINUTE) return;
    write(recorder, (change) => recorder.records.emit({ ...change, event })).catch((error) =>
      logger.warn({ sessionId, err: error }, "an event of a page was not stored"),
    );
  };
}
