import type { Executor } from "#db/client.ts";
import type { WaitingOn } from "#lib/events/event.ts";
import { listOpenElicitations } from "../store/elicitation-store.ts";
import type { RunRow } from "../store/run-store.ts";
import { listWaits } from "../store/wait-store.ts";
import { toWaitingOn } from "./waiting-on.ts";

/**
 * Reads what a running turn waits for; null if it does not wait. A turn with an open question of a tool server also
 * waits, although it is not parked.
 */
export async function readWaitingOn(
  db: Executor,
  run: Pick<RunRow, "id" | "sessionId" | "parkedAt">,
): Promise<WaitingOn | null> {
  if (run.parkedAt !== null) {
    const waits = await listWaits(db, run.id);
    return toWaitingOn(
      waits.filter(({ endedBy }) => endedBy === null),
      run.parkedAt,
    );
  }
  const questions = (await listOpenElicitations(db, run.sessionId)).filter(({ runId }) => runId === run.id);
  const [first] = questions;
  return first
    ? toWaitingOn(
        questions.map(({ id, expiresAt }) => ({ kind: "person", subjects: [id], deadlineAt: expiresAt })),
        first.createdAt,
      )
    : null;
}
