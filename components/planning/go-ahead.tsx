"use client";

import { Play } from "lucide-react";
import { useState } from "react";
import { awaitsAgreement } from "#lib/page/labels/describe-plan.ts";
import type { Plan } from "#lib/page/state/view-types.ts";
import { Button } from "../ui/button.tsx";
import { Input } from "../ui/field.tsx";
import type { PlanUse } from "./use-plan.ts";

/**
 * Shows what the agent cannot do before a person agrees to the plan. If `mayAgree` is true and items are left to do,
 * also shows a button that agrees to the plan.
 */
export function GoAhead({ plan, use, mayAgree }: { plan: Plan; use: PlanUse; mayAgree: boolean }) {
  const [text, setText] = useState("");
  return (
    <div className="flex shrink-0 flex-col gap-2 rounded-b-lg border-t bg-warn-soft px-3 py-2">
      <p>
        The agent can look, but it cannot change pages, files or publications until{" "}
        {mayAgree ? "you agree to the plan" : "a person agrees to the plan"}.
        {mayAgree &&
          plan.items.length > 0 &&
          !awaitsAgreement(plan) &&
          " This plan has nothing left to do: ask the agent for a new one, or add an item."}
      </p>
      {mayAgree && awaitsAgreement(plan) && (
        <form
          className="flex items-center gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            void use.agree(plan, text.trim());
          }}
        >
          <Input
            dir="auto"
            value={text}
            maxLength={10_000}
            aria-label="Note for the agent, optional"
            placeholder="Note for the agent (optional)"
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" variant="primary" disabled={use.isBusy}>
            <Play aria-hidden /> Go ahead
          </Button>
        </form>
      )}
    </div>
  );
}
