import type { Transaction } from "#db/client.ts";
import type { FollowUpMode } from "#db/schema/unions.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { newId } from "../new-id.ts";
import {
  type EarlierUse,
  type HeadRun,
  insertFollowUp,
  isClaimedBefore,
  lockCounters,
  readQueueState,
  recordStop,
  type SessionCounters,
} from "../store/follow-up-store.ts";
import { type Job, requestRun } from "../store/jobs.ts";
import { endWaits, sendWake, type WakeDeps } from "../waiting/waiting.ts";
import { type IncomingMessage, toMessageRows } from "./incoming-message.ts";
import { type FollowUpRoute, routeFollowUp } from "./route-follow-up.ts";

/** A follow-up message, validated. */
export type NewFollowUp = {
  sessionId: string;
  messages: IncomingMessage[];
  mode: FollowUpMode;
  /**
   * `person`: sent on the session page. `subagent`: sent to a sub-agent by its parent. `external`: sent in any other
   * way.
   */
  origin: "person" | "external" | "subagent";
  /** Whether the deployment excludes tools from turns that no person started. Matters for a person's steer only. */
  deploymentExcludes?: boolean;
  userId: string | null;
  idempotencyKey: string | null;
  bodyHash: string;
  /**
   * Decides in the message's transaction whether a new message may be stored. Not called if the idempotency key was
   * used before.
   *
   * @returns why the message is refused; undefined if it may be stored.
   */
  admit?: (tx: Transaction) => Promise<string | undefined>;
  /**
   * Writes further rows in the message's transaction, while the session is locked.
   *
   * @param requestId the id of the request that the message becomes.
   * @returns why the message is refused; undefined if it may be stored.
   */
  alongside?: (tx: Transaction, emit: Emit, requestId: string) => Promise<string | undefined>;
};

type AcceptResult =
  | {
      status: "accepted" | "replayed";
      requestId: string;
      runId: string;
      queued: boolean;
      interrupts: string | null;
    }
  | { status: "reused" }
  | { status: "queue_full"; error: string }
  | { status: "refused"; error: string }
  | { status: "unknown_session" };

/** Maximum number of queued messages of one session. */
export const QUEUED_MAX = 100;
/** Maximum bytes of the queued messages of one session, as JSON. They are read together, by a turn or for the page. */
export const QUEUED_BYTES_MAX = 16 * 1_048_576;

/**
 * Stores a follow-up. It starts at once if no run is open. Otherwise, a `queue` message waits for the turns before it,
 * a `steer` message joins the current turn, and an `interrupt` message is next. A `steer` message that may not join the
 * turn waits like a `queue` message. A parked turn that a message joins is woken. For an `interrupt`, the caller must
 * stop the run that the result names in `interrupts`.
 * Source: `wire.md`, Follow-ups.
 */
export async function acceptMessage(deps: WakeDeps, input: NewFollowUp): Promise<AcceptResult> {
  const { sessionId } = input;
  const { result, job, wake, overtaken } = await deps.log.transact(
    sessionId,
    async (tx, emit): Promise<WriteResult> => {
      const refusal = await admitOnce(tx, input);
      if (refusal !== undefined) return { result: { status: "refused", error: refusal } };
      const counters = await lockCounters(tx, sessionId);
      if (!counters) return { result: { status: "unknown_session" } };
      const { head, position, earlier, waiting } = await readQueueState(tx, sessionId, input.idempotencyKey);
      if (earlier) return { result: replay(input, earlier, head) };
      const placement = routeFollowUp(input, head);
      const full = placement.kind === "starts" ? undefined : findFull(waiting, input);
      if (full !== undefined) return { result: { status: "queue_full", error: full } };
      const requestId = newId("req");
      const problem = await input.alongside?.(tx, emit, requestId);
      if (problem !== undefined) return { result: { status: "refused", error: problem } };
      // The caller stops the parked turn after the commit. If this process ends before that, the sweep stops the turn,
      // because it finds the stored stop request.
      if (head?.isParked && "interrupts" in placement && placement.interrupts === head.id)
        await recordStop(tx, head.id);
      return write(tx, emit, input, { requestId, counters, position, placement });
    },
  );
  await faultPoint("follow-up-committed");
  deps.jobs.sendSoon(job ? [job] : []);
  await sendWake(deps, wake ?? []);
  // An executor whose claim began before the commit did not see the interrupt and plays the overtaken turn. The caller
  // must stop that turn.
  if (overtaken === undefined || !("runId" in result)) return result;
  const isTooLate = await isClaimedBefore(deps.db, overtaken, result.runId);
  return isTooLate ? { ...result, interrupts: overtaken } : result;
}

/** Returns why no further message may wait in the session; undefined if this one may. */
function findFull(waiting: { count: number; bytes: number }, { messages }: NewFollowUp): string | undefined {
  const advice = "wait until one starts, or remove one";
  if (waiting.count >= QUEUED_MAX) return `${QUEUED_MAX} messages wait already; ${advice}`;
  const bytes = Buffer.byteLength(JSON.stringify(messages));
  if (waiting.count === 0 || waiting.bytes + bytes <= QUEUED_BYTES_MAX) return undefined;
  return `the waiting messages would have more than ${QUEUED_BYTES_MAX / 1_048_576} MiB; ${advice}`;
}

/** Calls `admit`, unless the idempotency key was used before. */
async function admitOnce(tx: Transaction, { sessionId, idempotencyKey, admit }: NewFollowUp) {
  if (!admit || (await readQueueState(tx, sessionId, idempotencyKey)).earlier) return undefined;
  return admit(tx);
}

type WriteResult = {
  result: AcceptResult;
  job?: Job | undefined;
  wake?: Job[] | undefined;
  overtaken?: string;
};

async function write(
  tx: Transaction,
  emit: Emit,
  input: NewFollowUp,
  at: { requestId: string; counters: SessionCounters; position: number; placement: FollowUpRoute },
): Promise<WriteResult> {
  const { sessionId, mode, origin, userId, idempotencyKey, bodyHash } = input;
  const { requestId, counters, position, placement } = at;
  const joins = placement.kind === "joins" ? placement.runId : undefined;
  const runId = joins ?? newId("run");
  const isNext = placement.kind === "starts" || placement.kind === "overtakes";
  const job = isNext ? requestRun({ id: runId, sessionId, generation: 1 }) : undefined;
  const firstSeq = placement.kind === "starts" ? counters.messageSeq + 1 : null;
  await insertFollowUp(tx, {
    request: { id: requestId, sessionId, position, mode, origin, userId, idempotencyKey, bodyHash },
    run: joins === undefined ? { ownId: runId } : { joinedId: joins, afterSeq: counters.eventSeq },
    messages: toMessageRows(input.messages, { sessionId, requestId, userId, firstSeq }),
    placed: firstSeq === null ? 0 : input.messages.length,
    job,
  });
  const wake = joins === undefined ? undefined : await endWaits(tx, emit, { runId: joins }, "message");
  const interrupts = "interrupts" in placement ? placement.interrupts : null;
  const queued = placement.kind !== "starts";
  return {
    result: { status: "accepted", requestId, runId, queued, interrupts },
    job,
    wake,
    ...("overtaken" in placement && { overtaken: placement.overtaken }),
  };
}

/**
 * Returns the result for an idempotency key that was used before: `reused` if the body differs, otherwise the ids of
 * the first use. For an interrupt that still waits, the result again names the run to stop.
 */
function replay(input: NewFollowUp, earlier: EarlierUse, head: HeadRun | undefined): AcceptResult {
  if (earlier.bodyHash !== input.bodyHash) return { status: "reused" };
  const { requestId, runId, isWaiting, ownRunId } = earlier;
  const queued = isWaiting && head?.id !== ownRunId;
  const placement = routeFollowUp(input, head);
  const interrupts = queued && "interrupts" in placement ? placement.interrupts : null;
  return { status: "replayed", requestId, runId, queued, interrupts };
}
