import { newId } from "../new-id.ts";
import type { MessageRow } from "../transcript/transcript-store.ts";

/** A message as a caller sends it. */
export type IncomingMessage = { role: "user" | "assistant"; parts: { type: "text"; text: string }[] };

/**
 * The rows of the messages that a request brings, in order.
 *
 * @param request.firstSeq their first place in the transcript; null for those that wait for their turn outside it.
 */
export function toMessageRows(
  messages: IncomingMessage[],
  request: { sessionId: string; requestId: string; userId: string | null; firstSeq: number | null },
): Omit<MessageRow, "runId" | "createdAt">[] {
  const { sessionId, requestId, userId, firstSeq } = request;
  return messages.map((message, index) => ({
    id: newId("msg"),
    sessionId,
    seq: firstSeq === null ? null : firstSeq + index,
    index,
    role: message.role,
    parts: message.parts,
    requestId,
    author: message.role === "user" ? userId : null,
  }));
}
