import type { Database, Transaction } from "#db/client.ts";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { faultPoint } from "#lib/events/fault-point.ts";
import { type IncomingMessage, toMessageRows } from "./incoming-message.ts";
import type { JobSender } from "./job-sender.ts";
import { type Job, requestRun } from "./jobs.ts";
import { nextMessageSeq } from "./message-store.ts";
import { newId } from "./new-id.ts";
import { enqueueJobs } from "./outbox-store.ts";
import {
  findRequestByIdempotencyKey,
  findRunByAttempt,
  insertRequest,
  listOpenRuns,
  nextRequestPosition,
} from "./run-store.ts";
import { lockSession } from "./store.ts";

/** A follow-up message, validated. */
export type NewFollowUp = {
  sessionId: string;
  messages: IncomingMessage[];
  mode: FollowUpMode;
  /** `person` only from the session page's own routes. */
  origin: "person" | "external";
  userId: string | null;
  idempotencyKey: string | null;
  bodyHash: string;
};

export type AcceptResult =
  | {
      status: "accepted" | "replayed";
      requestId: string;
      runId: string;
      queued: boolean;
      interrupts: string | null;
    }
  | { status: "reused" }
  | { status: "unknown_session" };

/**
 * Stores a follow-up as a request of its own with a pending run. It starts at once when nothing is open, and otherwise
 * waits for the turns before it, in order of arrival. Source: `wire.md`, Follow-ups.
 */
export async function acceptMessage(
  deps: { db: Database; jobs: JobSender },
  input: NewFollowUp,
): Promise<AcceptResult> {
  const send: Job[] = [];
  const result = await deps.db.transaction(async (tx): Promise<AcceptResult> => {
    const session = await lockSession(tx, input.sessionId);
    if (!session) return { status: "unknown_session" };
    const replay =
      input.idempotencyKey === null ? undefined : await readReplay(tx, input, input.idempotencyKey);
    if (replay) return replay;

    const open = await listOpenRuns(tx, input.sessionId);
    const isQueued = open.length > 0;
    const position = await nextRequestPosition(tx, input.sessionId);
    const firstSeq = isQueued ? null : await nextMessageSeq(tx, input.sessionId);
    const requestId = newId("req");
    const runId = newId("run");
    const { sessionId, mode, origin, userId, idempotencyKey, bodyHash } = input;
    await insertRequest(
      tx,
      { id: requestId, sessionId, position, mode, origin, userId, idempotencyKey, bodyHash },
      { id: runId, sessionId, requestId, attempt: 1, origin },
      toMessageRows(input.messages, { sessionId, requestId, userId, firstSeq }),
    );
    if (!isQueued) {
      send.push(requestRun({ id: runId, sessionId, generation: 1 }));
      await enqueueJobs(tx, send);
    }
    const interrupts = mode === "interrupt" ? (open[0]?.run.id ?? null) : null;
    return { status: "accepted", requestId, runId, queued: isQueued, interrupts };
  });
  await faultPoint("K25");
  deps.jobs.sendSoon(send);
  return result;
}

async function readReplay(
  tx: Transaction,
  input: NewFollowUp,
  key: string,
): Promise<AcceptResult | undefined> {
  const request = await findRequestByIdempotencyKey(tx, input.sessionId, key);
  if (!request) return undefined;
  if (request.bodyHash !== input.bodyHash) return { status: "reused" };
  const first = await findRunByAttempt(tx, request.id, 1);
  if (!first) throw new Error(`request ${request.id} has no run`);
  return {
    status: "replayed",
    requestId: request.id,
    runId: first.id,
    queued: first.state === "pending" && (await listOpenRuns(tx, request.sessionId))[0]?.run.id !== first.id,
    interrupts: null,
  };
}
