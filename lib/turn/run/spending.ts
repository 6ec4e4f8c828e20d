import { LRUCache } from "lru-cache";
import type { Database } from "#db/client.ts";
import type { Topic } from "#lib/events/bus/topic.ts";
import { type ModelPrice, priceCall } from "#lib/model/prices.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import { addSpend, type Budget, describeWait, type Spend } from "#lib/session/budget/budget.ts";
import { readTreeBudget, type TreeBudget } from "#lib/session/budget/budget-store.ts";
import type { OwnerAccounts } from "./owner-accounts.ts";
import { type RunInPlay, rootSessionOf } from "./run-in-play.ts";

/**
 * A budget that stops a run: it is used up, or it is a session's budget in US dollars and the model has no price.
 */
type Exhausted = {
  /** Names the limit and says when the turn continues. */
  sentence: string;
  /** When the budget is renewed; null for a session's budget, which only a caller can raise. */
  until: Date | null;
  /** The exhausted budget of the session; undefined if the owner's budget is exhausted. */
  budget: Budget | undefined;
};

/** The fields of a run that are needed to count its spend. */
type SpendingRun = Pick<RunInPlay, "session" | "agent" | "countedAt">;

/** Counts what runs spend, and compares the spend with the budgets of sessions and owners. */
export type Spending = {
  /** Begins to count the spend of a run that this process has claimed. */
  begin: (run: SpendingRun) => void;
  /** Counts a model call and the time since the last count. @returns the spend to record with the step. */
  countCall: (run: SpendingRun, usage: ModelUsage | undefined) => Spend;
  /** Counts the time since the last count. @returns the spend to record with the step. */
  countTime: (run: SpendingRun) => Spend;
  /**
   * Returns the budget of the run's root session or owner that is used up or cannot be counted; undefined if the run
   * may spend more. Usually answers from a cache.
   */
  findExhausted: (run: SpendingRun) => Promise<Exhausted | undefined>;
  /** Like `findExhausted`, but only for the daily budget of an owner. */
  findOwnerExhausted: (ownerId: string) => Promise<{ sentence: string; until: Date } | undefined>;
  /**
   * Returns the budget of a root session, and what the session and its sub-agents have spent. The values are at most
   * {@link FRESH_MS} old. Undefined if the root session does not exist.
   */
  readTree: (rootId: string) => Promise<TreeBudget | undefined>;
  /** Tells all processes that the budget of a root session has changed. */
  budgetChanged: (rootId: string) => void;
  /** Writes what owners have spent, for a process that may be frozen or ended without a signal. */
  flush: () => Promise<void>;
  close: () => Promise<void>;
};

/**
 * How long the cached spend of a tree (a root session and its sub-agents) is used if other processes can add to that
 * spend.
 */
const FRESH_MS = 15_000;
const TREES_MAX = 5_000;

/**
 * A cached tree. `readAt` says when the tree was read, on the clock of `performance.now()`. If only this process adds
 * to the spend, `readAt` is undefined and the entry never expires.
 */
type Tree = TreeBudget & { readAt: number | undefined };

/**
 * Cache entry for a tree whose budget was changed, or may have been changed while this process missed messages. The
 * entry has already expired, so the next check reads the tree again.
 */
const CHANGED: Tree = {
  budget: null,
  spent: { tokens: 0, usd: 0, ms: 0 },
  readAt: Number.NEGATIVE_INFINITY,
};

/**
 * Creates the counter. A run's spend is written with its steps. A copy is cached here, so that the check of a session's
 * budget before a model call runs no SQL statement. There are two exceptions: a tree that has a budget and sub-agents
 * is read at most every 15 s, and a budget that was changed during a turn is read once. Source: decision 050.
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
      // A tree with sub-agents is not cached here, because other processes can add to its spend. A `CHANGED` entry is
      // not replaced, because the budget may have changed after the session's row was read. In both cases, `findTree`
      // loads the tree when it is needed.
      if (agent || session.subAgents || trees.get(session.id)?.readAt === CHANGED.readAt) return;
      const { spentTokens: tokens, spentUsd: usd, spentMs: ms, budget } = session;
      // Deletes or replaces an entry that this process cached in an earlier turn, because the session's row is newer.
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
      const sentence = tree && describeWait(tree.budget, tree.spent, price !== undefined);
      if (tree?.budget && sentence !== undefined) return { sentence, until: null, budget: tree.budget };
      const owner = await owners?.findExhausted(run.session.ownerId);
      return owner && { ...owner, budget: undefined };
    },
    findOwnerExhausted: async (ownerId) => owners?.findExhausted(ownerId),
    async readTree(rootId) {
      const tree = trees.get(rootId);
      return tree?.readAt !== undefined && isFresh(tree) ? tree : loadTree(rootId);
    },
    budgetChanged(rootId) {
      markChanged(rootId);
      topic.publish(rootId);
    },
    flush: async () => owners?.flush(),
    async close() {
      stopListening();
      await owners?.close();
    },
  };
}
