import type { AnnotationPart, AttachmentPart } from "#db/schema/index.ts";
import { newId } from "../new-id.ts";
import type { MessageRow } from "../store/transcript-store.ts";

/** A message as the caller sends it. */
export type IncomingMessage = {
  role: "user" | "assistant";
  parts: ({ type: "text"; text: string } | AttachmentPart | AnnotationPart)[];
};

/**
 * Creates the rows of a request's messages, in order.
 *
 * @param request.firstSeq the transcript position of the first of these messages; null while the request is queued.
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
