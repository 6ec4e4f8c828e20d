"use client";

import { type FormEvent, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Input } from "../ui/field.tsx";

/**
 * Focuses the field when it is mounted. If the component created this function, the function would be new in each
 * render, and React would call it and move the focus each time.
 */
const focusField = (field: HTMLInputElement | null): void => field?.focus();

/** Shows a form with one text field. Esc cancels. If the text could not be stored, it stays in the field. */
export function LineForm({
  label,
  start = "",
  submit,
  isBusy,
  onSubmit,
  onCancel,
}: {
  label: string;
  start?: string;
  /** Label of the button. */
  submit: string;
  isBusy: boolean;
  /** @returns whether the text was stored. */
  onSubmit: (text: string) => Promise<boolean>;
  onCancel: () => void;
}) {
  const [text, setText] = useState(start);
  function send(event: FormEvent): void {
    event.preventDefault();
    const sent = text.trim();
    if (sent === "" || isBusy) return;
    void onSubmit(sent).then((isStored) => isStored && setText(""));
  }
  return (
    <form
      onSubmit={send}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Hides the key from the page's keyboard shortcuts, which leave a field or stop the turn on Esc.
        event.stopPropagation();
        event.preventDefault();
        onCancel();
      }}
      className="flex items-center gap-1.5"
    >
      <Input
        ref={focusField}
        dir="auto"
        aria-label={label}
        value={text}
        maxLength={500}
        className="h-7 px-2"
        onChange={(event) => setText(event.target.value)}
      />
      <Button
        type="submit"
        size="sm"
        variant="primary"
        className="h-7"
        disabled={isBusy || text.trim() === ""}
      >
        {submit}
      </Button>
      <Button size="sm" variant="ghost" className="h-7" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  );
}
