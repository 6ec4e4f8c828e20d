import type { CompactionView, DomainEvent } from "./view-types.ts";

type CompactionEvent = Extract<DomainEvent, { kind: "turn.compacting" | "turn.compacted" }>;

/**
 * Applies one event to the compactions of a session. A compaction shortens the agent's context. The page shows it after
 * the message that was the newest when the compaction began. Pure.
 */
export function applyCompactionEvent(
  compactions: readonly CompactionView[],
  event: CompactionEvent,
  afterMessageId: string | null,
): CompactionView[] {
  const { seq, runId } = event;
  const existing = compactions.find((each) => each.runId === runId && each.done === null);
  if (event.kind === "turn.compacting")
    return existing ? [...compactions] : [...compactions, { seq, runId, afterMessageId, done: null }];
  const { how, tokensBefore, tokensAfter, messagesReplaced } = event;
  const ended: CompactionView = {
    ...(existing ?? { seq, runId, afterMessageId }),
    done: { how, tokensBefore, tokensAfter, messagesReplaced },
  };
  return [...compactions.filter((each) => each !== existing), ended];
}

/** Removes the unfinished compactions of a run that has ended. */
export const dropUnfinished = (
  compactions: readonly CompactionView[],
  runId: string | null,
): CompactionView[] => compactions.filter((each) => each.runId !== runId || each.done !== null);
