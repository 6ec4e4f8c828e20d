import type { HistoryEntry, HistoryMessage } from "./history-entry.ts";

/** A message with the position of its entry. */
export type Item = { position: number; message: HistoryMessage };

/** The messages of all entries, in order. */
export const listItems = (entries: readonly HistoryEntry[]): Item[] =>
  entries.flatMap(({ position, messages }) => messages.map((message) => ({ position, message })));

/**
 * Where a history may be parted: indexes at which a group of messages begins, the first one 0. A group holds an assistant
 * message with all results of its calls, wherever they stand, and what stands between them; a result whose call is not
 * there belongs to what is before it.
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
 * The position through which a compaction replaces entries, whose last change is at `index`: entries are replaced whole, and
 * so are groups, so that no call stands in it whose results stand behind it.
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
