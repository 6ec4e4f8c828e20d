"use client";

import { Circle, CircleCheck, CircleDot, CircleSlash, Pencil, Undo2, X } from "lucide-react";
import { useState } from "react";
import { ITEM_WORDS } from "#lib/page/labels/describe-plan.ts";
import type { PlanItem } from "#lib/page/state/view-types.ts";
import { cn } from "../ui/cn.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { LineForm } from "./line-form.tsx";
import type { PlanUse } from "./use-plan.ts";

/** Shows an item of the plan. People who may edit the plan can tick, edit and drop the item. */
export function PlanRow({ item, use, mayEdit }: { item: PlanItem; use: PlanUse; mayEdit: boolean }) {
  const { id, text, status } = item;
  /** The text of the item when this person began to edit it; null while this person does not edit it. */
  const [edited, setEdited] = useState<string | null>(null);
  const isDropped = status === "dropped";
  if (edited !== null)
    return (
      <li className="px-1 py-0.5">
        <LineForm
          label={`Text of “${edited}”`}
          start={edited}
          submit="Save"
          isBusy={use.isBusy}
          onCancel={() => setEdited(null)}
          onSubmit={async (changed) => {
            const isDone =
              changed === edited || (await use.edit({ action: "setText", id, text: changed, was: edited }));
            if (isDone) setEdited(null);
            return isDone;
          }}
        />
      </li>
    );
  return (
    <li className="group flex min-h-7 items-start gap-1">
      <Mark item={item} use={use} mayEdit={mayEdit} />
      <span
        dir="auto"
        className={cn(
          "min-w-0 flex-1 py-1 [overflow-wrap:anywhere]",
          status === "in_progress" && "font-medium",
          status === "done" && "text-soft",
          isDropped && "text-faint line-through",
        )}
      >
        {text}
      </span>
      {mayEdit && (
        <span className="flex shrink-0 pt-0.5">
          {!isDropped && (
            <IconButton size="icon-sm" label={`Edit “${text}”`} onClick={() => setEdited(text)}>
              <Pencil />
            </IconButton>
          )}
          <IconButton
            size="icon-sm"
            disabled={use.isBusy}
            label={isDropped ? `Restore “${text}”` : `Drop “${text}”`}
            onClick={() => void use.edit({ action: "setStatus", id, status: isDropped ? "todo" : "dropped" })}
          >
            {isDropped ? <Undo2 /> : <X />}
          </IconButton>
        </span>
      )}
    </li>
  );
}

const ICONS = { todo: Circle, in_progress: CircleDot, done: CircleCheck, dropped: CircleSlash };
const TONES = { todo: "text-faint", in_progress: "text-accent", done: "text-good", dropped: "text-faint" };

/**
 * Shows the state of an item: as a check box for people who may edit the plan, otherwise as an icon. A dropped item has
 * an icon for everyone.
 */
function Mark({
  item: { id, text, status },
  use,
  mayEdit,
}: {
  item: PlanItem;
  use: PlanUse;
  mayEdit: boolean;
}) {
  const Icon = ICONS[status];
  const icon = <Icon aria-hidden className={cn("size-4", TONES[status])} />;
  if (!mayEdit || status === "dropped")
    return (
      <span className="flex size-7 shrink-0 items-center justify-center">
        {icon}
        <span className="sr-only">{ITEM_WORDS[status]}:</span>
      </span>
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: an item in progress needs a mark of its own, which a native box does not have
    <button
      type="button"
      role="checkbox"
      aria-checked={status === "done" ? true : status === "in_progress" ? "mixed" : false}
      aria-label={`${text} (${ITEM_WORDS[status].toLowerCase()})`}
      disabled={use.isBusy}
      onClick={() => void use.edit({ action: "setStatus", id, status: status === "done" ? "todo" : "done" })}
      className="flex size-7 shrink-0 items-center justify-center rounded-md hover:bg-hover"
    >
      {icon}
    </button>
  );
}
