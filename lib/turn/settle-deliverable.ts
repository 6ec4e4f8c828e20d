import type { Transaction } from "#db/client.ts";
import type { Deliverable } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { newId } from "#lib/session/new-id.ts";
import { findDeliverable, type RunRow } from "#lib/session/run-store.ts";
import { aboutRun } from "./about-run.ts";
import { addAssistantMessage } from "./add-assistant-message.ts";
import type { Claim } from "./claim.ts";
import type { RunEnd } from "./close-run.ts";
import { upsertDeliverable } from "./store.ts";

/**
 * Stores the deliverable a run ends with; every run of a structured session ends with one that is not pending. That of
 * a run which had started also stands in the transcript. Source: specification, Deliverable.
 */
export async function settleDeliverable(
  tx: Transaction,
  emit: Emit,
  claim: Claim,
  run: RunRow,
  end: RunEnd,
): Promise<Deliverable> {
  const { runId, sessionId } = claim;
  const recorded = await findDeliverable(tx, runId);
  if (recorded && recorded.status !== "pending")
    throw new Error(`the deliverable of ${runId} was settled before its run`);
  const deliverable =
    end.outcome === "succeeded" && end.deliverable ? end.deliverable : failDeliverable(runId, end);
  const value = deliverable.status === "ready" ? deliverable.value : null;
  const error = deliverable.status === "failed" ? deliverable.error : null;
  const rawText = deliverable.status === "failed" ? (deliverable.rawText ?? null) : null;
  await upsertDeliverable(tx, { runId, sessionId, status: deliverable.status, value, error, rawText });
  if (run.startedAt) {
    const parts = [{ type: "data-deliverable" as const, data: deliverable }];
    await addAssistantMessage(tx, emit, claim, { id: newId("msg"), parts });
  }
  if (deliverable.status === "ready") emit({ kind: "deliverable.ready", ...aboutRun(claim), deliverable });
  if (deliverable.status === "failed") emit({ kind: "deliverable.failed", ...aboutRun(claim), deliverable });
  return deliverable;
}

const failDeliverable = (runId: string, end: RunEnd): Deliverable => ({
  runId,
  status: "failed",
  error:
    end.outcome === "errored"
      ? end.failure.message
      : end.outcome === "cancelled"
        ? end.reason
        : "the run ended without a result",
});
