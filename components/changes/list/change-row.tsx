"use client";

import { Pencil } from "lucide-react";
import { memo, useRef, useState } from "react";
import { nameChange } from "#lib/page/labels/describe-change.ts";
import type { FindingView } from "#lib/page/labels/describe-check.ts";
import type { Proof } from "#lib/page/labels/describe-proof.ts";
import type { VariantChange, VariantEdit } from "#lib/page/state/view-types.ts";
import { Badge } from "../../ui/badge.tsx";
import { cn } from "../../ui/cn.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Switch } from "../../ui/switch.tsx";
import { FindingList } from "../check/finding-list.tsx";
import { ChangeCode, ChangeSentence } from "./change-sentence.tsx";
import { DropButton } from "./drop-button.tsx";
import { ProofMarks } from "./proof-marks.tsx";
import { TextEditor } from "./text-editor.tsx";
import type { VariantEditing } from "./use-edit-variant.ts";

type Props = Pick<VariantEditing, "isAllowed" | "save"> & {
  change: VariantChange;
  /** Undefined if the revision was not checked, or if the check did not cover the change. */
  proof: Proof | undefined;
  findings: FindingView[] | undefined;
  /** Whether each finding shows the address of its page. */
  hasAddresses: boolean;
  /** The newest edit of this change that is not saved yet; null if there is none. */
  saving: VariantEdit | null;
  /** Why the last edit of the variant failed. Null if it did not fail, or if it was an edit of another change. */
  error: string | null;
};

/**
 * Shows one change as a sentence, with its findings and test results. Visitors with the role `drive` can edit the
 * change.
 */
export const ChangeRow = memo(function ChangeRow({
  change,
  proof,
  findings = [],
  hasAddresses,
  isAllowed,
  saving,
  error,
  save,
}: Props) {
  const name = nameChange(change);
  const [isEditing, setEditing] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const isOn = saving?.action === "on" || (saving?.action !== "off" && change.off !== true);

  function closeEditor(): void {
    setEditing(false);
    editButton.current?.focus();
  }
  async function drop(row: HTMLElement | null): Promise<void> {
    const next = row?.nextElementSibling ?? row?.previousElementSibling;
    const isDropped = await save({ action: "drop", changeId: change.id });
    const target = next?.querySelector<HTMLElement>("[data-drop]") ?? document.getElementById("changes-tab");
    if (isDropped) target?.focus();
  }
  return (
    <li
      aria-busy={saving !== null || undefined}
      className={cn("flex items-start gap-3 px-4 py-2", saving && "opacity-60 transition-opacity delay-300")}
    >
      {isAllowed && (
        <span className="flex h-6 items-center">
          <Switch
            aria-label={`Apply: ${name}`}
            checked={isOn}
            onCheckedChange={(on) => save({ action: on ? "on" : "off", changeId: change.id })}
          />
        </span>
      )}
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex min-h-6 flex-wrap items-start gap-x-3 gap-y-1">
          <ChangeSentence change={change} isOn={isOn} hasValue={!isEditing} />
          <span className="flex h-6 shrink-0 items-center gap-2 text-faint text-xs tabular-nums">
            {!isOn && <Badge>Off</Badge>}
            {change.late && <Badge>Element appears late</Badge>}
            {proof && <span>{proof.matched}</span>}
            {proof && <ProofMarks proof={proof} />}
          </span>
        </div>
        <ChangeCode change={change} />
        {isEditing && change.op === "setText" && (
          <TextEditor
            text={change.text}
            label={name}
            isSaving={saving !== null}
            onCancel={closeEditor}
            onSave={async (text) => {
              if (await save({ action: "setText", changeId: change.id, text })) closeEditor();
            }}
          />
        )}
        {error !== null && (
          <p role="alert" className="text-bad text-xs">
            {error}
          </p>
        )}
        {change.note && (
          <p dir="auto" className="text-faint text-sm [overflow-wrap:anywhere]">
            {change.note}
          </p>
        )}
        <FindingList findings={findings} label={`Findings: ${name}`} hasAddresses={hasAddresses} />
      </div>
      {isAllowed && (
        <span className="flex shrink-0 items-center">
          {change.op === "setText" && (
            <IconButton
              ref={editButton}
              size="icon-sm"
              label={`Edit: ${name}`}
              aria-expanded={isEditing}
              onClick={() => setEditing(!isEditing)}
            >
              <Pencil />
            </IconButton>
          )}
          <DropButton name={name} onDrop={drop} />
        </span>
      )}
    </li>
  );
});
