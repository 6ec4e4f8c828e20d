import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { lockSession } from "../session-store.ts";
import { expireBudgetWaits } from "../waiting/wait-store.ts";
import { sendWake, type WakeDeps, wakeRun } from "../waiting/waiting.ts";
import { applyBudgetChange, type Budget, type BudgetChange } from "./budget.ts";
import { storeTreeBudget } from "./budget-store.ts";

/**
 * Changes the budget of a root session. Wakes the turns of the session and its sub-agents if they wait for a larger
 * budget. A woken turn waits again if the budget is still exhausted. If this process ends before it wakes the turns,
 * the periodic sweep of overdue waits wakes them.
 * Source: `wire.md`, Budgets.
 *
 * @param deps.budgetChanged tells the executors of all processes to read the budget again.
 * @returns the new budget; undefined if the session is deleted.
 */
export async function changeBudget(
  deps: WakeDeps & { budgetChanged: (rootId: string) => void },
  rootId: string,
  change: BudgetChange,
): Promise<{ budget: Budget | null } | undefined> {
  const store = () =>
    deps.db.transaction(async (tx) => {
      const session = await lockSession(tx, rootId);
      if (!session) return undefined;
      const budget = applyBudgetChange(session.budget, change);
      await storeTreeBudget(tx, rootId, budget);
      return { budget, waits: await expireBudgetWaits(tx, rootId) };
    });
  const changed = await repeatOnDeadlock(store);
  if (!changed) return undefined;
  deps.budgetChanged(rootId);
  await faultPoint("budget-stored");
  for (const wait of changed.waits) await sendWake(deps, await wakeRun(deps, wait, "settled"));
  return changed;
}
