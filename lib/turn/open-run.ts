import type { ModelMessage } from "ai";
import type { NewEvent } from "#lib/events/event.ts";
import { type MessageRow, toTranscriptMessage } from "#lib/session/message-store.ts";
import { aboutRun } from "./about-run.ts";
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
  const asked = claim.attempt === 1 ? run.asked : [];
  const transcript = placeMessages(run, asked);
  const about = aboutRun(claim);
  const deliverable = { runId: claim.runId, status: "pending" } as const;
  const events: NewEvent[] = [
    { kind: "run.started", ...about, attempt: claim.attempt, origin: claim.origin },
    ...transcript.messages.map((message) => ({ kind: "message.completed" as const, ...about, message })),
  ];
  if (claim.isStructured) events.push({ kind: "deliverable.pending", ...about, deliverable });
  const startedAt = new Date();
  await recordStep(turn, run, {
    name: "open",
    output: {},
    modelMessages: asked.map(toModelMessage),
    startedAt,
    events,
    placed: transcript.placed,
    ...(transcript.placed.length > 0 && { messageSeq: transcript.lastSeq }),
    ...(claim.isStructured && { deliverable }),
  });
  run.startedAt ??= startedAt;
  run.requestFrom ||= run.history.entries.at(-1)?.position ?? 0;
}

/** Gives messages that waited outside the transcript their places; the others have theirs. */
function placeMessages(run: RunInPlay, rows: MessageRow[]) {
  let lastSeq = run.messageSeq;
  const placed: { id: string; seq: number }[] = [];
  const messages = rows.map((row) => {
    if (row.seq !== null) return toTranscriptMessage(row, row.seq);
    placed.push({ id: row.id, seq: ++lastSeq });
    return toTranscriptMessage(row, lastSeq);
  });
  return { messages, placed, lastSeq };
}

/** A caller's message as the model is shown it. */
const toModelMessage = ({ role, parts }: MessageRow): ModelMessage => ({
  role,
  content: parts.map((part) => ("text" in part ? part.text : "")).join("\n"),
});
