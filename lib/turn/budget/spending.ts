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
  /** A sentence that names the limit and says when the turn continues. */
  sentence: string;
  /** When the budget is renewed; null for a session's budget, which only a caller can raise. */
  until: Date | null;
  /** The exhausted budget of the session; undefined if the owner's budget is exhausted. */
  budget: Budget | undefined;
};

/** The fields of a run that counting needs. */
type SpendingRun = Pick<RunInPlay, "session" | "agent" | "countedAt">;

/** Counts what runs spend, and compares it with the budgets of their sessions and owners. */
export type Spending = {
  /** Begins to count the spend of a run that this process has claimed. */
  begin: (run: SpendingRun) => void;
  /** Counts a model call and the time since the last count. @returns the spend to record with the step. */
  countCall: (run: SpendingRun, usage: ModelUsage | undefined) => Spend;
  /** Counts the time since the last count. @returns the spend to record with the step. */
  countTime: (run: SpendingRun) => Spend;
  /** Returns the budget that a run has exhausted, if any. Called before each model call; usually answered from the cache. */
  findExhausted: (run: SpendingRun) => Promise<Exhausted | undefined>;
  /**
   * Returns the budget of a root session, and what the session and its sub-agents have spent. The values are at most
   * {@link FRESH_MS} old.
   */
  readTree: (rootId: string) => Promise<TreeBudget | undefined>;
  /** Tells all processes that the budget of a root session has changed. */
  budgetChanged: (rootId: string) => void;
  close: () => Promise<void>;
};

/** How long the spend of a tree (a root session with sub-agents) is cached. Other processes may play the sub-agents. */
const FRESH_MS = 15_000;
const TREES_MAX = 5_000;

/**
 * A cached tree. `readAt` is the time of reading on the clock of `performance.now()`. It is undefined if only this process
 * adds to the spend, and such an entry never expires.
 */
type Tree = TreeBudget & { readAt: number | undefined };

/** The sentence for a budget in US dollars if the model's price was removed from the settings after the budget was set. */
const UNPRICED =
  "The session's budget in US dollars cannot be counted, because the price of the model is not known. The turn continues when that limit is removed, or set again once MODEL_PRICES has the price.";

/** Cache entry of a tree whose budget was changed. It has already expired, so that the next check reads the tree. */
const CHANGED: Tree = {
  budget: null,
  spent: { tokens: 0, usd: 0, ms: 0 },
  readAt: Number.NEGATIVE_INFINITY,
};

/**
 * Creates the counter. A run's spend is written with its steps; a copy is cached here, so that the check of a session's
 * budget before a model call executes no statement. There are two exceptions: a tree that has a budget and sub-agents is
 * read at most every 15 s, and a budget that was changed during a turn is read once. Source: decision 050.
 *
 * @param deps.price the price of the model; without a price, calls count as free.
 * @param deps.owners absent if owners have no budget.
 * @param deps.topic the channel that tells other processes which budgets have changed.
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
      // The next check reads a tree with sub-agents. It also reads a tree whose entry is `CHANGED`, because the budget may
      // have changed after the session's row was read.
      if (agent || session.subAgents || trees.get(session.id)?.readAt === CHANGED.readAt) return;
      const { spentTokens: tokens, spentUsd: usd, spentMs: ms, budget } = session;
      // The session's row is newer than the entry that this process cached in an earlier turn.
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
