import { resultsOfOpenCalls } from "../history/history.ts";
import type { HistoryMessage } from "../history/history-entry.ts";

/**
 * Takes messages that become one entry of the history, and adds an error result for each call without a result, before
 * the next message that is not a tool result. A call whose result comes later in `messages` gets no second result. A
 * call at the end of `messages` stays open: `history/history.ts` adds the missing results between entries.
 */
export function closeCallsWithin(messages: readonly HistoryMessage[]): HistoryMessage[] {
  const answered = new Set(
    messages.flatMap((message) =>
      message.role === "tool"
        ? message.content.map((part) => (part.type === "tool-result" ? part.toolCallId : ""))
        : [],
    ),
  );
  const settled: HistoryMessage[] = [];
  for (const message of messages) {
    if (message.role !== "tool") settled.push(...closeUnanswered(settled, answered));
    settled.push(message);
  }
  return settled;
}

function closeUnanswered(before: HistoryMessage[], answered: ReadonlySet<string>): HistoryMessage[] {
  return resultsOfOpenCalls(before).flatMap((message): HistoryMessage[] => {
    if (message.role !== "tool") return [];
    const content = message.content.filter(
      (part) => part.type !== "tool-result" || !answered.has(part.toolCallId),
    );
    return content.length > 0 ? [{ ...message, content }] : [];
  });
}
