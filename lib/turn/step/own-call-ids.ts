import type { ModelMessage } from "ai";
import { newId } from "#lib/session/new-id.ts";

/**
 * An answer with call ids of our own in place of the provider's, calls and messages alike: some servers give the same
 * id again and again, and a call's row is found by it.
 *
 * @param calls in the order of the message's call parts.
 */
export function ownCallIds<Call extends { callId: string }>(
  calls: Call[],
  messages: ModelMessage[],
): { calls: Call[]; modelMessages: ModelMessage[] } {
  const renamed = calls.map((call) => ({ from: call.callId, to: newId("call") }));
  // Each kind of mention comes once per call, in the calls' order.
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
