"use client";

import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import type { Widget, WidgetAnswer } from "#lib/page/state/view-types.ts";

type Picker = Extract<Widget, { kind: "picker" }>;

/** Shows a date, time or colour field of the live page as a field of this page, with its own picker. */
export function ValuePicker({
  widget,
  answer,
  cancel,
}: {
  widget: Picker;
  answer: (given: WidgetAnswer) => void;
  cancel: () => void;
}) {
  const { type, min, max, step, label } = widget;
  const [value, setValue] = useState(widget.value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
    try {
      field.current?.showPicker();
    } catch {
      // Browsers show it only soon after an input of the person; the field works without it.
    }
  }, []);
  function submit(event: FormEvent): void {
    event.preventDefault();
    answer({ kind: "value", value });
  }

  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label={label || "Value"}
      className="flex flex-col gap-2 rounded-lg border border-line-strong bg-raised p-2 text-sm shadow-(color:--shadow-color) shadow-lg"
    >
      <input
        ref={field}
        type={type}
        value={value}
        {...(min && { min })}
        {...(max && { max })}
        {...(step && { step })}
        aria-label={label || "Value"}
        onChange={(event) => setValue(event.target.value)}
        className="h-8 w-full rounded-md border border-line-strong bg-surface px-2 text-ink"
      />
      <div className="flex justify-end gap-2">
        <Button size="sm" onClick={cancel}>
          Cancel
        </Button>
        <Button type="submit" size="sm" variant="primary">
          Set
        </Button>
      </div>
    </form>
  );
}
