import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { openBudgetItem } from "../store/inbox-store.ts";
import { lockSession } from "../store/session-store.ts";
import { expireBudgetWaits, renewBudgetWaits } from "../store/wait-store.ts";
import { announceWait, sendWake, type WakeDeps, wakeRun } from "../waiting/waiting.ts";
import { applyBudgetChange, type Budget, type BudgetChange, describeWait, NO_SPEND } from "./budget.ts";
import { readTreeBudget, storeTreeBudget } from "./budget-store.ts";

/** Why the turns of an owner must wait, and until when; undefined if they may spend more today. */
type OwnerWait = { sentence: string; until: Date } | undefined;

/**
 * Changes the budget of a root session. Wakes the turns of the session and its sub-agents that wait for a budget, if the
 * new budget is larger than the spend and the owner may spend more. If not, they wait on, with a reason that names the
 * budget that is used up now. If this process ends before it wakes the turns, the periodic sweep of overdue waits wakes
 * them.
 * Source: `wire.md`, Budgets.
 *
 * @param deps.budgetChanged tells the executors of all processes to read the budget again.
 * @param deps.findOwnerExhausted whether the daily budget of an owner is used up.
 * @param deps.isPriced whether the price of the model is known.
 * @returns the new budget; undefined if the session is deleted.
 */
export async function changeBudget(
  deps: WakeDeps & {
    budgetChanged: (rootId: string) => void;
    findOwnerExhausted: (ownerId: string) => Promise<OwnerWait>;
    isPriced: boolean;
  },
  { id: rootId, ownerId }: { id: string; ownerId: string },
  change: BudgetChange,
): Promise<{ budget: Budget | null } | undefined> {
  // Read before the transaction, because it may write what the owner has spent.
  const ofOwner = await deps.findOwnerExhausted(ownerId);
  const store = () =>
    deps.db.transaction(async (tx) => {
      const session = await lockSession(tx, rootId);
      if (!session) return undefined;
      const budget = applyBudgetChange(session.budget, change);
      await storeTreeBudget(tx, rootId, budget);
      const spent = (await readTreeBudget(tx, rootId))?.spent ?? NO_SPEND;
      const sentence = describeWait(budget, spent, deps.isPriced);
      const wait =
        sentence === undefined
          ? ofOwner && { reason: ofOwner.sentence, until: ofOwner.until }
          : { reason: sentence, until: null };
      if (!wait) return { budget, woken: await expireBudgetWaits(tx, rootId), waiting: [] };
      const waiting = await renewBudgetWaits(tx, rootId, wait);
      const item = { sentence: wait.reason, until: wait.until };
      for (const waitKey of waiting) await openBudgetItem(tx, waitKey, item);
      return { budget, woken: [], waiting };
    });
  const changed = await repeatOnDeadlock(store);
  if (!changed) return undefined;
  deps.budgetChanged(rootId);
  await faultPoint("budget-stored");
  for (const wait of changed.woken) await sendWake(deps, await wakeRun(deps, wait, "settled"));
  for (const wait of changed.waiting) await announceWait(deps, wait);
  return changed;
}
