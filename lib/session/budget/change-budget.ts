import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { lockSession } from "../session-store.ts";
import { expireBudgetWaits, renewBudgetWaits } from "../waiting/wait-store.ts";
import { announceWait, sendWake, type WakeDeps, wakeRun } from "../waiting/waiting.ts";
import { applyBudgetChange, type Budget, type BudgetChange, describeWait, NO_SPEND } from "./budget.ts";
import { readTreeBudget, storeTreeBudget } from "./budget-store.ts";

/**
 * Changes the budget of a root session. Wakes the turns of the session and its sub-agents that wait for a larger budget,
 * if the new budget is larger than the spend. If not, they wait on, with a reason that names the new budget. If this
 * process ends before it wakes the turns, the periodic sweep of overdue waits wakes them.
 * Source: `wire.md`, Budgets.
 *
 * @param deps.budgetChanged tells the executors of all processes to read the budget again.
 * @param deps.isPriced whether the price of the model is known.
 * @returns the new budget; undefined if the session is deleted.
 */
export async function changeBudget(
  deps: WakeDeps & { budgetChanged: (rootId: string) => void; isPriced: boolean },
  rootId: string,
  change: BudgetChange,
): Promise<{ budget: Budget | null } | undefined> {
  const store = () =>
    deps.db.transaction(async (tx) => {
      const session = await lockSession(tx, rootId);
      if (!session) return undefined;
      const budget = applyBudgetChange(session.budget, change);
      await storeTreeBudget(tx, rootId, budget);
      const spent = (await readTreeBudget(tx, rootId))?.spent ?? NO_SPEND;
      const reason = describeWait(budget, spent, deps.isPriced);
      return reason === undefined
        ? { budget, woken: await expireBudgetWaits(tx, rootId), waiting: [] }
        : { budget, woken: [], waiting: await renewBudgetWaits(tx, rootId, reason) };
    });
  const changed = await repeatOnDeadlock(store);
  if (!changed) return undefined;
  deps.budgetChanged(rootId);
  await faultPoint("budget-stored");
  for (const wait of changed.woken) await sendWake(deps, await wakeRun(deps, wait, "settled"));
  for (const wait of changed.waiting) await announceWait(deps, wait);
  return changed;
}
