import type { TimelineItem } from "#lib/page/state/timeline.ts";

/** Items that count as something new to read. Lines of tools and notices belong to them. */
const READ: readonly TimelineItem["type"][] = ["user", "text", "question", "deliverable"];

/**
 * Counts the messages after the last item that the person has read. Earlier messages that were loaded above do not
 * count.
 *
 * @param readKey the key of that item; undefined if the conversation was empty.
 */
export function countNew(items: readonly TimelineItem[], readKey: string | undefined): number {
  const last = items.findIndex(({ key }) => key === readKey);
  if (last < 0 && readKey !== undefined) return 0;
  return items.slice(last + 1).filter(({ type }) => READ.includes(type)).length;
}
