import type { ModelMessage, ToolResultPart } from "ai";
import type { HistoryEntry, HistoryMessage } from "./history-entry.ts";

/** The messages that one recorded step shows the model. A compaction also replaces all entries up to `replacesThrough`. */
export type RecordedEntry = HistoryEntry & { replacesThrough?: number | undefined };

/** The conversation that the model of a session sees, as its steps recorded it, in order. */
export type History = {
  readonly entries: readonly HistoryEntry[];
  /** The messages of all entries for a prompt. Each call has a result, because a provider refuses a call without one. */
  readonly messages: readonly ModelMessage[];
  append: (entry: RecordedEntry) => void;
};

/**
 * Creates a history from a session's entries, in the order of their positions.
 *
 * @param recorded the newest compaction and every entry that it does not replace.
 */
export function createHistory(recorded: RecordedEntry[]): History {
  let entries: HistoryEntry[] = [];
  let messages: ModelMessage[] = [];
  const append = (entry: RecordedEntry) => {
    const through = entry.replacesThrough;
    if (through === undefined && (entries.at(-1)?.position ?? 0) > entry.position) {
      // Concurrent tool calls can end in any order, so the entries are sorted by their positions.
      const all = [...entries, entry].sort((one, other) => one.position - other.position);
      entries = [];
      messages = [];
      for (const each of all) append(each);
      return;
    }
    if (through === undefined) {
      entries.push(entry);
      messages.push(...closeOpenCalls(messages, entry.messages));
      for (const [index, message] of entry.messages.entries())
        pushMessage(messages, message, index === entry.messages.length - 1);
      return;
    }
    const later = entries.filter(({ position }) => position > through);
    entries = [];
    messages = [];
    for (const each of [{ position: through, messages: entry.messages }, ...later]) append(each);
  };
  for (const entry of recorded) append(entry);
  return {
    get entries() {
      return entries;
    },
    get messages() {
      const settled = resultsOfOpenCalls(messages);
      // Usually no result is missing. Then the same array is returned, so that a long history is not copied in every
      // step.
      return settled.length === 0 ? messages : [...messages, ...settled];
    },
    append,
  };
}

/**
 * Appends a message. If the service added the message as the last one of its step, and the last message of the history is
 * a user message, the added message goes before that user message, so that the user message stays last.
 */
function pushMessage(messages: ModelMessage[], message: HistoryMessage, isLast: boolean): void {
  const last: HistoryMessage | undefined = messages.at(-1);
  // A message of the service may refer to the message before it.
  const isBefore =
    isLast && message.role === "user" && message.isAdded && last?.role === "user" && !last.isAdded;
  messages.splice(isBefore ? messages.length - 1 : messages.length, 0, message);
}

type OpenCall = { toolCallId: string; toolName: string };

/**
 * Lists the calls of the last assistant message that have no result yet. Lists none if a user message follows, because
 * the missing results were then added before that message.
 */
function listOpenCalls(messages: readonly ModelMessage[]): OpenCall[] {
  const answered = new Set<string>();
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role === "tool") {
      for (const part of message.content) if (part.type === "tool-result") answered.add(part.toolCallId);
      continue;
    }
    if (message?.role !== "assistant" || typeof message.content === "string") return [];
    return message.content.flatMap((part) =>
      part.type === "tool-call" && !answered.has(part.toolCallId)
        ? [{ toolCallId: part.toolCallId, toolName: part.toolName }]
        : [],
    );
  }
  return [];
}

/**
 * If `next` does not begin with tool results, returns error results for the calls in `before` that have no result,
 * because their turn was stopped or failed. The caller adds them before `next`.
 */
function closeOpenCalls(before: readonly ModelMessage[], next: ModelMessage[]): ModelMessage[] {
  if (next.length === 0 || next[0]?.role === "tool") return [];
  return resultsOfOpenCalls(before);
}

/** Returns a message with a result for each call that `listOpenCalls` lists; an empty array if it lists none. */
export function resultsOfOpenCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const open = listOpenCalls(messages);
  return open.length === 0 ? [] : [{ role: "tool", content: open.map(notExecuted) }];
}

const notExecuted = (call: OpenCall): ToolResultPart => ({
  type: "tool-result",
  ...call,
  output: { type: "error-text", value: "This call was not executed: its turn ended before." },
});
