import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { ElicitationAnswer, ElicitationForm } from "#db/schema/index.ts";
import type { WaitEnd } from "#db/schema/unions.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { newId } from "../new-id.ts";
import {
  acceptsAnswers,
  closeElicitation,
  type ElicitationOutcome,
  type ElicitationRow,
  findElicitation,
  findElicitationOfCall,
  insertElicitation,
  listOpenOfRun,
  readEventContext,
} from "../store/elicitation-store.ts";
import { findRun } from "../store/run-store.ts";
import { lockSession } from "../store/session-store.ts";

/**
 * The tool call that asks a question. If it asks several, `callId` ends with `/<number>` for each question after the
 * first.
 */
type Asking = { sessionId: string; runId: string; callId: string };
type Question = {
  question: string;
  options: string[] | null;
  form: ElicitationForm | null;
  timeoutMs: number;
};

/**
 * How a question ended. `unanswered`: the deadline passed. `withdrawn`: a message or a stop ended the wait, or the run
 * or the call that asked the question no longer waits for the answer.
 */
export type ElicitationEnd =
  | { state: "answered"; answer: ElicitationAnswer }
  | { state: "declined" | "unanswered" | "withdrawn" };

/** A question that still waits for an answer. */
type OpenElicitation = { state: "open"; id: string; expiresAt: Date };

/** Questions of the agent to the people on the session page. */
export type Elicitations = {
  /**
   * Asks a question. If the call has already asked a question, returns the state of the stored question.
   *
   * @param endedBy how the wait for the answer ended; undefined if the call still waits. Every value except `settled`
   * closes a question that is still open.
   */
  ask: (
    asking: Asking,
    question: Question,
    endedBy: WaitEnd | undefined,
  ) => Promise<ElicitationEnd | OpenElicitation>;
  /** Asks a question and waits for the answer in this process, because a call of a tool server cannot be suspended. */
  askAndWait: (asking: Asking & { signal: AbortSignal }, question: Question) => Promise<ElicitationEnd>;
  /**
   * Withdraws the open questions of a run, or of one tool call, because the run or call no longer waits for their
   * answers.
   */
  abandon: (asking: { runId: string; callId?: string }) => Promise<void>;
};

type ElicitationDeps = { db: Database; log: EventLog };

/** Creates {@link Elicitations} that store questions in the database and emit events about them. */
export function createElicitations(deps: ElicitationDeps): Elicitations {
  const { db, log } = deps;
  return {
    async ask(asking, question, endedBy) {
      const row = await findOrInsert(deps, asking, question);
      if (row.state !== "open") return toEnd(row);
      const state = endedBy && STATE_AFTER[endedBy];
      if (state === undefined) return { state: "open", id: row.id, expiresAt: row.expiresAt };
      return closeAndRead(deps, row, state);
    },
    async askAndWait({ signal, ...asking }, question) {
      const row = await findOrInsert(deps, asking, question);
      // The wait is limited to the question's timeout, because `expiresAt` is too late if the clock has been set back.
      const leftMs = Math.min(question.timeoutMs, Math.max(0, row.expiresAt.getTime() - Date.now()));
      await createDeadline({ ms: leftMs, signal }).run((limited) =>
        waitForResolution(log, row, limited, () => findElicitation(db, row.sessionId, row.id)),
      );
      // The question remains open on shutdown, because the call is executed again after the next start and finds it.
      if (isShutdown(signal.reason)) throw signal.reason;
      return closeAndRead(deps, row, signal.aborted ? "withdrawn" : "unanswered");
    },
    async abandon({ runId, callId }) {
      for (const row of await listOpenOfRun(db, runId, callId)) await closeQuestion(deps, row, "withdrawn");
    },
  };
}

/** The state that an open question gets when its wait ends; undefined if the question stays open. */
const STATE_AFTER: Record<WaitEnd, "unanswered" | "withdrawn" | undefined> = {
  settled: undefined,
  deadline: "unanswered",
  message: "withdrawn",
  stopped: "withdrawn",
};

async function findOrInsert(
  deps: ElicitationDeps,
  asking: Asking,
  { timeoutMs, ...question }: Question,
): Promise<ElicitationRow> {
  const { db, log } = deps;
  const { sessionId, runId, callId } = asking;
  const existing = await findElicitationOfCall(db, runId, callId);
  if (existing) return existing;
  const id = newId("eli");
  const expiresAt = new Date(Date.now() + timeoutMs);
  await repeatOnDeadlock(() =>
    log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      await insertElicitation(tx, { id, sessionId, runId, callId, ...question, expiresAt });
      emit({
        kind: "elicitation.requested",
        ...(await readEventContext(tx, runId)),
        elicitationId: id,
        toolCallId: callId,
        ...question,
        expiresAt: expiresAt.toISOString(),
      });
    }),
  );
  const row = await findElicitation(db, sessionId, id);
  if (!row) throw new Error(`question ${id} vanished after it was stored`);
  // Checks after the insert whether the run still accepts answers. A stop before the insert could not withdraw this
  // question, so this function withdraws it.
  const run = await findRun(db, runId);
  if (run && acceptsAnswers(run)) return row;
  await closeQuestion(deps, row, "withdrawn");
  return (await findElicitation(db, sessionId, id)) ?? row;
}

function closeQuestion(
  { log }: ElicitationDeps,
  row: ElicitationRow,
  state: ElicitationOutcome["state"],
): Promise<unknown> {
  return repeatOnDeadlock(() =>
    log.transact(row.sessionId, async (tx, emit) => {
      // Locks in the same order as `answerElicitation`, to avoid deadlocks.
      await lockSession(tx, row.sessionId);
      const end = { state, answer: null };
      if (!(await closeElicitation(tx, row.id, end, null))) return;
      const about = await readEventContext(tx, row.runId);
      emit({ kind: "elicitation.resolved", ...about, elicitationId: row.id, ...end });
    }),
  );
}

/**
 * Closes the question with `state` if it is still open, then returns how it ended. An answer that was stored first
 * wins.
 */
async function closeAndRead(
  deps: ElicitationDeps,
  row: ElicitationRow,
  state: "unanswered" | "withdrawn",
): Promise<ElicitationEnd> {
  await closeQuestion(deps, row, state);
  const settled = await findElicitation(deps.db, row.sessionId, row.id);
  return settled ? toEnd(settled) : { state };
}

function toEnd({ id, state, answer }: ElicitationRow): ElicitationEnd {
  if (state === "open") throw new Error(`question ${id} is still open`);
  return state === "answered" ? { state, answer: answer ?? "" } : { state };
}

/** Whether a signal was aborted because the process shuts down. `lib/turn` then aborts with an error of this name. */
const isShutdown = (reason: unknown) => reason instanceof Error && reason.name === "ShutdownError";

/** Resolves when the question is settled or the signal fires. */
async function waitForResolution(
  log: EventLog,
  row: ElicitationRow,
  signal: AbortSignal,
  read: () => Promise<ElicitationRow | undefined>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = log.subscribe(
    row.sessionId,
    (item) => {
      if (
        item.type === "event" &&
        item.event.kind === "elicitation.resolved" &&
        item.event.body.includes(row.id)
      )
        resolve();
    },
    () =>
      void read().then(
        (now) => now?.state !== "open" && resolve(),
        () => {},
      ),
  );
  try {
    // Reads only after subscribing: this read finds an earlier answer, and the subscription reports a later one.
    if (signal.aborted || (await read())?.state !== "open") return;
    await createDeadline({ signal }).settles(promise);
  } finally {
    unsubscribe();
  }
}
