import type { NewEvent } from "#lib/events/event.ts";
import { consumeSteers } from "#lib/session/follow-up/steering.ts";
import { endWithUser } from "../prompt/end-with-user.ts";
import { toModelMessage } from "../prompt/to-model-message.ts";
import { aboutRun, StaleClaimError } from "../record/claim.ts";
import { lockRunAndSession } from "../record/turn-store.ts";
import { announce, applyStep, writeEvents } from "../run/record-step.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";

/**
 * Adds steers (messages that joined the turn) to the model's history and to the transcript. Source: `wire.md`,
 * Follow-ups.
 *
 * @param number the number of the first model call that gets the steers.
 * @returns whether a message was read. There may be none, because a caller can withdraw a message.
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function readSteers(deps: TurnDeps, run: RunInPlay, number: number): Promise<boolean> {
  const { claim, session } = run;
  const read = await deps.db.transaction(async (tx) => {
    const locked = await lockRunAndSession(tx, claim.runId);
    if (locked?.epoch !== claim.epoch) throw new StaleClaimError(claim);
    const steers = await consumeSteers(tx, { id: claim.runId, ...claim }, run.messageSeq);
    if (steers.length === 0) return undefined;
    const about = aboutRun(claim);
    const step = {
      // The request's id makes the name unique, because several such steps can precede the same model call.
      name: `steer-${number}-${steers[0]?.requestId}`,
      output: { requestIds: steers.map(({ requestId }) => requestId) },
      modelMessages: endWithUser(steers.flatMap(({ rows }) => rows.map(toModelMessage))),
    };
    const events = steers.flatMap(({ requestId, rows }): NewEvent[] => [
      ...rows.map((message) => ({ kind: "message.completed" as const, ...about, message })),
      { kind: "turn.steered", ...about, steerRequestId: requestId, messageIds: rows.map(({ id }) => id) },
    ]);
    const messageSeq = run.messageSeq + steers.flatMap(({ rows }) => rows).length;
    const written = await writeEvents(tx, claim, session, events, { step, messageSeq });
    if (!written) throw new StaleClaimError(claim);
    return { step, messageSeq, written };
  });
  run.isSteered = false;
  if (!read) return false;
  applyStep(run, read.step, read.messageSeq, read.written.receipt);
  announce(deps, read.written);
  return true;
}
