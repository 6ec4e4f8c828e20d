import type { ModelMessage } from "ai";
import type { NewEvent } from "#lib/events/event.ts";
import { type MessageRow, toTranscriptMessage } from "#lib/session/message-store.ts";
import { aboutRun } from "./about-run.ts";
import type { Claim } from "./claim.ts";

/**
 * The messages that a request brought, as its turn begins with them: before the model, in the transcript (those that
 * waited outside it get their places now), and as events.
 *
 * @param messageSeq the last place given so far.
 */
export function describeAsked(claim: Claim, asked: MessageRow[], messageSeq: number) {
  let lastSeq = messageSeq;
  const placed: { id: string; seq: number }[] = [];
  const events = asked.map((row): NewEvent => {
    const seq = row.seq ?? ++lastSeq;
    if (row.seq === null) placed.push({ id: row.id, seq });
    return { kind: "message.completed", ...aboutRun(claim), message: toTranscriptMessage(row, seq) };
  });
  return {
    events,
    modelMessages: asked.map(toModelMessage),
    placed,
    ...(placed.length > 0 && { messageSeq: lastSeq }),
  };
}

/** A caller's message as the model is shown it. */
const toModelMessage = ({ role, parts }: MessageRow): ModelMessage => ({
  role,
  content: parts.map((part) => ("text" in part ? part.text : "")).join("\n"),
});
