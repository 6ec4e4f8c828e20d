import type { Database, Transaction } from "#db/client.ts";
import type { Emit, EventLog } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { listOpenHandovers } from "#lib/session/store/handover-store.ts";
import { findOpenTurns } from "#lib/session/store/run-store.ts";
import type { BrowserRecords } from "../browser-records.ts";
import { ElsewhereError } from "../elsewhere-error.ts";
import { createStoredSiteData } from "../state/stored-site-data.ts";
import {
  type BrowserFields,
  type BrowserPatch,
  type BrowserRow,
  failPage,
  type HostedBrowser,
  listSharedInUse,
  lockSessionOfBrowser,
  moveBrowser,
  noteChange,
  openBrowserRow,
  patchBrowser,
  readBrowser,
  readBrowserSession,
  readHostedBrowser,
  readOwnedBrowserSession,
  selectPage,
} from "./browser-store.ts";
import { readPictureTimes, writePicture } from "./picture-store.ts";
import { enqueueSession, listPositions, takeNextInQueue } from "./queue-store.ts";
import { keepRecordedPicture } from "./recording-store.ts";

/** The fields of a row that clients see, in the status endpoint and in `browser.status` events. */
type ShownFields = Pick<
  BrowserRow,
  "status" | "desiredUrl" | "lastNavigatedUrl" | "currentUrl" | "lastError"
> & {
  /** Present only while a browser runs that was started again. */
  restartNotice?: string | undefined;
};

/**
 * Reads the fields that clients see. While the browser is still on its way to a page (`pageWant` is `selected` or
 * `returning`), a `lastNavigatedUrl` that equals `desiredUrl` is from an earlier navigation. It is then returned as
 * null, because a client that polls would take it for the outcome of the new navigation.
 */
export function readShownFields(row: BrowserRow): ShownFields {
  const { status, desiredUrl, currentUrl, lastError, pageWant, restartNotice } = row;
  const isOnItsWay = pageWant === "selected" || pageWant === "returning";
  const isEarlierLanding = isOnItsWay && row.lastNavigatedUrl === desiredUrl;
  const lastNavigatedUrl = isEarlierLanding ? null : row.lastNavigatedUrl;
  const shown = { status, desiredUrl, lastNavigatedUrl, currentUrl, lastError };
  return status === "ready" && restartNotice !== null ? { ...shown, restartNotice } : shown;
}

type StoreDeps = { db: Database; log: EventLog };
type RecordsDeps = StoreDeps & {
  sealer: Sealer;
  logger: Logger;
  /** `RECORDING_MAX_MB`, in bytes. */
  recordingBytesMax: number;
};

/** The queue for places among several hosts. */
export type HostQueue = {
  /** Tells a host that another host starts the browser of a session that waits at it. */
  onHandedOver: (handedOver: { sessionId: string; hostId: string }) => Promise<void>;
  /** Asks the other hosts for places for sessions that wait at this host. */
  onSeek: (count: number) => Promise<void>;
};

/**
 * Creates the records that the browser host with this id reads and changes.
 * @param queue undefined if the host neither hands over sessions nor takes them over.
 */
export function createStoredRecords(deps: RecordsDeps, hostId: string, queue?: HostQueue): BrowserRecords {
  const { db, log } = deps;
  return {
    async readSession(sessionId) {
      const found = await readOwnedBrowserSession(db, sessionId);
      if (!found) return undefined;
      const { ownerId, userId } = found.owner;
      return { ...found.session, ownerKey: deps.sealer.hash("browser-owner", [ownerId, userId]) };
    },
    read: (sessionId) => readBrowser(db, sessionId),
    async move({ sessionId, change, event, fields }) {
      const session = await readBrowserSession(db, sessionId);
      if (!session) throw new Error(`there is no session ${sessionId}`);
      const moved = await log.transact(sessionId, async (tx, emit) => {
        await lockSessionOfBrowser(tx, sessionId);
        const from = await openBrowserRow(tx, sessionId, session.initialUrl);
        if (from.lastChange === change) return from;
        const isOurs = from.hostId === null || from.hostId === hostId;
        const patch = { ...fields, lastUsedAt: new Date() };
        const row = isOurs ? await moveBrowser(tx, { hostId, change }, from, event, patch) : undefined;
        if (!row) throw new ElsewhereError(sessionId);
        await emitStatus(tx, emit, session.source, row);
        return row;
      });
      if (event === "provision") await faultPoint("browser-starting");
      if (event === "cameUp") await faultPoint("browser-navigating");
      return moved;
    },
    async dropClaim({ sessionId, change }) {
      await dropBrowser(deps, sessionId, change, ({ row, isLost }) => isLost || row.hostId === hostId);
    },
    async patch({ sessionId, change, fields, retargets }) {
      const session = await readBrowserSession(db, sessionId);
      if (!session) return;
      await log.transact(sessionId, async (tx, emit) => {
        const before = await readBrowser(tx, sessionId);
        if (!before || !changes(before, fields)) return;
        await lockSessionOfBrowser(tx, sessionId);
        const row = await patchBrowser(tx, { hostId, change }, sessionId, fields, retargets);
        if (row) await emitStatus(tx, emit, session.source, row);
      });
    },
    enqueue: ({ sessionId }) => enqueueSession(db, hostId, sessionId),
    async takeNext({ change }) {
      const next = await takeNextInQueue(db, hostId, change);
      if (!next) return null;
      const isOurs = next.from === hostId;
      // A host that is not told learns it when it renews its lease.
      if (!isOurs && next.from !== null)
        await queue?.onHandedOver({ sessionId: next.sessionId, hostId: next.from });
      return { sessionId: next.sessionId, isOurs };
    },
    listPositions: () => listPositions(db, hostId),
    seekElsewhere: async ({ count }) => queue?.onSeek(count),
    async emit({ sessionId, change, event }) {
      const session = await readBrowserSession(db, sessionId);
      if (!session) return;
      const ids = { requestId: null, runId: null, source: session.source };
      await log.transact(sessionId, async (tx, emit) => {
        await lockSessionOfBrowser(tx, sessionId);
        if (await noteChange(tx, sessionId, change)) emit({ ...ids, ...event });
      });
    },
    findOpenTurns: async (sessionIds) => [...(await findOpenTurns(db, sessionIds))],
    listSharedInUse: async (sessionIds) => [...(await listSharedInUse(db, sessionIds))],
    keepPicture: ({ sessionId, ...picture }) => writePicture(db, sessionId, picture),
    keepRecorded: (picture) => keepRecordedPicture(db, picture, deps.recordingBytesMax),
    isHandedOver: async ({ sessionId }) => (await listOpenHandovers(db, sessionId)).length > 0,
    ...createStoredSiteData(deps, hostId),
  };
}

/** Selects a page, see {@link selectPage}. @throws Error if there is no such session. */
export async function selectBrowserPage(
  { db, log }: StoreDeps,
  sessionId: string,
  url: string,
): Promise<BrowserRow> {
  const session = await readBrowserSession(db, sessionId);
  if (!session) throw new Error(`there is no session ${sessionId}`);
  return log.transact(sessionId, async (tx, emit) => {
    const row = await selectPage(tx, sessionId, url);
    await emitStatus(tx, emit, session.source, row);
    return row;
  });
}

/** Records why no host has begun to open a selected page, see {@link failPage}. */
export async function failBrowserPage(
  { db, log }: StoreDeps,
  sessionId: string,
  retargets: number,
  lastError: string,
): Promise<void> {
  const session = await readBrowserSession(db, sessionId);
  if (!session) return;
  await log.transact(sessionId, async (tx, emit) => {
    await lockSessionOfBrowser(tx, sessionId);
    const row = await failPage(tx, sessionId, retargets, lastError);
    if (row) await emitStatus(tx, emit, session.source, row);
  });
}

/**
 * Records the end of a browser that is recorded as starting or running, if `mayDrop` allows it.
 * @returns whether the end was recorded.
 */
export async function dropBrowser(
  { db, log }: StoreDeps,
  sessionId: string,
  change: string | null,
  mayDrop: (found: HostedBrowser) => boolean,
): Promise<boolean> {
  const session = await readBrowserSession(db, sessionId);
  if (!session) return false;
  return log.transact(sessionId, async (tx, emit) => {
    await lockSessionOfBrowser(tx, sessionId);
    const found = await readHostedBrowser(tx, sessionId);
    const from = found?.row;
    if (!found || (from?.status !== "ready" && from?.status !== "creating") || !mayDrop(found)) return false;
    const event = from.status === "ready" ? "lost" : "abandoned";
    // A session that waited at a lost host keeps its place in the queue.
    const patch = { currentUrl: null, lastUsedAt: new Date(), staysInQueue: found.isLost };
    const row = await moveBrowser(tx, { hostId: from.hostId ?? "", change }, from, event, patch);
    if (row) await emitStatus(tx, emit, session.source, row);
    return row !== undefined;
  });
}

/** Emits the fields that clients see. If the browser has ended, adds the time of the session's last picture. */
async function emitStatus(
  tx: Transaction,
  emit: Emit,
  source: Parameters<Emit>[0]["source"],
  row: BrowserRow,
): Promise<void> {
  const isGone = row.status === "expired" || row.status === "error";
  const takenAt = isGone ? (await readPictureTimes(tx, [row.sessionId])).get(row.sessionId) : undefined;
  const picture = isGone ? { pictureTakenAt: takenAt?.toISOString() ?? null } : undefined;
  emit({
    kind: "browser.status",
    requestId: null,
    runId: null,
    source,
    ...readShownFields(row),
    ...picture,
  });
}

function changes(row: BrowserRow, { reachedFor, ...fields }: BrowserPatch): boolean {
  if (reachedFor === row.retargets && row.pageWant !== "reached") return true;
  return Object.entries(fields).some(([key, value]) => row[key as keyof BrowserFields] !== value);
}
