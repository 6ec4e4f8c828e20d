import type { Database, Transaction } from "#db/client.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import { newId } from "../new-id.ts";
import type { RunRow } from "../store/run-store.ts";
import { lockSession } from "../store/session-store.ts";
import {
  insertOwnRuns,
  insertSteers,
  listUnreadSteers,
  lockUnreadSteer,
  lockUnreadSteers,
} from "../store/steering-store.ts";
import { toTranscriptMessage } from "../store/transcript-store.ts";

export { hasUnreadSteers, unreadSteers } from "../store/steering-store.ts";

/** A steer, which is a request that joined the turn of another request and was read there. */
type ReadSteer = { requestId: string; rows: TranscriptMessage[] };

/**
 * Reads the unread steers that joined this run or another run of the same request, in order of arrival. Adds their
 * messages to the transcript, starting at `messageSeq` + 1, so that no other call reads them again. If there are no
 * steers, this runs only one statement.
 *
 * The caller must already hold the lock on the run's row, to avoid a deadlock with a transaction that closes the run.
 * The caller must also update `sessions.message_seq`. Source: `wire.md`, Follow-ups.
 */
export async function consumeSteers(
  tx: Transaction,
  run: { id: string; sessionId: string; requestId: string },
  messageSeq: number,
): Promise<ReadSteer[]> {
  const locked = await lockUnreadSteers(tx, run.requestId);
  if (locked.length === 0) return [];
  const byRequest = Map.groupBy(await insertSteers(tx, locked, messageSeq), (row) => row.requestId ?? "");
  return Array.from(byRequest, ([requestId, rows]) => ({
    requestId,
    rows: rows.map((row) => toTranscriptMessage(row, row.seq ?? 0)),
  }));
}

/**
 * Turns the steers that a turn did not read into separate requests, each with a pending run, in order of arrival. If
 * there are no steers, this runs only one statement. The caller must have locked the run's row and then the session's
 * row, so that no steer joins concurrently. Afterwards, the caller must play the first open run in playing order.
 */
export async function releaseSteers(
  tx: Transaction,
  run: { sessionId: string; requestId: string },
): Promise<RunRow[]> {
  if ((await lockUnreadSteers(tx, run.requestId)).length === 0) return [];
  const unread = await listUnreadSteers(tx, run.requestId);
  return insertOwnRuns(
    tx,
    unread.map(({ id, origin }) => ownRun(run.sessionId, id, origin)),
  );
}

/**
 * Removes a steer from the turn that it joined, and inserts a pending run for it. The caller can cancel this run.
 *
 * @returns the id of the run; undefined if the session has no unread steer with this id, or if a turn is reading it.
 */
export function withdrawSteer(
  db: Database,
  sessionId: string,
  requestId: string,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    // Prevents other transactions from closing the turn now. A transaction that closes the turn later finds the new
    // run.
    await lockSession(tx, sessionId);
    const request = await lockUnreadSteer(tx, sessionId, requestId);
    if (!request) return undefined;
    const [run] = await insertOwnRuns(tx, [ownRun(sessionId, request.id, request.origin)]);
    return run?.id;
  });
}

const ownRun = (sessionId: string, requestId: string, origin: RunRow["origin"]) => ({
  id: newId("run"),
  sessionId,
  requestId,
  attempt: 1,
  origin,
});
