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
  listApprovalsOf,
  outsideSubject,
  scriptSubject,
} from "../store/approval-store.ts";
import { acceptsAnswers } from "../store/elicitation-store.ts";
import { type InboxItemRow, OUTSIDE_SUBJECTS, openItem, SCRIPT_SUBJECTS } from "../store/inbox-store.ts";
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
  if (subjectId.startsWith(OUTSIDE_SUBJECTS))
    return deps.log.transact(sessionId, async (tx) => {
      await lockSession(tx, sessionId);
      return decideApproval(tx, id, decision, settledBy);
    });
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
  const decide = async (item: InboxItemRow | undefined): Promise<ScriptApproval | undefined> => {
    if (item?.state === "denied") return { state: "denied", reason: item.reason };
    if (item && isUnused(item) && (await beginApproved(db, item.id))) return { state: "approved" };
    return undefined;
  };
  const [newest] = await listApprovalsOf(db, sessionId, prefix);
  const decided = await decide(newest);
  if (decided) return decided;
  const title = `Approve ${toolName} in a script`;
  const { item } = await askOnce({ db, log }, { sessionId, runId, call, timeoutMs, prefix, title });
  return (await decide(item)) ?? { state: "waiting", itemId: item.id };
}

/** Whether a call was approved that has not begun. */
const isUnused = ({ state, begunAt }: InboxItemRow): boolean => state === "approved" && begunAt === null;

/** Whether the call of another agent may run. An approved call is begun with `beginApproved`, right before it runs. */
export type OutsideApproval =
  | { state: "approved"; itemId: string; input: unknown }
  | { state: "waiting"; itemId: string; isNew: boolean }
  | { state: "denied"; reason: string | null };

/**
 * Decides about the call of another agent over MCP, which belongs to no run. As with calls of scripts, an approval lets a
 * call with the same arguments run once, and a call that was denied stays denied. Source: decision 136.
 */
export async function approveOutsideCall(
  { db, log }: { db: Database; log: EventLog },
  { sessionId, call, timeoutMs }: Omit<Request, "runId">,
): Promise<OutsideApproval> {
  const { toolName, input } = call;
  const prefix = outsideSubject(sessionId, hashBody({ toolName, input }));
  const decide = (item: InboxItemRow | undefined): OutsideApproval | undefined => {
    if (item?.state === "denied") return { state: "denied", reason: item.reason };
    if (item?.call && isUnused(item)) return { state: "approved", itemId: item.id, input: item.call.input };
    return undefined;
  };
  const [newest] = await listApprovalsOf(db, sessionId, prefix);
  const decided = decide(newest);
  if (decided) return decided;
  const title = `Approve ${toolName} of another agent`;
  const { item, isNew } = await askOnce(
    { db, log },
    { sessionId, runId: null, call, timeoutMs, prefix, title },
  );
  return decide(item) ?? { state: "waiting", itemId: item.id, isNew };
}

/** Opens an item for a call, unless the newest is open or decides about the call. @returns the newest item. */
async function askOnce(
  { db, log }: { db: Database; log: EventLog },
  asked: Omit<Request, "runId"> & { runId: string | null; prefix: string; title: string },
): Promise<{ item: InboxItemRow; isNew: boolean }> {
  const { sessionId, runId, call, timeoutMs, prefix, title } = asked;
  const isNew = await repeatOnDeadlock(() =>
    log.transact(sessionId, async (tx) => {
      await lockSession(tx, sessionId);
      const earlier = await listApprovalsOf(tx, sessionId, prefix);
      const [last] = earlier;
      if (last?.state === "open" && (await isStillOpen(tx, last))) return false;
      // A person may have decided after the caller read the item.
      if (last && (last.state === "denied" || isUnused(last))) return false;
      await openItem(tx, {
        sessionId,
        runId,
        kind: "approval",
        subjectId: `${prefix}${earlier.length + 1}`,
        title,
        body: shorten(JSON.stringify(call.input) ?? "", BODY_MAX),
        call,
        expiresAt: new Date(Date.now() + timeoutMs),
      });
      return true;
    }),
  );
  const [item] = await listApprovalsOf(db, sessionId, prefix);
  if (!item) throw new Error(`the approval of ${call.toolName} vanished after it was stored`);
  return { item, isNew };
}

/** Whether a person can still settle an item of a script, or of another agent. */
async function isStillOpen(tx: Transaction, { runId, subjectId, expiresAt }: InboxItemRow): Promise<boolean> {
  const isInTime = expiresAt === null || expiresAt > new Date();
  if (subjectId.startsWith(OUTSIDE_SUBJECTS)) return isInTime;
  const run = runId === null ? undefined : await findRun(tx, runId);
  return run?.cancelRequestedAt === null && isInTime;
}
