import type { CompactionView, DomainEvent } from "./view-types.ts";

type CompactionEvent = Extract<DomainEvent, { kind: "turn.compacting" | "turn.compacted" }>;

/**
 * The compactions of a session brought on by one event: one that begins is told after the message that is the newest then,
 * and stays there when it has ended. Pure.
 */
export function applyCompactionEvent(
  compactions: readonly CompactionView[],
  event: CompactionEvent,
  afterMessageId: string | null,
): CompactionView[] {
  const { seq, runId } = event;
  const begun = compactions.find((each) => each.runId === runId && each.done === null);
  if (event.kind === "turn.compacting")
    return begun ? [...compactions] : [...compactions, { seq, runId, afterMessageId, done: null }];
  const { how, tokensBefore, tokensAfter, messagesReplaced } = event;
  const ended: CompactionView = {
    ...(begun ?? { seq, runId, afterMessageId }),
    done: { how, tokensBefore, tokensAfter, messagesReplaced },
  };
  return [...compactions.filter((each) => each !== begun), ended];
}

/** Without those of a run that were not finished when it ended. */
export const dropUnfinished = (
  compactions: readonly CompactionView[],
  runId: string | null,
): CompactionView[] => compactions.filter((each) => each.runId !== runId || each.done !== null);
