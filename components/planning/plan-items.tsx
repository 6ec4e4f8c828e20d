"use client";

import { ListChecks } from "lucide-react";
import type { Plan } from "#lib/page/state/view-types.ts";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { Button } from "../ui/button.tsx";
import { AddItem } from "./add-item.tsx";
import { GoAhead } from "./go-ahead.tsx";
import { PlanRow } from "./plan-row.tsx";
import type { PlanUse } from "./use-plan.ts";

/** Shows the items of the plan, and what people can do with them. */
export function PlanItems({ plan, use, mayEdit }: { plan: Plan; use: PlanUse; mayEdit: boolean }) {
  return (
    <div id="plan-items" className="flex min-h-0 flex-col border-t">
      <ol className="min-h-0 max-h-[26dvh] overflow-y-auto px-1 py-1">
        {plan.items.map((item) => (
          <PlanRow key={item.id} item={item} use={use} mayEdit={mayEdit} />
        ))}
      </ol>
      {plan.items.length === 0 && <p className="px-3 pb-1 text-faint">{NOTES[plan.mode]}</p>}
      {mayEdit && <AddItem use={use} otherAction={<AddRequirement />} />}
      {plan.mode === "plan_first" && <GoAhead plan={plan} use={use} mayAgree={mayEdit} />}
    </div>
  );
}

/**
 * Shows a button that opens the form for a new requirement. While the session has no requirements, there is no other
 * way to the form, because the drawer has no Requirements tab.
 */
function AddRequirement() {
  const drawer = useDrawer();
  return (
    <Button
      size="sm"
      variant="ghost"
      onClick={() => drawer.open("requirements", { isAddingRequirement: true })}
    >
      <ListChecks aria-hidden /> Add a requirement
    </Button>
  );
}

const NOTES: Record<Plan["mode"], string> = {
  off: "There is no plan. The agent writes one for tasks of several steps; you can write one too.",
  plan_first: "There is no plan yet. Ask the agent for one, or write it yourself.",
  agreed: "The agreed plan is empty now.",
};
