import type { Database, Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { ItemCall } from "#db/schema/index.ts";
import type { InboxSettler, WaitEnd } from "#db/schema/unions.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { shorten } from "#lib/text/shorten.ts";
import { hashBody } from "../canonical-json.ts";
import {
  beginApproved,
  callSubject,
  closeItemsOfCalls,
  type Decision,
  decideApproval,
  findApproval,
  ITEM_STATE_AFTER,
  listScriptApprovals,
  scriptSubject,
} from "../store/approval-store.ts";
import { acceptsAnswers } from "../store/elicitation-store.ts";
import { type InboxItemRow, openItem, SCRIPT_SUBJECTS } from "../store/inbox-store.ts";
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
  const end = endedBy && ITEM_STATE_AFTER[endedBy];
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

/**
 * Approves or denies a call and wakes the turn that waits for the decision, in one transaction.
 *
 * @returns false if the item was not open any more, its deadline has passed, or its run no longer reads decisions.
 */
export async function settleApproval(
  deps: WakeDeps,
  item: Pick<InboxItemRow, "id" | "sessionId" | "runId" | "subjectId" | "call">,
  decision: Decision,
  settledBy: InboxSettler,
): Promise<boolean> {
  const { id, sessionId, runId, subjectId, call } = item;
  if (runId === null || call === null) throw new Error(`the approval ${id} names no call`);
  const { isSettled, jobs } = await repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      const run = await findRun(tx, runId);
      // The call of a script may be approved when its run has ended.
      const isOfScript = subjectId.startsWith(SCRIPT_SUBJECTS);
      const mayDecide = run && (isOfScript ? run.cancelRequestedAt === null : acceptsAnswers(run));
      if (!mayDecide || !(await decideApproval(tx, id, decision, settledBy)))
        return { isSettled: false, jobs: [] };
      return {
        isSettled: true,
        jobs: await endWaits(tx, emit, { runId, callId: call.toolCallId }, "settled"),
      };
    }),
  );
  await sendWake(deps, jobs);
  return isSettled;
}

/** Whether the call of a script may run. `itemId` names the item that a person settles, or has settled. */
type ScriptApproval =
  | { state: "approved" }
  | { state: "waiting"; itemId: string }
  | { state: "denied"; reason: string | null };

/**
 * Decides about the call of a script, which cannot wait: the script fails, and may be repeated after a person has approved
 * the call. An approval lets a call with the same arguments pass once. A call that was denied stays denied.
 */
export async function approveScriptCall(
  { db, log }: { db: Database; log: EventLog },
  { sessionId, runId, call, timeoutMs }: Request,
): Promise<ScriptApproval> {
  const { toolName, input } = call;
  const prefix = scriptSubject(sessionId, hashBody({ toolName, input }));
  const [newest] = await listScriptApprovals(db, sessionId, prefix);
  if (newest?.state === "denied") return { state: "denied", reason: newest.reason };
  if (newest?.state === "approved" && (await beginApproved(db, newest.id))) return { state: "approved" };
  await repeatOnDeadlock(() =>
    log.transact(sessionId, async (tx) => {
      await lockSession(tx, sessionId);
      const earlier = await listScriptApprovals(tx, sessionId, prefix);
      const [last] = earlier;
      if (last?.state === "open" && (await isStillOpen(tx, last))) return;
      await openItem(tx, {
        sessionId,
        runId,
        kind: "approval",
        subjectId: `${prefix}${earlier.length + 1}`,
        title: `Approve ${toolName} in a script`,
        body: shorten(JSON.stringify(input) ?? "", BODY_MAX),
        call,
        expiresAt: new Date(Date.now() + timeoutMs),
      });
    }),
  );
  const [asked] = await listScriptApprovals(db, sessionId, prefix);
  if (!asked) throw new Error(`the approval of ${toolName} vanished after it was stored`);
  return { state: "waiting", itemId: asked.id };
}

/** Whether a person can still settle an item of a script. */
async function isStillOpen(tx: Transaction, { runId, expiresAt }: InboxItemRow): Promise<boolean> {
  const run = runId === null ? undefined : await findRun(tx, runId);
  return run?.cancelRequestedAt === null && (expiresAt === null || expiresAt > new Date());
}
