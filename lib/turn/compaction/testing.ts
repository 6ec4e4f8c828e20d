import { estimateMessageTokens } from "../history/estimate-tokens.ts";
import type { HistoryEntry, HistoryMessage } from "../history/history-entry.ts";
import { type CompactionInput, planCompaction } from "./plan-compaction.ts";

/** Creates a random number generator (mulberry32) that produces the same numbers for the same seed. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (most: number) => Math.floor(next() * most);
  return { next, below, isOnce: (in_: number) => below(in_) === 0 };
}

export type Random = ReturnType<typeof createRandom>;

/** Creates a text that repeats `label` and has `characters` characters. */
export const fill = (label: string, characters: number): string =>
  `${label} `.repeat(Math.ceil(characters / (label.length + 1))).slice(0, characters);

export const user = (text: string): HistoryMessage => ({ role: "user", content: text });

export const assistant = (text: string, ...calls: [callId: string, input?: unknown][]): HistoryMessage => ({
  role: "assistant",
  content: [
    { type: "text", text },
    ...calls.map(([toolCallId, input = {}]) => ({
      type: "tool-call" as const,
      toolCallId,
      toolName: "look",
      input,
    })),
  ],
});

export const result = (callId: string, text: string, resultId = `res_${callId}`): HistoryMessage => ({
  role: "tool",
  content: [
    { type: "tool-result", toolCallId: callId, toolName: "look", output: { type: "text", value: text } },
  ],
  resultId,
});

/** Creates a history that grows step by step, as in a turn. The positions of the steps are 10, 20, 30 and so on. */
export function createHistory() {
  let entries: HistoryEntry[] = [];
  let position = 0;
  return {
    get entries() {
      return entries;
    },
    set entries(next: HistoryEntry[]) {
      entries = next;
    },
    /** Uses a position without adding messages, as a step without messages does. @returns the position. */
    skip: () => (position += 10),
    /** Adds a step. @returns the position of the step. */
    add(...messages: HistoryMessage[]): number {
      position += 10;
      entries = [...entries, { position, messages }];
      return position;
    },
  };
}

/** Returns all messages of a history, in order. */
export const messagesOf = (entries: readonly HistoryEntry[]): HistoryMessage[] =>
  entries.flatMap(({ messages }) => messages);

type PlanInput = Partial<CompactionInput> & { entries: readonly HistoryEntry[] };

/**
 * Plans the compaction of a history whose real token count, as the provider reports it, is `factor` times the estimate.
 */
export function plan(input: PlanInput, factor = 1) {
  const overheadTokens = input.overheadTokens ?? 0;
  const picturesShown = input.picturesShown ?? 4;
  const estimate = overheadTokens + estimateMessageTokens(messagesOf(input.entries), picturesShown);
  return planCompaction({
    budgetTokens: 10_000,
    usedTokens: Math.ceil(estimate * factor),
    requestFrom: 0,
    canReadOn: true,
    ...input,
    overheadTokens,
    picturesShown,
  });
}
