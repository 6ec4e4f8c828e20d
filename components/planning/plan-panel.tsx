"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { summarizePlan } from "#lib/page/labels/describe-plan.ts";
import type { Plan } from "#lib/page/state/view-types.ts";
import { useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { lazily } from "../ui/lazily.tsx";
import { Switch } from "../ui/switch.tsx";
import { type PlanUse, usePlan } from "./use-plan.ts";

const PlanItems = lazily(async () => (await import("./plan-items.tsx")).PlanItems);

/**
 * Shows the plan of the session above the message box, as one line or as a checklist, and the switch of the plan-first
 * mode.
 */
export function PlanPanel() {
  const { plan, role, agent } = useSession();
  const use = usePlan();
  const [chosen, setChosen] = useState<boolean | null>(null);
  const mayEdit = role === "drive";
  if (agent || (!mayEdit && plan.items.length === 0 && plan.mode === "off")) return null;
  const isOpen = chosen ?? plan.mode === "plan_first";
  return (
    <section
      aria-label="Plan"
      className="flex min-h-[34px] shrink flex-col rounded-lg border bg-surface text-sm"
    >
      <div className="flex min-h-8 shrink-0 items-center gap-2 pr-2 pl-1">
        <Summary plan={plan} isOpen={isOpen} onToggle={() => setChosen(!isOpen)} />
        <ModeControl plan={plan} use={use} mayEdit={mayEdit} />
      </div>
      {use.error && (
        <p role="alert" className="shrink-0 px-3 pb-1 text-bad">
          {use.error}
        </p>
      )}
      {isOpen && <PlanItems plan={plan} use={use} mayEdit={mayEdit} />}
    </section>
  );
}

function Summary({ plan, isOpen, onToggle }: { plan: Plan; isOpen: boolean; onToggle: () => void }) {
  const { progress, current } = summarizePlan(plan);
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={isOpen ? "plan-items" : undefined}
      onClick={onToggle}
      className="flex h-7 min-w-0 flex-1 items-center gap-1.5 rounded-md px-1 text-left hover:bg-hover"
    >
      <Icon aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="shrink-0 font-medium tabular-nums">Plan{progress && ` · ${progress}`}</span>
      {!isOpen && current && (
        <span dir="auto" className="truncate text-soft">
          {current}
        </span>
      )}
    </button>
  );
}

/**
 * Lets people with the role `drive` switch the plan-first mode on and off. Shows viewers whether the mode is on. Shows
 * all visitors whether the plan was agreed.
 */
function ModeControl({ plan, use, mayEdit }: { plan: Plan; use: PlanUse; mayEdit: boolean }) {
  const isOn = plan.mode === "plan_first";
  if (!mayEdit) {
    if (plan.mode === "off") return null;
    return <Badge tone={isOn ? "attention" : "good"}>{isOn ? "Plan first" : "Agreed"}</Badge>;
  }
  return (
    <>
      {plan.mode === "agreed" && <Badge tone="good">Agreed</Badge>}
      <label
        htmlFor="plan-first"
        title="While it is on, the agent can look but not change pages, files or publications, until you agree to its plan. A call in progress still ends."
        className="flex shrink-0 items-center gap-2 text-soft text-xs"
      >
        Plan first
        <Switch
          id="plan-first"
          checked={isOn}
          disabled={use.isBusy}
          onCheckedChange={(checked) => void use.setMode(checked ? "plan_first" : "off")}
        />
      </label>
    </>
  );
}
