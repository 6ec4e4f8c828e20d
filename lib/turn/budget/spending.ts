import { LRUCache } from "lru-cache";
import type { Database } from "#db/client.ts";
import type { Topic } from "#lib/events/bus/topic.ts";
import { type ModelPrice, priceCall } from "#lib/model/prices.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import { addSpend, type Budget, describeExhausted, type Spend } from "#lib/session/budget/budget.ts";
import { readTreeBudget, type TreeBudget } from "#lib/session/budget/budget-store.ts";
import { type RunInPlay, rootSessionOf } from "../run/run-in-play.ts";
import type { OwnerAccounts } from "./owner-accounts.ts";

/** A budget that is used up. */
type Exhausted = {
  /** Names the limit, and says when the turn continues. */
  sentence: string;
  /** When the budget is renewed; null for one that continues only when a caller raises it. */
  until: Date | null;
  /** The session's budget that the sentence is about; undefined where it is about the owner's. */
  budget: Budget | undefined;
};

/** The part of a run that its spending is counted by. */
type SpendingRun = Pick<RunInPlay, "session" | "agent" | "countedAt">;

/** Counts what runs spend, and compares it with the budgets of their sessions and owners. */
export type Spending = {
  /** Begins to count a run that this process has claimed. */
  begin: (run: SpendingRun) => void;
  /** Counts a model call and the time since the last count. @returns what is to be recorded with the step. */
  countCall: (run: SpendingRun, usage: ModelUsage | undefined) => Spend;
  /** Counts the time since the last count. @returns what is to be recorded with the step. */
  countTime: (run: SpendingRun) => Spend;
  /** The budget that a run has used up, if any. Asked before each model call; see {@link createSpending} for its cost. */
  findExhausted: (run: SpendingRun) => Promise<Exhausted | undefined>;
  /** The budget of a root session and what its tree has spent, at most {@link FRESH_MS} old. */
  readTree: (rootId: string) => Promise<TreeBudget | undefined>;
  /** Tells all processes that the budget of a root session has changed. */
  budgetChanged: (rootId: string) => void;
  close: () => Promise<void>;
};

/** How long what a tree with sub-agents has spent is used before it is read again: others may play its sub-agents. */
const FRESH_MS = 15_000;
const TREES_MAX = 5_000;

/** @param readAt on the clock of `performance.now()`; undefined where only this process spends. */
type Tree = TreeBudget & { readAt: number | undefined };

/** The price was removed from the settings after the budget was set. */
const UNPRICED =
  "The session's budget in US dollars cannot be counted, because the price of the model is not known. The turn continues when that limit is removed, or set again once MODEL_PRICES has the price.";

/** A tree whose budget was changed, until it is read again. */
const CHANGED: Tree = {
  budget: null,
  spent: { tokens: 0, usd: 0, ms: 0 },
  readAt: Number.NEGATIVE_INFINITY,
};

/**
 * Creates the counting. What a run spends is written with its steps; here it is kept in memory, so that the check before a
 * model call costs no statement. The exceptions are trees with sub-agents that have a budget, which are read every 15 s at
 * most, and a budget that was changed during a turn. A session without a budget costs nothing. Source: decision 050.
 *
 * @param deps.price of the model; without one, calls cost nothing.
 * @param deps.owners absent where owners have no budget.
 * @param deps.topic tells other processes of changed budgets.
 */
export function createSpending(deps: {
  db: Database;
  price: ModelPrice | undefined;
  owners: OwnerAccounts | undefined;
  topic: Topic;
}): Spending {
  const { db, price, owners, topic } = deps;
  const trees = new LRUCache<string, Tree>({ max: TREES_MAX });
  const markChanged = (rootId: string) => void trees.set(rootId, CHANGED);
  const stopListening = topic.subscribe(markChanged, () => {
    for (const rootId of [...trees.keys()]) markChanged(rootId);
  });

  function count(run: SpendingRun, tokens: number, usd: number): Spend {
    const at = performance.now();
    const spend = { tokens, usd, ms: Math.round(at - run.countedAt) };
    run.countedAt = at;
    const rootId = rootSessionOf(run);
    const tree = trees.get(rootId);
    if (tree) trees.set(rootId, { ...tree, spent: addSpend(tree.spent, spend) });
    owners?.add(run.session.ownerId, spend);
    return spend;
  }

  async function loadTree(rootId: string): Promise<Tree | undefined> {
    const readAt = performance.now();
    const read = await readTreeBudget(db, rootId);
    if (!read) return undefined;
    const tree = { ...read, readAt };
    trees.set(rootId, tree);
    return tree;
  }

  const isFresh = ({ readAt }: Tree): boolean =>
    readAt === undefined || performance.now() - readAt < FRESH_MS;

  async function findTree(run: SpendingRun): Promise<TreeBudget | undefined> {
    const rootId = rootSessionOf(run);
    const tree = trees.get(rootId);
    if (!tree && run.session.budget === null) return undefined;
    return tree && isFresh(tree) ? tree : loadTree(rootId);
  }

  return {
    begin({ session, agent }) {
      // A change that came after the row was read is read with the next check.
      if (agent || session.subAgents || trees.get(session.id)?.readAt === CHANGED.readAt) return;
      const { spentTokens: tokens, spentUsd: usd, spentMs: ms, budget } = session;
      // The row is newer than what this process knows from an earlier turn.
      if (budget === null) trees.delete(session.id);
      else trees.set(session.id, { budget, spent: { tokens, usd, ms }, readAt: undefined });
    },
    countCall: (run, usage) =>
      count(
        run,
        usage ? usage.inputTokens + usage.outputTokens : 0,
        usage && price ? priceCall(usage, price) : 0,
      ),
    countTime: (run) => count(run, 0, 0),
    async findExhausted(run) {
      const tree = await findTree(run);
      if (tree?.budget?.usd !== undefined && !price)
        return { sentence: UNPRICED, until: null, budget: tree.budget };
      const reached = tree?.budget ? describeExhausted(tree.budget, tree.spent) : undefined;
      if (tree?.budget && reached !== undefined)
        return {
          sentence: `The session's budget of ${reached}. The turn continues when the budget is raised.`,
          until: null,
          budget: tree.budget,
        };
      const owner = await owners?.findExhausted(run.session.ownerId);
      return owner && { ...owner, budget: undefined };
    },
    async readTree(rootId) {
      const tree = trees.get(rootId);
      return tree?.readAt !== undefined && isFresh(tree) ? tree : loadTree(rootId);
    },
    budgetChanged(rootId) {
      markChanged(rootId);
      topic.publish(rootId);
    },
    async close() {
      stopListening();
      await owners?.close();
    },
  };
}
