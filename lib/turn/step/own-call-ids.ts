import type { ModelMessage } from "ai";
import { newId } from "#lib/session/new-id.ts";

/**
 * Replaces the provider's call ids in an answer's calls and messages by ids of this service. Some servers use the same
 * id for several calls, but the id must identify a call's row.
 *
 * @param calls in the order of the message's call parts.
 */
export function ownCallIds<Call extends { callId: string }>(
  calls: Call[],
  messages: ModelMessage[],
): { calls: Call[]; modelMessages: ModelMessage[] } {
  const renamed = calls.map((call) => ({ from: call.callId, to: newId("call") }));
  // Calls, call parts and results are renamed separately. If several calls have the same id, each of the three lists
  // has them in the same order, so the nth occurrence of the id always gets the new id of the same call.
  const createRename = () => {
    const left = [...renamed];
    return (id: string) => {
      const at = left.findIndex(({ from }) => from === id);
      return at < 0 ? id : (left.splice(at, 1)[0]?.to ?? id);
    };
  };
  const ofCall = createRename();
  const ofPart = createRename();
  const ofResult = createRename();
  return {
    calls: calls.map((call) => ({ ...call, callId: ofCall(call.callId) })),
    modelMessages: messages.map((message): ModelMessage => {
      if (message.role === "assistant" && typeof message.content !== "string") {
        const content = message.content.map((part) =>
          part.type === "tool-call" ? { ...part, toolCallId: ofPart(part.toolCallId) } : part,
        );
        return { ...message, content };
      }
      if (message.role !== "tool") return message;
      const content = message.content.map((part) =>
        part.type === "tool-result" ? { ...part, toolCallId: ofResult(part.toolCallId) } : part,
      );
      return { ...message, content };
    }),
  };
}
