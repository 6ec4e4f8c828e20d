import { type BudgetParts, divideBudget, START_SHARE } from "./divide-budget.ts";
import { toTokens, weighMessage, weighMessages } from "./estimate-tokens.ts";
import { findTasks } from "./find-tasks.ts";
import { findReplacedThrough, groupMessages, type Item, listItems } from "./group-messages.ts";
import type { Compaction, HistoryEntry } from "./history-entry.ts";
import { settleWithin } from "./settle-within.ts";
import { cutMessage, offloadMessage, type Shortening } from "./shorten-message.ts";
import { planSummary, rememberTask, type SummaryPlan } from "./summary-plan.ts";

/** What the turn knows before a model call. */
export type CompactionInput = {
  entries: readonly HistoryEntry[];
  budgetTokens: number;
  /** What the next prompt takes, as the meter counts it. */
  usedTokens: number;
  /** The estimate of the instructions and tool definitions alone (`weighOverhead`). */
  overheadTokens: number;
  /** Position of the first step of the running request, of whichever of its runs. */
  requestFrom: number;
  /** How many pictures of a prompt are sent. */
  picturesShown: number;
} & Shortening;

type Sizes = { tokensBefore: number; tokensAfter: number; messagesReplaced: number };

/** Whether it is time to look for something to compact: the cheap question that comes before every model call. */
export const isNearBudget = (usedTokens: number, budgetTokens: number): boolean =>
  usedTokens > budgetTokens * START_SHARE;

/** What is to be done before the next model call. Sizes are in tokens of the whole prompt; of a summary they are the most. */
export type CompactionPlan =
  | { kind: "none" }
  | ({ kind: "offload"; compaction: Compaction } & Sizes)
  | ({ kind: "summarize"; summary: SummaryPlan } & Sizes)
  /** Nothing helps: the turn ends with this sentence. */
  | { kind: "impossible"; message: string };

type Candidate = { plan: Extract<CompactionPlan, { kind: "offload" | "summarize" }>; size: number };

const NONE: CompactionPlan = { kind: "none" };
/** Characters that are left of each result in the recent messages, tried one after the other; 0 is a line in its place. */
const CUTS = [8_000, 4_000, 2_000, 1_000, 0];
/** A change of less than this part of the budget is none. */
const WORTH_LEAST = 0.02;

/**
 * Decides what is to go from a context that has grown. First old tool results, pictures, reasoning and long inputs become
 * lines; where that is not enough, everything before the recent messages becomes a summary. The task of the running
 * request, as many of its newest steers as a part of the room holds, and the newest exchange stay word for word; only where the context cannot hold those are
 * results in recent messages cut. An assistant message is never parted from the results of its calls. Pure, and at rest:
 * asked again about its own outcome it finds nothing to do. Source: decision 014.
 */
export function planCompaction(input: CompactionInput): CompactionPlan {
  const { budgetTokens, usedTokens, overheadTokens, picturesShown } = input;
  if (!isNearBudget(usedTokens, budgetTokens)) return NONE;
  const items = listItems(input.entries);
  const measure = (some: readonly Item[]) =>
    weighMessages(
      some.map(({ message }) => message),
      picturesShown,
    );
  const estimate = overheadTokens + measure(items);
  if (estimate === 0) return NONE;

  // From here on everything is counted in estimated tokens, of which the provider counts `scale` each.
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
  const isHelp = forced && forced.size <= budget && estimate - forced.size >= budget * WORTH_LEAST;
  if (isHelp) return forced.plan;
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

/** Where the recent messages begin: as many groups as the room holds, and the newest exchange at least. */
function findRecent({ input, items, starts }: Work, room: number): number {
  const assistant = items.findLastIndex(({ message }) => message.role === "assistant");
  const newest = assistant < 0 ? items.length - 1 : assistant;
  let [from, tokens, pictures] = [items.length, 0, 0];
  for (const start of starts.toReversed()) {
    for (const { message } of items.slice(start, from)) {
      tokens += weighMessage(message).tokens;
      pictures += weighMessage(message).pictures;
    }
    if (from <= newest && toTokens({ tokens, pictures }, input.picturesShown) > room) break;
    from = start;
  }
  return from;
}

/** Replaces what may be shortened before `recentFrom`, and cuts results after it to `cut` characters where that is given. */
function shorten({ input, items }: Work, recentFrom: number, cut?: number): Item[] {
  return items.map((item, index) => {
    const isOld = index < recentFrom || cut === 0;
    if (!isOld && cut === undefined) return item;
    const message = isOld ? offloadMessage(item.message, input) : cutMessage(item.message, cut ?? 0, input);
    return message === item.message ? item : { ...item, message };
  });
}

/** A compaction that only shortens; undefined where there is nothing to shorten. */
function offload(work: Work, recentFrom: number, cut?: number): Candidate | undefined {
  const { input, items, scale, estimate, measure } = work;
  const shortened = shorten(work, recentFrom, cut);
  const last = shortened.findLastIndex((item, index) => item !== items[index]);
  if (last < 0) return undefined;
  const replacesThrough = findReplacedThrough(items, work.starts, last);
  const size = input.overheadTokens + measure(shortened);
  const tasks = findTasks(shortened, input.requestFrom);
  const replaced = shortened.filter(({ position }) => position <= replacesThrough);
  const messages = settleWithin(replaced.map(rememberTask(tasks)));
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

/** A compaction that replaces everything before the recent messages by a summary; undefined where there is nothing before. */
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

/** Does what can be done where the context is full: cuts results of the recent messages too, alone or beside a summary. */
function force(work: Work, recentFrom: number, best: Candidate | undefined): Candidate | undefined {
  const { target, start } = work.parts;
  const candidates = CUTS.flatMap((cut) => [offload(work, recentFrom, cut), summarize(work, cut)]);
  const sizes = [best, ...candidates].filter((candidate) => candidate !== undefined);
  return (
    // Half-way is enough: the target would cost results that the model has just asked for.
    sizes.find(({ size }) => size <= (target + start) / 2) ??
    sizes.find(({ size }) => size <= start) ??
    sizes.reduce<Candidate | undefined>(smaller, undefined)
  );
}

/** The one that leaves less; the first where both leave the same. */
function smaller(one: Candidate | undefined, other: Candidate | undefined): Candidate | undefined {
  if (!one || !other) return one ?? other;
  return other.size < one.size ? other : one;
}
