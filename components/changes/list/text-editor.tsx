"use client";

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Textarea } from "../../ui/field.tsx";

const CHARACTERS_MAX = 20_000;

/** Shows a field for the text of a change. Enter saves, Shift+Enter inserts a line break, Esc cancels. */
export function TextEditor({
  text,
  label,
  isSaving,
  onSave,
  onCancel,
}: {
  text: string;
  label: string;
  isSaving: boolean;
  onSave: (text: string) => void;
  onCancel: () => void;
}) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);

  function handleKey(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && !event.shiftKey) save();
    else return;
    // The page's keyboard shortcuts ignore an event if its default action is prevented.
    event.preventDefault();
  }
  function save(): void {
    if (isSaving) return;
    if (draft === text) onCancel();
    else onSave(draft);
  }
  return (
    <div className="flex flex-col items-start gap-1.5">
      <Textarea
        ref={field}
        dir="auto"
        aria-label={label}
        value={draft}
        maxLength={CHARACTERS_MAX}
        readOnly={isSaving}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={handleKey}
        className="max-h-60 py-1 text-sm"
      />
      <span className="flex items-center gap-1">
        <Button size="sm" variant="primary" onClick={save}>
          {isSaving ? "Saving" : "Save"}
        </Button>
        <Button size="sm" variant="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </span>
    </div>
  );
}
