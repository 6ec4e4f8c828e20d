import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { newId } from "../new-id.ts";
import {
  type ElicitationRow,
  findElicitation,
  findElicitationOfCall,
  insertElicitation,
  listOpenOfCall,
  readEventContext,
  settleElicitation,
} from "./elicitation-store.ts";

/** The call that asks; where it asks several questions, each after the first has `/<number>` behind the call's id. */
type Asking = { sessionId: string; runId: string; callId: string; signal: AbortSignal };
type Question = { question: string; options: string[] | null; timeoutMs: number };

/** What became of a question. */
export type ElicitationEnd =
  | { state: "answered"; answer: string }
  | { state: "declined" }
  | { state: "unanswered"; reason: string };

type AnswerResult = "accepted" | "unknown" | "settled";

/** Questions of the agent to the people on the session page. */
export type Elicitations = {
  /** Shows a question and waits for what becomes of it. A call that was interrupted finds its question again. */
  ask: (asking: Asking, question: Question) => Promise<ElicitationEnd>;
  answer: (sessionId: string, id: string, answer: string | null) => Promise<AnswerResult>;
  /** Withdraws what a call had asked that is not made again: nobody waits for the answers. */
  abandon: (asking: Pick<Asking, "runId" | "callId">) => Promise<void>;
};

/** @see Elicitations */
export function createElicitations(deps: { db: Database; log: EventLog }): Elicitations {
  const { db, log } = deps;

  const settle = (
    row: ElicitationRow,
    end: { state: "answered" | "declined" | "unanswered"; answer: string | null },
  ) =>
    log.transact(row.sessionId, async (tx, emit) => {
      const settled = await settleElicitation(tx, row.id, end);
      if (!settled) return false;
      const about = await readEventContext(tx, row.runId);
      emit({ kind: "elicitation.resolved", ...about, elicitationId: row.id, ...end });
      return true;
    });

  const obtain = async (asking: Asking, question: Question): Promise<ElicitationRow> => {
    const known = await findElicitationOfCall(db, asking.runId, asking.callId);
    if (known) return known;
    const { sessionId, runId, callId } = asking;
    const id = newId("eli");
    await log.transact(sessionId, async (tx, emit) => {
      await insertElicitation(tx, {
        id,
        sessionId,
        runId,
        callId,
        question: question.question,
        options: question.options,
      });
      const about = await readEventContext(tx, runId);
      emit({
        kind: "elicitation.requested",
        ...about,
        elicitationId: id,
        toolCallId: callId,
        question: question.question,
        options: question.options,
      });
    });
    const row = await findElicitation(db, sessionId, id);
    if (!row) throw new Error(`question ${id} vanished after it was stored`);
    return row;
  };

  return {
    async ask(asking, question) {
      const row = await obtain(asking, question);
      // Never longer than its own time, also where the clock was set back since the question was stored.
      const passedMs = Math.max(0, Date.now() - row.createdAt.getTime());
      const leftMs = Math.max(0, question.timeoutMs - passedMs);
      await waitForResolution(log, row, AbortSignal.any([asking.signal, AbortSignal.timeout(leftMs)]), () =>
        findElicitation(db, row.sessionId, row.id),
      );
      // The service ends, the question does not: the call is made again after the next start, and finds it.
      if (isShutdown(asking.signal.reason)) throw asking.signal.reason;
      // Nobody can answer once this has won; whoever answered before, is heard.
      await settle(row, { state: "unanswered", answer: null });
      const settled = await findElicitation(db, row.sessionId, row.id);
      if (settled?.state === "answered") return { state: "answered", answer: settled.answer ?? "" };
      if (settled?.state === "declined") return { state: "declined" };
      return {
        state: "unanswered",
        reason: asking.signal.aborted ? "the turn was stopped" : "nobody answered in time",
      };
    },
    async answer(sessionId, id, answer) {
      const row = await findElicitation(db, sessionId, id);
      if (!row) return "unknown";
      const end =
        answer === null ? { state: "declined" as const, answer } : { state: "answered" as const, answer };
      return (await settle(row, end)) ? "accepted" : "settled";
    },
    async abandon({ runId, callId }) {
      for (const row of await listOpenOfCall(db, runId, callId))
        await settle(row, { state: "unanswered", answer: null });
    },
  };
}

/** Whether a signal fired because the process ends. The turn engine, on a higher floor, names its reason so. */
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
  signal.addEventListener("abort", () => resolve(), { once: true });
  try {
    // Subscribed first, so that an answer between the two is not missed.
    if (signal.aborted || (await read())?.state !== "open") return;
    await promise;
  } finally {
    unsubscribe();
  }
}
