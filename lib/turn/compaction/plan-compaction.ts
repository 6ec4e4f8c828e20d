import { estimateMessage, estimateMessageTokens, toTokens } from "../history/estimate-tokens.ts";
import type { Compaction, HistoryEntry } from "../history/history-entry.ts";
import { closeCallsWithin } from "./close-calls-within.ts";
import { type BudgetParts, divideBudget, START_SHARE } from "./divide-budget.ts";
import { findTasks } from "./find-tasks.ts";
import { findReplacedThrough, groupMessages, type Item, listItems } from "./group-messages.ts";
import { cutMessage, offloadMessage, type Shortening } from "./shorten-message.ts";
import { planSummary, rememberTask, type SummaryPlan } from "./summary-plan.ts";

/** The state of the context before a model call. */
export type CompactionInput = {
  entries: readonly HistoryEntry[];
  budgetTokens: number;
  /** The tokens of the next prompt, as the prompt meter counts them. */
  usedTokens: number;
  /** The estimated tokens of the instructions and tool definitions (`estimateOverhead`). */
  overheadTokens: number;
  /** Position of the first step of the running request. That step may belong to an earlier run of the request. */
  requestFrom: number;
  /** Maximum number of pictures that are sent with a prompt. */
  picturesShown: number;
} & Shortening;

type Sizes = { tokensBefore: number; tokensAfter: number; messagesReplaced: number };

/** Whether a prompt is large enough to plan a compaction. This check is cheap and is made before every model call. */
export const isNearBudget = (usedTokens: number, budgetTokens: number): boolean =>
  usedTokens > budgetTokens * START_SHARE;

/**
 * What to do before the next model call. Sizes are the tokens of the whole prompt. The summary is not written yet, so
 * it counts with its maximum length.
 */
export type CompactionPlan =
  | { kind: "none" }
  | ({ kind: "offload"; compaction: Compaction } & Sizes)
  | ({ kind: "summarize"; summary: SummaryPlan } & Sizes)
  /** No compaction saves enough, so the turn ends with this error. */
  | { kind: "impossible"; message: string };

type Candidate = { plan: Extract<CompactionPlan, { kind: "offload" | "summarize" }>; size: number };

const NONE: CompactionPlan = { kind: "none" };
/**
 * Limits, in characters, above which results in recent messages are cut. They are tried in this order. With 0, recent
 * messages are shortened like old ones, so that only one line is left of a long result.
 */
const CUTS = [8_000, 4_000, 2_000, 1_000, 0];
/** Minimum share of the budget that a forced compaction (`force`) has to save. */
const FORCED_GAIN_LEAST = 0.02;

/**
 * Decides how to compact a context that has grown. First, old tool results, pictures and long inputs are replaced by
 * short lines, and reasoning is removed. If that is not enough, everything before the recent messages becomes a
 * summary. The summary does not replace the task of the running request, the newest exchange, or the newest messages
 * that joined the turn (up to a share of the budget). Results in recent messages are cut only if nothing else saves
 * enough. An assistant message is never separated from the results of its calls. Pure and idempotent: for the compacted
 * context it returns `none`. Source: decision 014.
 */
export function planCompaction(input: CompactionInput): CompactionPlan {
  const { budgetTokens, usedTokens, overheadTokens, picturesShown } = input;
  if (!isNearBudget(usedTokens, budgetTokens)) return NONE;
  const items = listItems(input.entries);
  const measure = (some: readonly Item[]) =>
    estimateMessageTokens(
      some.map(({ message }) => message),
      picturesShown,
    );
  const estimate = overheadTokens + measure(items);
  if (estimate === 0) return NONE;

  // All sizes below are in estimated tokens. For one estimated token, the provider counts `scale` tokens.
  const scale = usedTokens / estimate;
  const budget = budgetTokens / scale;
  const parts = divideBudget(budget, overheadTokens);
  if (estimate <= parts.start) return NONE;

  const starts = groupMessages(items);
  const work: Work = { input, items, starts, parts, scale, estimate, measure };
  const recentFrom = findRecent(work, parts.recent);
  const offloaded = offload(work, recentFrom);
  if (offloaded && offloaded.size <= parts.target) return offloaded.plan;

  const summarized = summarize(work);
  const best = smaller(offloaded, summarized);
  if (best && best.size <= parts.start && estimate - best.size >= parts.gain) return best.plan;
  if (estimate <= parts.limit) return NONE;

  const forced = force(work, recentFrom, best);
  const isUseful = forced && forced.size <= budget && estimate - forced.size >= budget * FORCED_GAIN_LEAST;
  if (isUseful) return forced.plan;
  if (estimate <= budget) return NONE;
  return {
    kind: "impossible",
    message: `The context is too small for this turn: its instructions, tools, request and newest step take about ${Math.round(usedTokens)} tokens, and the budget is ${budgetTokens} (AGENT_CONTEXT_TOKENS).`,
  };
}

type Work = {
  input: CompactionInput;
  items: Item[];
  starts: number[];
  parts: BudgetParts;
  scale: number;
  estimate: number;
  measure: (some: readonly Item[]) => number;
};

/**
 * Returns the index at which the recent messages begin. The recent messages are the newest groups that fit into `room`
 * tokens together, but at least the newest exchange (the last assistant message and everything after it).
 */
function findRecent({ input, items, starts }: Work, room: number): number {
  const assistant = items.findLastIndex(({ message }) => message.role === "assistant");
  const newest = assistant < 0 ? items.length - 1 : assistant;
  let [from, tokens, pictures] = [items.length, 0, 0];
  for (const start of starts.toReversed()) {
    for (const { message } of items.slice(start, from)) {
      tokens += estimateMessage(message).tokens;
      pictures += estimateMessage(message).pictures;
    }
    if (from <= newest && toTokens({ tokens, pictures }, input.picturesShown) > room) break;
    from = start;
  }
  return from;
}

/**
 * Shortens the messages before `recentFrom`. If `cut` is set, `cutMessage` also shortens the later messages: it cuts
 * results that are longer than `cut` characters. If `cut` is 0, later messages are shortened in the same way as earlier
 * ones.
 */
function shorten({ input, items }: Work, recentFrom: number, cut?: number): Item[] {
  return items.map((item, index) => {
    const isOld = index < recentFrom || cut === 0;
    if (!isOld && cut === undefined) return item;
    const message = isOld ? offloadMessage(item.message, input) : cutMessage(item.message, cut ?? 0, input);
    return message === item.message ? item : { ...item, message };
  });
}

/** Plans a compaction that only shortens messages; undefined if there is nothing to shorten. */
function offload(work: Work, recentFrom: number, cut?: number): Candidate | undefined {
  const { input, items, scale, estimate, measure } = work;
  const shortened = shorten(work, recentFrom, cut);
  const last = shortened.findLastIndex((item, index) => item !== items[index]);
  if (last < 0) return undefined;
  const replacesThrough = findReplacedThrough(items, work.starts, last);
  const size = input.overheadTokens + measure(shortened);
  const tasks = findTasks(shortened, input.requestFrom);
  const replaced = shortened.filter(({ position }) => position <= replacesThrough);
  const messages = closeCallsWithin(replaced.map(rememberTask(tasks)));
  return {
    size,
    plan: {
      kind: "offload",
      compaction: { kind: "offloaded", replacesThrough, messages },
      tokensBefore: Math.ceil(estimate * scale),
      tokensAfter: Math.ceil(size * scale),
      messagesReplaced: shortened.filter((item, index) => item !== items[index]).length,
    },
  };
}

/** Plans a compaction that replaces old messages by a summary; undefined if there are no messages to replace. */
function summarize(work: Work, cut?: number): Candidate | undefined {
  const { input, parts, scale, estimate, measure } = work;
  const items = cut === undefined ? work.items : shorten(work, 0, cut);
  const planned = planSummary({
    items,
    originals: work.items,
    starts: work.starts,
    parts,
    measure,
    requestFrom: input.requestFrom,
    findRecent: (room) => findRecent({ ...work, items }, room),
  });
  if (!planned) return undefined;
  const size = input.overheadTokens + planned.size;
  return {
    size,
    plan: {
      kind: "summarize",
      summary: planned.summary,
      tokensBefore: Math.ceil(estimate * scale),
      tokensAfter: Math.ceil(size * scale),
      messagesReplaced: planned.messagesReplaced,
    },
  };
}

/** Plans the compaction of a prompt above `limit`. To save enough, also considers plans that cut recent results. */
function force(work: Work, recentFrom: number, best: Candidate | undefined): Candidate | undefined {
  const { target, start } = work.parts;
  const candidates = CUTS.flatMap((cut) => [offload(work, recentFrom, cut), summarize(work, cut)]);
  const sizes = [best, ...candidates].filter((candidate) => candidate !== undefined);
  return (
    // A context half-way between `start` and `target` is small enough. Later candidates cut more of the results that
    // the model has just requested, so the first one that is small enough is chosen.
    sizes.find(({ size }) => size <= (target + start) / 2) ??
    sizes.find(({ size }) => size <= start) ??
    sizes.reduce<Candidate | undefined>(smaller, undefined)
  );
}

/** Returns the candidate with the smaller context; the first one if both are equal. */
function smaller(one: Candidate | undefined, other: Candidate | undefined): Candidate | undefined {
  if (!one || !other) return one ?? other;
  return other.size < one.size ? other : one;
}
