import type { Transaction } from "#db/client.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import type { Job } from "#lib/session/jobs.ts";
import { listRequestMessages, toTranscriptMessage } from "#lib/session/message-store.ts";
import { aboutRun } from "./about-run.ts";
import type { Claim } from "./claim.ts";
import { emitLifecycle } from "./emit-lifecycle.ts";
import { prepareRun } from "./prepare-run.ts";
import { findRecorded, type Recorded, recordStep } from "./record-step.ts";
import { placeMessage, startRun, takePlaces, upsertDeliverable } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/**
 * Starts a claimed run: `run.started`, the request's messages in the transcript, the pending deliverable of a
 * structured session, and the callback row, in one transaction.
 */
export async function openRun(turn: TurnDeps, claim: Claim): Promise<Recorded<Record<string, never>>> {
  const recorded = await findRecorded<Record<string, never>>(turn, claim, "open");
  if (recorded) return recorded;
  const { session } = await prepareRun(turn, claim);
  const send: Job[] = [];
  const opened = await recordStep(turn, claim, "open", async (tx, emit) => {
    await startRun(tx, claim.runId, new Date());
    emitLifecycle(tx, emit, session.callbackEvents, send, {
      kind: "run.started",
      ...aboutRun(claim),
      attempt: claim.attempt,
      origin: claim.origin,
    });
    if (claim.attempt === 1) {
      for (const message of await placeMessages(tx, claim))
        emit({ kind: "message.completed", ...aboutRun(claim), message });
    }
    if (claim.isStructured) {
      await upsertDeliverable(tx, { runId: claim.runId, sessionId: claim.sessionId, status: "pending" });
      emit({
        kind: "deliverable.pending",
        ...aboutRun(claim),
        deliverable: { runId: claim.runId, status: "pending" },
      });
    }
    return { output: {} };
  });
  turn.jobs.sendSoon(send);
  return opened;
}

/** The request's messages, each with its place in the transcript; those that waited get theirs now. */
async function placeMessages(tx: Transaction, claim: Claim): Promise<TranscriptMessage[]> {
  const rows = await listRequestMessages(tx, claim.requestId);
  const waiting = rows.filter((row) => row.seq === null).length;
  let next = waiting > 0 ? await takePlaces(tx, claim.sessionId, waiting) : 0;
  const placed: TranscriptMessage[] = [];
  for (const row of rows) {
    if (row.seq === null) await placeMessage(tx, row.id, next);
    placed.push(toTranscriptMessage(row, row.seq ?? next++));
  }
  return placed;
}
