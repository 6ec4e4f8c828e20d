import type { NewEvent } from "#lib/events/event.ts";
import { aboutRun } from "./about-run.ts";
import { describeAsked } from "./describe-asked.ts";
import { recordStep } from "./record-step.ts";
import { findRecorded, type RunInPlay } from "./run-in-play.ts";
import type { TurnDeps } from "./turn-deps.ts";

/**
 * Starts a claimed run: `run.started` with its callback row, and the pending deliverable of a structured session. The
 * first run of a request also puts its messages into the transcript, and before the model.
 */
export async function openRun(turn: TurnDeps, run: RunInPlay): Promise<void> {
  if (findRecorded(run, "open")) return;
  const { claim } = run;
  const asked = describeAsked(claim, claim.attempt === 1 ? run.asked : [], run.messageSeq);
  const about = aboutRun(claim);
  const deliverable = { runId: claim.runId, status: "pending" } as const;
  const events: NewEvent[] = [
    { kind: "run.started", ...about, attempt: claim.attempt, origin: claim.origin },
    ...asked.events,
  ];
  if (claim.isStructured) events.push({ kind: "deliverable.pending", ...about, deliverable });
  const startedAt = new Date();
  await recordStep(turn, run, {
    name: "open",
    output: {},
    ...asked,
    startedAt,
    events,
    ...(claim.isStructured && { deliverable }),
  });
  run.startedAt ??= startedAt;
  run.requestFrom ||= run.history.entries.at(-1)?.position ?? 0;
}
