import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { UsageRow } from "#db/schema/index.ts";
import { addRunUsage, requestStopBelow } from "#lib/agents/agent-end-store.ts";
import { type AgentEnded, endAgent, readNewUsageBelow } from "#lib/agents/end-agent.ts";
import { reopenUnsent } from "#lib/annotation/change-annotation.ts";
import type { StoredEvent } from "#lib/events/event.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { releaseSteers } from "#lib/session/follow-up/steering.ts";
import { newId } from "#lib/session/new-id.ts";
import { lockCounters, recordStop } from "#lib/session/store/follow-up-store.ts";
import { requestRun } from "#lib/session/store/jobs.ts";
import { findRun, isOpen, listOpenRuns } from "#lib/session/store/run-store.ts";
import { findLastAnswer } from "#lib/session/store/transcript-store.ts";
import { sendWake } from "#lib/session/waiting/waiting.ts";
import type { Claim } from "../record/claim.ts";
import { type LockedRun, lockRunAndSession } from "../record/turn-store.ts";
import type { Fence } from "../record/turn-write.ts";
import { announce, type Written, writeEvents } from "../run/record-step.ts";
import { mayHaveLiveOutcomes, NO_OUTCOMES, readOutcomes } from "../run/session-outcomes.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { describeEnd, type Endable, hasTurnStarted, type Retry, type RunEnd } from "./describe-end.ts";
import { planRetry } from "./retry-chain.ts";

/**
 * Ends a run that is still open. One transaction writes its state, its deliverable, `run.completed` with its callback
 * row, and the job of the run that follows (a retry, or the next request in the queue). If a retry follows, the attempt
 * has no deliverable and no callback, because the request has not ended.
 *
 * @param fence the state that the run must have: `claimed`, `pending` or `open`.
 * @returns `held` if a message or a stop arrived for a turn that was about to succeed: the turn continues, and nothing
 * was written. `refused` if the fence did not hold.
 */
export async function closeRun(
  deps: TurnDeps,
  run: Endable,
  end: RunEnd,
  fence: Fence = "claimed",
): Promise<"ended" | "held" | "refused"> {
  const { claim, session } = run;
  await faultPoint("close-begun");
  if (fence === "claimed" && (await closeAlone(deps, run, end))) return "ended";
  if (await mayStopChildren(deps, run, end, fence)) await deps.cancelChildren(session.id);
  const close = async (tx: Transaction) => {
    // To avoid deadlocks, ancestors are locked before their descendants, here and where sub-agents are spawned.
    if (session.parentSessionId !== null) await lockCounters(tx, session.parentSessionId);
    const locked = await lockRunAndSession(tx, claim.runId);
    if (!locked || !mayEnd(locked, claim, fence)) return "refused";
    if (end.outcome === "succeeded" && end.conclusion && locked.isCancelled) return "held";
    const retry = planNext(deps, locked, end);
    const carriesResult = claim.isStructured && hasTurnStarted(run);
    const lastAnswer = carriesResult ? await findLastAnswer(tx, claim.runId) : undefined;
    const delegated = session.subAgents ? await readNewUsageBelow(tx, session.id) : undefined;
    const { events, ...write } = describeEnd(run, locked, end, {
      retry,
      lastAnswer,
      delegated,
      outcomes: await readOutcomes(tx, session, deps.settings),
    });
    const finish = async (written: Written) => ({
      ...written,
      reopened: fence === "pending" ? await reopenAnnotations(tx, run) : [],
      settled: await closeInTree(tx, run, end, { hasRetry: retry !== undefined, usage: write.end.usage }),
    });
    const written = await writeEvents(tx, claim, session, events, write, fence);
    if (written) return finish(written);
    // The fence holds under these locks, so the write was refused because of an unread message that has joined the
    // turn.
    if (end.outcome === "succeeded" && end.canContinue) return "held";
    const released = await releaseSteers(tx, claim);
    // A sub-agent that is stopped must not continue with a message that it has not read.
    if (session.parentSessionId !== null && (locked.isCancelled || end.outcome === "cancelled"))
      for (const { id } of released) await recordStop(tx, id);
    const rewritten = await writeEvents(tx, claim, session, events, write, fence);
    return rewritten ? finish(rewritten) : "refused";
  };
  const closed = await repeatOnDeadlock(() => deps.db.transaction(close));
  if (typeof closed === "string") return closed;
  await faultPoint("close-committed");
  const { following } = closed.receipt;
  announce(deps, closed);
  deps.log.publish([...closed.reopened, ...closed.settled.events]);
  await sendWake(deps, closed.settled.wake);
  if (following) deps.jobs.sendSoon([requestRun({ ...following, sessionId: claim.sessionId })]);
  return "ended";
}

/**
 * Ends a usual turn in one statement. A turn is usual if it succeeded with an answer that is still to be recorded
 * (`conclusion`), is not structured, and its session has nothing that must be checked under locks, such as sub-agents
 * or variants. @returns false for any other turn; nothing is written then.
 */
async function closeAlone(deps: TurnDeps, run: Endable, end: RunEnd): Promise<boolean> {
  const { claim, session } = run;
  const isUsual = end.outcome === "succeeded" && end.conclusion !== undefined && run.startedAt !== null;
  if (!isUsual || claim.isStructured || session.parentSessionId !== null || mayHaveLiveOutcomes(session))
    return false;
  const { events, ...write } = describeEnd(run, { state: "running", messageSeq: 0 }, end, {
    retry: undefined,
    lastAnswer: undefined,
    delegated: undefined,
    outcomes: NO_OUTCOMES,
  });
  const written = await writeEvents(deps.db, claim, session, events, write, "alone");
  if (!written) return false;
  await faultPoint("close-committed");
  announce(deps, written);
  return true;
}

function mayEnd(run: Pick<LockedRun, "state" | "epoch">, claim: Claim, fence: Fence): boolean {
  if (fence === "pending") return run.state === "pending";
  return isOpen(run) && (fence === "open" || run.epoch === claim.epoch);
}

/**
 * Whether the end of a run also stops the live sub-agents of its session. If a retry follows, they continue for the
 * retry. If no run of the request has started, the request has spawned no sub-agents: the live ones belong to an
 * earlier turn and also continue.
 */
const endsDelegation = ({ claim, session, startedAt }: Endable, isRetried: boolean): boolean =>
  session.subAgents && !isRetried && hasTurnStarted({ claim, startedAt });

/**
 * Whether to stop the live sub-agents of a run's session before the run ends. An executor that has lost its claim must
 * not stop them, because another executor now plays the run.
 */
async function mayStopChildren(deps: TurnDeps, run: Endable, end: RunEnd, fence: Fence): Promise<boolean> {
  const { claim, session } = run;
  if (!session.subAgents) return false;
  const row = await findRun(deps.db, claim.runId);
  if (!row || !mayEnd(row, claim, fence)) return false;
  const isRetried =
    end.outcome === "errored" &&
    row.cancelRequestedAt === null &&
    planRetry(end.failure, claim.attempt, deps.settings.retryBaseMs, 0) !== undefined;
  return endsDelegation(run, isRetried);
}

/** Opens the annotations of a request again if its messages never became part of the transcript. */
const reopenAnnotations = async (
  tx: Transaction,
  { claim, session, requestMessages }: Endable,
): Promise<StoredEvent[]> =>
  requestMessages.some(({ seq }) => seq === null)
    ? reopenUnsent(tx, { id: session.id, source: claim.source }, claim.requestId)
    : [];

const NOTHING_SETTLED: AgentEnded = { events: [], wake: [] };
const AGENT_OUTCOME = { succeeded: "succeeded", errored: "failed", cancelled: "cancelled" } as const;

/**
 * Applies the end of a run to the session tree. Stops the sub-agents of the run's session if necessary. If the session
 * itself belongs to a sub-agent, reports the result to its parent.
 */
async function closeInTree(
  tx: Transaction,
  run: Endable,
  end: RunEnd,
  { hasRetry, usage }: { hasRetry: boolean; usage: UsageRow },
): Promise<AgentEnded> {
  const { claim, session } = run;
  if (endsDelegation(run, hasRetry)) await requestStopBelow(tx, session.id);
  if (session.parentSessionId === null) return NOTHING_SETTLED;
  await addRunUsage(tx, session.id, usage);
  // Another turn of the sub-agent follows, so no result is reported yet.
  if ((await listOpenRuns(tx, session.id)).length > 0) return NOTHING_SETTLED;
  const answer = await findLastAnswer(tx, claim.runId);
  const texts = (answer?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  return endAgent(tx, {
    sessionId: session.id,
    outcome: AGENT_OUTCOME[end.outcome],
    error: end.outcome === "errored" ? end.failure.message : null,
    lastText: texts.join("\n"),
  });
}

/** Plans the retry that follows a failed run; undefined if no retry follows, for example after a request to stop. */
function planNext(deps: TurnDeps, run: LockedRun, end: RunEnd): Retry | undefined {
  if (end.outcome !== "errored" || run.isCancelled) return undefined;
  const retry = planRetry(end.failure, run.attempt, deps.settings.retryBaseMs, Math.random());
  return retry && { runId: newId("run"), attempt: run.attempt + 1, delayMs: retry.delayMs };
}
