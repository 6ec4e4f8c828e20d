"use client";

import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../ui/button.tsx";
import { LineForm } from "./line-form.tsx";
import type { PlanUse } from "./use-plan.ts";

/** Shows a button that opens a text field for a new item of the plan. The field stays open for the next item. */
export function AddItem({
  use,
  otherAction,
}: {
  use: PlanUse;
  /** A second action, next to the button. */
  otherAction: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="shrink-0 px-2 pb-2">
      {isOpen ? (
        <LineForm
          label="Text of the new item"
          submit="Add"
          isBusy={use.isBusy}
          onCancel={() => setOpen(false)}
          onSubmit={(text) => use.edit({ action: "add", text })}
        />
      ) : (
        <div className="flex flex-wrap gap-1">
          <Button size="sm" variant="ghost" onClick={() => setOpen(true)}>
            <Plus aria-hidden /> Add an item
          </Button>
          {otherAction}
        </div>
      )}
    </div>
  );
}
