import type { ModelMessage } from "ai";

/** A message of the history with this service's own fields. The AI SDK sends none of these fields to a provider. */
export type HistoryMessage = ModelMessage & {
  /** On a tool message: the id by which `read_tool_result` finds the whole result. */
  resultId?: string;
  /**
   * On a user message that a compaction has kept: the position of the step that first recorded the message; 0 if the
   * message is not from the running request.
   */
  position?: number;
  /** Marks the service's own summary of the earlier conversation. The summary has the role of a user message. */
  isSummary?: true;
  /** Marks a message that the service wrote in the role of the user. It is not a task. */
  isAdded?: true;
  /** Marks a message about the state of the session at the start of a turn. The newest one survives compactions. */
  isState?: true;
};

/**
 * The messages that one recorded step adds for the model. Entries are in the order of their positions. The entry of a
 * compaction comes first, and its position is the `replacesThrough` of its step.
 */
export type HistoryEntry = { position: number; messages: HistoryMessage[] };

/** What a compaction step stores: `messages` replace every entry up to position `replacesThrough`. */
export type Compaction = {
  kind: "offloaded" | "summarized";
  replacesThrough: number;
  messages: HistoryMessage[];
};

/** Returns the history after a compaction. Pure; entries that are not replaced are the same objects. */
export function applyCompaction(entries: readonly HistoryEntry[], compaction: Compaction): HistoryEntry[] {
  const { replacesThrough, messages } = compaction;
  return [
    { position: replacesThrough, messages },
    ...entries.filter(({ position }) => position > replacesThrough),
  ];
}
