import { and, asc, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import {
  deliverables,
  messages,
  requests,
  runs,
  sessions,
  steps,
  toolCalls,
  type UsageRow,
} from "#db/schema/index.ts";
import { isOpen, OPEN_STATES } from "#lib/session/run-store.ts";
import type { Claim } from "./claim.ts";

/** A step's row, if it was recorded, and how its run stands: whether the claim still holds, and a stop was asked for. */
export async function findStep(
  db: Executor,
  claim: Claim,
  name: string,
): Promise<{ recorded: { output: unknown } | undefined; isCurrent: boolean; isCancelled: boolean }> {
  const [run] = await db
    .select({
      step: { name: steps.name, output: steps.output },
      epoch: runs.epoch,
      state: runs.state,
      cancelRequestedAt: runs.cancelRequestedAt,
    })
    .from(runs)
    .leftJoin(steps, and(eq(steps.runId, runs.id), eq(steps.name, name)))
    .where(eq(runs.id, claim.runId));
  return {
    recorded: run?.step ? { output: run.step.output } : undefined,
    isCurrent: run?.epoch === claim.epoch && isOpen(run),
    isCancelled: run?.cancelRequestedAt != null,
  };
}

/** Locks a run's row until the transaction ends. Who locks its session too, does so after it. */
export async function lockRun(tx: Transaction, runId: string): Promise<typeof runs.$inferSelect | undefined> {
  const [row] = await tx.select().from(runs).where(eq(runs.id, runId)).for("no key update");
  return row;
}

const isRunning = (run: typeof runs.$inferSelect | undefined, claim: Claim) =>
  run?.epoch === claim.epoch && run.state === "running";

/**
 * Writes a step's row if the claim still holds: the run is running and its epoch is ours.
 *
 * @returns whether it was written, and whether somebody asked the run to stop.
 */
export async function insertStep(
  tx: Transaction,
  claim: Claim,
  step: { name: string; output: unknown; modelMessages: unknown[] | null },
): Promise<{ isCurrent: boolean; isCancelled: boolean }> {
  const output = JSON.stringify(step.output);
  const modelMessages = step.modelMessages && JSON.stringify(step.modelMessages);
  // One statement: the claim is checked, and held until the commit, by the very row that the step is written from.
  // Every driver answers with rows; which one it is, Drizzle's type leaves open.
  const { rows } = (await tx.execute(sql`
    with claimed as (
      select id, session_id, cancel_requested_at from ${runs}
      where id = ${claim.runId} and epoch = ${claim.epoch} and state = 'running'
      for no key update
    ), written as (
      insert into ${steps} (run_id, session_id, name, output, model_messages)
      select id, session_id, ${step.name}, ${output}::jsonb, ${modelMessages}::jsonb from claimed
      returning run_id
    )
    select cancel_requested_at is not null as is_cancelled from claimed join written on run_id = id
  `)) as unknown as { rows: { is_cancelled: boolean }[] };
  return { isCurrent: rows.length === 1, isCancelled: rows[0]?.is_cancelled ?? false };
}

/** Takes the session for a run, unless another one has it. @returns whether it is ours now. */
export async function takeSession(tx: Transaction, sessionId: string, runId: string): Promise<boolean> {
  const taken = await tx
    .update(sessions)
    .set({ activeRunId: runId, updatedAt: new Date() })
    .where(
      and(
        eq(sessions.id, sessionId),
        sql`(${sessions.activeRunId} is null or ${sessions.activeRunId} = ${runId})`,
      ),
    )
    .returning({ id: sessions.id });
  return taken.length === 1;
}

/** Lets go of the session where this run has it. */
export async function releaseSession(tx: Transaction, sessionId: string, runId: string): Promise<void> {
  await tx
    .update(sessions)
    .set({ activeRunId: null, updatedAt: new Date() })
    .where(and(eq(sessions.id, sessionId), eq(sessions.activeRunId, runId)));
}

/** A new claim on a run: every older executor is stale from here on. */
export async function raiseEpoch(tx: Transaction, runId: string): Promise<number> {
  const [row] = await tx
    .update(runs)
    .set({ epoch: sql`${runs.epoch} + 1` })
    .where(eq(runs.id, runId))
    .returning({ epoch: runs.epoch });
  if (!row) throw new Error(`run ${runId} is gone`);
  return row.epoch;
}

/** Moves a run from `pending` to `running`. @returns whether this call did it. */
export async function startRun(tx: Transaction, runId: string, at: Date): Promise<boolean> {
  const started = await tx
    .update(runs)
    .set({ state: "running", startedAt: at })
    .where(and(eq(runs.id, runId), eq(runs.state, "pending")))
    .returning({ id: runs.id });
  return started.length === 1;
}

/** Ends a run that the transaction holds the lock of. */
export async function endRun(
  tx: Transaction,
  runId: string,
  end: {
    state: "succeeded" | "errored" | "cancelled";
    error: string | null;
    willRetry: boolean;
    usage: UsageRow;
    endedAt: Date;
  },
): Promise<void> {
  await tx.update(runs).set(end).where(eq(runs.id, runId));
}

/** Writes a run of a request that is there already: a retry. */
export async function insertRun(tx: Transaction, run: typeof runs.$inferInsert): Promise<void> {
  await tx.insert(runs).values(run);
}

/** Notes that an open run is to stop. @returns false when it has ended. */
export async function requestCancel(db: Executor, runId: string, at: Date): Promise<boolean> {
  const noted = await db
    .update(runs)
    .set({ cancelRequestedAt: sql`coalesce(${runs.cancelRequestedAt}, ${at.toISOString()}::timestamptz)` })
    .where(and(eq(runs.id, runId), inArray(runs.state, OPEN_STATES)))
    .returning({ id: runs.id });
  return noted.length === 1;
}

/** Gives a message that waited in the queue its place in the transcript. */
export async function placeMessage(tx: Transaction, messageId: string, seq: number): Promise<void> {
  await tx.update(messages).set({ seq }).where(eq(messages.id, messageId));
}

/** Takes the next places of the transcript. @returns the first of them. */
export async function takePlaces(tx: Transaction, sessionId: string, places: number): Promise<number> {
  const [row] = await tx
    .update(sessions)
    .set({ messageSeq: sql`${sessions.messageSeq} + ${places}::int` })
    .where(eq(sessions.id, sessionId))
    .returning({ last: sessions.messageSeq });
  if (!row) throw new Error(`session ${sessionId} is gone`);
  return row.last - places + 1;
}

/** Adds a message at the end of the transcript. @returns its place. */
export async function appendMessage(tx: Transaction, row: typeof messages.$inferInsert): Promise<number> {
  const seq = await takePlaces(tx, row.sessionId, 1);
  const [added] = await tx
    .insert(messages)
    .values({ ...row, seq })
    .returning({ seq: messages.seq });
  if (!added?.seq) throw new Error(`message ${row.id} got no place in the transcript`);
  return added.seq;
}

/** Notes that a tool call begins: `begun`, `interrupted` where it had begun before, `stale` where the claim is over. */
export function beginToolCall(
  db: Database,
  claim: Claim,
  call: typeof toolCalls.$inferInsert,
): Promise<"begun" | "interrupted" | "stale"> {
  return db.transaction(async (tx) => {
    if (!isRunning(await lockRun(tx, claim.runId), claim)) return "stale";
    const begun = await tx
      .insert(toolCalls)
      .values(call)
      .onConflictDoNothing()
      .returning({ callId: toolCalls.callId });
    return begun.length === 1 ? "begun" : "interrupted";
  });
}

/** Records the end of a tool call, whether or not its beginning was noted. */
export async function endToolCall(tx: Transaction, call: typeof toolCalls.$inferInsert): Promise<void> {
  await tx
    .insert(toolCalls)
    .values(call)
    .onConflictDoUpdate({
      target: [toolCalls.runId, toolCalls.callId],
      set: { state: call.state, resultText: call.resultText, resultId: call.resultId, endedAt: call.endedAt },
    });
}

/** Writes a run's deliverable, or what has become of it. */
export async function upsertDeliverable(
  tx: Transaction,
  row: typeof deliverables.$inferInsert,
): Promise<void> {
  await tx
    .insert(deliverables)
    .values(row)
    .onConflictDoUpdate({
      target: deliverables.runId,
      set: { status: row.status, value: row.value, error: row.error, rawText: row.rawText },
    });
}

/** What a model's history is composed of. */
export type HistoryRow =
  | { kind: "message"; role: "user" | "assistant"; parts: { type: string; text?: string }[] }
  | { kind: "step"; modelMessages: unknown[] };

/**
 * What the model has seen so far, in order: for each request its messages, then what the steps of its runs made.
 * Messages that wait in the queue are not part of it.
 */
export async function readHistory(db: Executor, sessionId: string): Promise<HistoryRow[]> {
  const asked = await db
    .select({ position: requests.position, role: messages.role, parts: messages.parts })
    .from(messages)
    .innerJoin(requests, eq(requests.id, messages.requestId))
    .where(and(eq(messages.sessionId, sessionId), isNull(messages.runId), gt(messages.seq, 0)))
    .orderBy(asc(requests.position), asc(messages.index));
  const made = await db
    .select({ position: requests.position, modelMessages: steps.modelMessages })
    .from(steps)
    .innerJoin(runs, eq(runs.id, steps.runId))
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), sql`${steps.modelMessages} is not null`))
    .orderBy(asc(requests.position), asc(runs.attempt), asc(steps.position));

  const rows: HistoryRow[] = [];
  let next = 0;
  for (const [index, { position, role, parts }] of asked.entries()) {
    rows.push({ kind: "message", role, parts });
    if (asked[index + 1]?.position === position) continue;
    for (; made[next]?.position === position; next++)
      rows.push({ kind: "step", modelMessages: made[next]?.modelMessages ?? [] });
  }
  return rows;
}

/** Outputs of the recorded steps of a run, for its usage. */
export async function listStepOutputs(db: Executor, runId: string): Promise<unknown[]> {
  const rows = await db
    .select({ output: steps.output })
    .from(steps)
    .where(eq(steps.runId, runId))
    .orderBy(asc(steps.position));
  return rows.map((row) => row.output);
}
