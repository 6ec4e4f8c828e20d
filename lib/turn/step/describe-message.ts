import type { MessagePart } from "#db/schema/index.ts";
import type { NewEvent } from "#lib/events/event.ts";
import type { Claim } from "../record/claim.ts";
import { aboutRun } from "../record/claim.ts";
import type { MessageWrite } from "../record/turn-write.ts";

/**
 * Describes a new message of the agent at the end of the transcript: its row, its position, and its event.
 *
 * @param messageSeq the last used position in the transcript.
 */
export function describeMessage(
  claim: Claim,
  messageSeq: number,
  { id, parts }: { id: string; parts: MessagePart[] },
): { messages: MessageWrite[]; messageSeq: number; event: NewEvent } {
  const { requestId, runId } = claim;
  const seq = messageSeq + 1;
  const createdAt = new Date();
  const row = { id, seq, role: "assistant", parts, requestId } as const;
  return {
    messages: [{ ...row, createdAt }],
    messageSeq: seq,
    event: {
      kind: "message.completed",
      ...aboutRun(claim),
      message: { ...row, runId, author: null, createdAt: createdAt.toISOString() },
    },
  };
}
