import type { HistoryEntry, HistoryMessage } from "../history/history-entry.ts";

/** A message with the position of its entry. */
export type Item = { position: number; message: HistoryMessage };

/** Lists the messages of all entries, in order. */
export const listItems = (entries: readonly HistoryEntry[]): Item[] =>
  entries.flatMap(({ position, messages }) => messages.map((message) => ({ position, message })));

/**
 * Divides a history into groups that must not be split, and returns the index at which each group begins; the first is
 * 0. A group holds an assistant message, all results of its calls, and all messages in between. A result without its
 * call belongs to the message before it. Each other message is a group of its own.
 */
export function groupMessages(items: readonly Item[]): number[] {
  const callers = new Map<string, number>();
  const reaches = items.map((_, index) => index);
  for (const [index, { message }] of items.entries()) {
    if (typeof message.content === "string") continue;
    for (const part of message.content) {
      if (part.type === "tool-call") callers.set(part.toolCallId, index);
      if (part.type !== "tool-result") continue;
      const caller = callers.get(part.toolCallId) ?? Math.max(0, index - 1);
      reaches[caller] = Math.max(reaches[caller] ?? 0, index);
    }
  }
  const starts: number[] = [];
  let end = -1;
  for (const [index, reach] of reaches.entries()) {
    if (index > end) starts.push(index);
    end = Math.max(end, reach);
  }
  return starts;
}

/**
 * Returns the position of the last entry that a compaction replaces. `index` is the index of the last message that the
 * compaction changes. Entries and groups are replaced as a whole, so that a call and its results are either all inside
 * the compaction or all after it.
 */
export function findReplacedThrough(
  items: readonly Item[],
  starts: readonly number[],
  index: number,
): number {
  let last = index;
  for (;;) {
    const position = items[last]?.position ?? 0;
    const endOfEntry = items.findLastIndex((item) => item.position === position);
    const next = starts.find((start) => start > endOfEntry) ?? items.length;
    if (next - 1 === endOfEntry) return position;
    last = next - 1;
  }
}
