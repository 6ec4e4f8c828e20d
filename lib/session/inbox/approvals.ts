import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { ItemCall } from "#db/schema/index.ts";
import type { InboxSettler, WaitEnd } from "#db/schema/unions.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { shorten } from "#lib/text/shorten.ts";
import {
  callSubject,
  closeItemsOfCalls,
  type Decision,
  decideApproval,
  findApproval,
} from "../store/approval-store.ts";
import { acceptsAnswers } from "../store/elicitation-store.ts";
import { type InboxItemRow, openItem } from "../store/inbox-store.ts";
import { findRun } from "../store/run-store.ts";
import { lockSession } from "../store/session-store.ts";
import { endWaits, sendWake, type WakeDeps } from "../waiting/waiting.ts";

/** A call that needs approval, and how long it waits for it. */
type Request = { sessionId: string; runId: string; call: ItemCall; timeoutMs: number };

const BODY_MAX = 2_000;

/**
 * Records a call with its exact arguments and asks people to approve it. If the call has asked already, returns its
 * existing item.
 *
 * @param endedBy how the wait for the decision ended; undefined if the call still waits. Every value except `settled`
 * closes an item that is still open.
 */
export async function askApproval(
  { db, log }: { db: Database; log: EventLog },
  { sessionId, runId, call, timeoutMs }: Request,
  endedBy: WaitEnd | undefined,
): Promise<InboxItemRow> {
  const { toolCallId, toolName } = call;
  const existing = await findApproval(db, runId, toolCallId);
  const end = endedBy && STATE_AFTER[endedBy];
  if (existing && (existing.state !== "open" || end === undefined)) return existing;
  await repeatOnDeadlock(() =>
    log.transact(sessionId, async (tx) => {
      await lockSession(tx, sessionId);
      if (!existing)
        await openItem(tx, {
          sessionId,
          runId,
          kind: "approval",
          subjectId: callSubject(runId, toolCallId),
          title: `Approve ${toolName}`,
          body: shorten(JSON.stringify(call.input) ?? "", BODY_MAX),
          call,
          expiresAt: new Date(Date.now() + timeoutMs),
        });
      // A stop before the insert could not withdraw this item.
      const run = await findRun(tx, runId);
      const state = run && acceptsAnswers(run) ? end : "withdrawn";
      if (state) await closeItemsOfCalls(tx, { runId, callId: toolCallId }, state);
    }),
  );
  const item = await findApproval(db, runId, toolCallId);
  if (!item) throw new Error(`the approval of ${toolCallId} vanished after it was stored`);
  return item;
}

/** The state that an open approval gets when its wait ends; undefined if it stays open. */
const STATE_AFTER: Record<WaitEnd, "expired" | "withdrawn" | undefined> = {
  settled: undefined,
  deadline: "expired",
  message: "withdrawn",
  stopped: "withdrawn",
};

/**
 * Approves or denies a call and wakes the turn that waits for the decision, in one transaction.
 *
 * @returns false if the item was not open any more, its deadline has passed, or its run no longer reads decisions.
 */
export async function settleApproval(
  deps: WakeDeps,
  item: Pick<InboxItemRow, "id" | "sessionId" | "runId" | "call">,
  decision: Decision,
  settledBy: InboxSettler,
): Promise<boolean> {
  const { id, sessionId, runId, call } = item;
  if (runId === null || call === null) throw new Error(`the approval ${id} names no call`);
  const { isSettled, job } = await repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      const run = await findRun(tx, runId);
      if (!run || !acceptsAnswers(run) || !(await decideApproval(tx, id, decision, settledBy)))
        return { isSettled: false };
      return {
        isSettled: true,
        job: await endWaits(tx, emit, { runId, callId: call.toolCallId }, "settled"),
      };
    }),
  );
  await sendWake(deps, job);
  return isSettled;
}
