import type { Database, Transaction } from "#db/client.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import { newId } from "../new-id.ts";
import type { RunRow } from "../run/run-store.ts";
import { lockSession } from "../session-store.ts";
import { type MessageRow, toTranscriptMessage } from "../transcript/transcript-store.ts";
import {
  insertOwnRuns,
  listUnreadSteers,
  lockUnreadSteer,
  lockUnreadSteers,
  placeSteers,
} from "./steering-store.ts";

export { hasUnreadSteers, unreadSteers } from "./steering-store.ts";

/** A message as the model is shown it. */
type SpokenMessage = { role: "user" | "assistant"; content: string };

/** A steer that a turn has just read: its messages with their places in the transcript, and as the model is shown them. */
type ReadSteer = { requestId: string; rows: TranscriptMessage[]; modelMessages: SpokenMessage[] };

/**
 * Reads the steers that joined any run of this run's request, in order of arrival: their messages take their places in
 * the transcript from `messageSeq` + 1 on. The caller has locked the run's row before (a reader that waits for it here
 * could stand in the way of whoever closes the run) and keeps `sessions.message_seq`. One statement where none waits.
 * A steer is read once: whoever comes second finds its messages in their places. Source: `wire.md`, Follow-ups.
 */
export async function takeSteers(
  tx: Transaction,
  run: { id: string; sessionId: string; requestId: string },
  messageSeq: number,
): Promise<ReadSteer[]> {
  const locked = await lockUnreadSteers(tx, run.requestId);
  if (locked.length === 0) return [];
  const byRequest = Map.groupBy(await placeSteers(tx, locked, messageSeq), (row) => row.requestId ?? "");
  return Array.from(byRequest, ([requestId, rows]) => ({
    requestId,
    rows: rows.map((row) => toTranscriptMessage(row, row.seq ?? 0)),
    modelMessages: rows.map(toSpokenMessage),
  }));
}

const toSpokenMessage = ({ role, parts }: MessageRow): SpokenMessage => ({
  role,
  content: parts.map((part) => ("text" in part ? part.text : "")).join("\n"),
});

/**
 * Makes requests of their own of the steers that a turn ended without reading, each with a pending run, in order of
 * arrival. The caller has locked the run's row and its session's, in this order, so that no steer joins meanwhile, and
 * plays what is first in playing order then. One statement where none waits.
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
 * Takes a steer out of the turn it joined, so that it can be ended without having been read: it gets a pending run of
 * its own. @returns that run's id; undefined where it is being read, or was.
 */
export function withdrawSteer(
  db: Database,
  sessionId: string,
  requestId: string,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    // The turn that it joined cannot close meanwhile, so whoever closes it finds the new run.
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
