import type { NewEvent } from "#lib/events/event.ts";
import { takeSteers } from "#lib/session/follow-up/steering.ts";
import { aboutRun, StaleClaimError } from "../record/claim.ts";
import { announce, keepStep, writeEvents } from "../record/record-step.ts";
import { lockRunAndSession } from "../record/turn-store.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../turn-deps.ts";

/**
 * Puts the messages that steer the turn before the model, and into the transcript. Source: `wire.md`, Follow-ups.
 *
 * @param number of the model call that will be the first to see them.
 * @returns whether there were any: one may have been taken back.
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function readSteers(deps: TurnDeps, run: RunInPlay, number: number): Promise<boolean> {
  const { claim, session } = run;
  const written = await deps.db.transaction(async (tx) => {
    const locked = await lockRunAndSession(tx, claim.runId);
    if (locked?.epoch !== claim.epoch) throw new StaleClaimError(claim);
    const steers = await takeSteers(tx, { id: claim.runId, ...claim }, run.messageSeq);
    if (steers.length === 0) return undefined;
    const about = aboutRun(claim);
    const step = {
      // Several may come before one call, where that call is made again after a crash.
      name: `steer-${number}-${steers[0]?.requestId}`,
      output: { requestIds: steers.map(({ requestId }) => requestId) },
      modelMessages: steers.flatMap(({ modelMessages }) => modelMessages),
    };
    const events = steers.flatMap(({ requestId, rows }): NewEvent[] => [
      ...rows.map((message) => ({ kind: "message.completed" as const, ...about, message })),
      { kind: "turn.steered", ...about, steerRequestId: requestId, messageIds: rows.map(({ id }) => id) },
    ]);
    const messageSeq = run.messageSeq + steers.flatMap(({ rows }) => rows).length;
    const made = await writeEvents(tx, claim, session, events, { step, messageSeq });
    if (!made) throw new StaleClaimError(claim);
    return { step, messageSeq, made };
  });
  run.isSteered = false;
  if (!written) return false;
  keepStep(run, written.step, written.messageSeq, written.made.receipt);
  announce(deps, written.made);
  return true;
}
