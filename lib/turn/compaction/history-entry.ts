import type { ModelMessage } from "ai";

/** A message of the history with what this service notes on it. The AI SDK sends none of the notes to a provider. */
export type HistoryMessage = ModelMessage & {
  /** A tool message: the handle by which `read_tool_result` finds the whole result. */
  resultId?: string;
  /** A user message inside a compaction: position of the step that brought it; 0 where its request is over. */
  position?: number;
  /** A user message that is the service's own summary of what was before. */
  isSummary?: true;
  /** A user message that the service added; it is no task. A model is shown it before the user's message that it belongs to. */
  isAdded?: true;
};

/**
 * What one recorded step shows the model. Entries stand in the order of their positions; the entry of a compaction comes
 * first, and its position is the `replacesThrough` of its step.
 */
export type HistoryEntry = { position: number; messages: HistoryMessage[] };

/** What a compaction step stores: `messages` stand for every entry up to position `replacesThrough`. */
export type Compaction = {
  kind: "offloaded" | "summarized";
  replacesThrough: number;
  messages: HistoryMessage[];
};

/** The history after a compaction. Pure; the entries that stay are the same objects. */
export function applyCompaction(entries: readonly HistoryEntry[], compaction: Compaction): HistoryEntry[] {
  const { replacesThrough, messages } = compaction;
  return [
    { position: replacesThrough, messages },
    ...entries.filter(({ position }) => position > replacesThrough),
  ];
}
