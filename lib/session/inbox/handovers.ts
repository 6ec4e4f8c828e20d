import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { InboxSettler, WaitEnd } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { shorten } from "#lib/text/shorten.ts";
import { callSubject, closeItemsOfCalls, ITEM_STATE_AFTER } from "../store/approval-store.ts";
import { acceptsAnswers } from "../store/elicitation-store.ts";
import { endHandover, findHandover, type HandoverEnd, listOpenHandovers } from "../store/handover-store.ts";
import { type InboxItemRow, openItem } from "../store/inbox-store.ts";
import { findRun } from "../store/run-store.ts";
import { lockSession } from "../store/session-store.ts";
import { endWaits, sendWake, type WakeDeps } from "../waiting/waiting.ts";

/** The call that hands the browser of `browserSessionId` over, what it needs, and how long it waits. */
type Request = {
  sessionId: string;
  browserSessionId: string;
  runId: string;
  callId: string;
  need: string;
  timeoutMs: number;
};

const TITLE_MAX = 120;

/** Hands browsers of sessions to people. Source: `wire.md`, Handovers. */
export type Handovers = {
  /**
   * Opens the item of a call. If the call has asked already, returns its existing item.
   *
   * @param endedBy how the wait ended; undefined if the call still waits. Every value except `settled` closes an item
   * that is still open.
   */
  ask: (request: Request, endedBy: WaitEnd | undefined) => Promise<InboxItemRow>;
};

/** Creates {@link Handovers}. */
export const createHandovers = (deps: { db: Database; log: EventLog }): Handovers => ({
  ask: (request, endedBy) => ask(deps, request, endedBy),
});

async function ask(
  { db, log }: { db: Database; log: EventLog },
  request: Request,
  endedBy: WaitEnd | undefined,
): Promise<InboxItemRow> {
  const { sessionId, browserSessionId, runId, callId, need, timeoutMs } = request;
  const existing = await findHandover(db, request);
  const end = endedBy && ITEM_STATE_AFTER[endedBy];
  if (existing && (existing.state !== "open" || end === undefined)) return existing;
  await repeatOnDeadlock(() =>
    log.transact(sessionId, async (tx) => {
      await lockSession(tx, sessionId);
      if (!existing)
        await openItem(tx, {
          sessionId,
          browserSessionId,
          runId,
          kind: "handover",
          subjectId: callSubject(runId, callId),
          title: shorten(oneLine(need), TITLE_MAX),
          body: need,
          expiresAt: new Date(Date.now() + timeoutMs),
        });
      // A stop before the insert could not withdraw this item.
      const run = await findRun(tx, runId);
      const state = run && acceptsAnswers(run) ? end : "withdrawn";
      if (state) await closeItemsOfCalls(tx, { runId, callId }, state);
    }),
  );
  const item = await findHandover(db, request);
  if (!item) throw new Error(`the handover of ${callId} vanished after it was stored`);
  return item;
}

/**
 * Settles a handover and wakes the turn that waits for it, in one transaction.
 *
 * @returns false if the item was not open any more, its deadline has passed, or its run no longer waits.
 */
export async function settleHandover(
  deps: WakeDeps,
  { id, sessionId, runId, subjectId }: Pick<InboxItemRow, "id" | "sessionId" | "runId" | "subjectId">,
  end: HandoverEnd,
  settledBy: InboxSettler,
): Promise<boolean> {
  if (runId === null) throw new Error(`the handover ${id} names no run`);
  const callId = subjectId.slice(runId.length + 1);
  const { isSettled, jobs } = await repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      const run = await findRun(tx, runId);
      if (!run || !acceptsAnswers(run) || !(await endHandover(tx, id, storable(end), settledBy)))
        return { isSettled: false, jobs: [] };
      return { isSettled: true, jobs: await endWaits(tx, emit, { runId, callId }, "settled") };
    }),
  );
  await sendWake(deps, jobs);
  return isSettled;
}

/** Settles the open handovers of a browser, because the person who had control of it has given it back. */
export async function settleHandoversOf(deps: WakeDeps, browserSessionId: string): Promise<void> {
  for (const item of await listOpenHandovers(deps.db, browserSessionId))
    await settleHandover(deps, item, { state: "done", note: null }, "person");
}
