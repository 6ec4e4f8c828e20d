import { setImmediate as afterIo } from "node:timers/promises";
import type { NewEvent } from "#lib/events/event.ts";
import { type MessageRow, toTranscriptMessage } from "#lib/session/store/transcript-store.ts";
import { composeOwnTools } from "../prompt/compose-tools.ts";
import { endWithUser } from "../prompt/end-with-user.ts";
import { needsFirstLook } from "../prompt/record-first-look.ts";
import { describeState } from "../prompt/record-state.ts";
import { toModelMessage } from "../prompt/to-model-message.ts";
import { aboutRun, type Claim } from "../record/claim.ts";
import { recordIf, recordStep, type StepRecord } from "../run/record-step.ts";
import { findRecorded, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { composeAhead, dropComposed } from "../step/compose-ahead.ts";

/**
 * Starts a claimed run: writes `run.started` with its callback row and, for a structured session, the pending
 * deliverable. The first run of a request also adds the request's messages to the transcript and to the model's
 * history.
 */
export async function openRun(deps: TurnDeps, run: RunInPlay): Promise<void> {
  if (findRecorded(run, "open")) return;
  const opening = describeOpening(deps, run);
  await recordStep(deps, run, opening);
  recordOpening(run, opening);
}

/**
 * Claims and starts the first run of a session in one statement, if nothing has changed since the session was created.
 * @returns whether the run is claimed.
 */
export async function openFreshRun(
  deps: TurnDeps,
  run: RunInPlay,
  claim: { player: string; generation: number },
): Promise<boolean> {
  const opening = describeOpening(deps, run);
  const opened = recordIf(deps, run, { ...opening, claim }, "fresh");
  const [isClaimed] = await Promise.all([opened, composeFirst(deps, run, opening)]);
  if (!isClaimed) {
    dropComposed(run);
    // Listing the tools may have opened a connection.
    deps.mcp.release(run.claim);
    return false;
  }
  recordOpening(run, opening);
  return true;
}

/**
 * Composes the first model call while the run is being opened, unless the turn has to do something before that call.
 */
async function composeFirst(
  deps: TurnDeps,
  run: RunInPlay,
  { modelMessages = [] }: StepRecord<object>,
): Promise<void> {
  if (run.claim.isStructured) return;
  await afterIo();
  if ((await composeOwnTools(deps, run)) && !needsFirstLook(run)) composeAhead(deps, run, modelMessages);
}

function recordOpening(run: RunInPlay, { startedAt }: { startedAt: Date }): void {
  run.startedAt ??= startedAt;
  run.requestFrom ||= run.history.entries.at(-1)?.position ?? 0;
}

function describeOpening(deps: TurnDeps, run: RunInPlay): StepRecord<object> & { startedAt: Date } {
  const { claim } = run;
  const {
    events: messageEvents,
    modelMessages,
    ...opened
  } = describeRequestMessages(claim, claim.attempt === 1 ? run.requestMessages : [], run.messageSeq);
  const about = aboutRun(claim);
  const deliverable = { runId: claim.runId, status: "pending" } as const;
  const events: NewEvent[] = [
    { kind: "run.started", ...about, attempt: claim.attempt, origin: claim.origin },
    ...messageEvents,
  ];
  if (claim.isStructured) events.push({ kind: "deliverable.pending", ...about, deliverable });
  return {
    name: "open",
    output: {},
    ...opened,
    modelMessages: [
      ...(claim.attempt === 1 ? describeState(deps, run) : []),
      ...endWithUser(modelMessages, run.history.messages),
    ],
    startedAt: new Date(),
    events,
    ...(claim.isStructured && { deliverable }),
  };
}

/**
 * Describes the messages of a request at the start of its turn, as model messages and as events. Messages that are not
 * in the transcript yet get positions (`renumbered`).
 *
 * @param messageSeq the last used position in the transcript.
 */
export function describeRequestMessages(claim: Claim, requestMessages: MessageRow[], messageSeq: number) {
  let lastSeq = messageSeq;
  const renumbered: { id: string; seq: number }[] = [];
  const events = requestMessages.map((row): NewEvent => {
    const seq = row.seq ?? ++lastSeq;
    if (row.seq === null) renumbered.push({ id: row.id, seq });
    return { kind: "message.completed", ...aboutRun(claim), message: toTranscriptMessage(row, seq) };
  });
  return {
    events,
    modelMessages: requestMessages.map(toModelMessage),
    renumbered,
    ...(renumbered.length > 0 && { messageSeq: lastSeq }),
  };
}
