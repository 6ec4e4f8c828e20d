"use client";

import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";

/**
 * Focuses the button when it is mounted. If the component created this function, the function would be new in each
 * render, and React would call it and move the focus each time.
 */
const focusButton = (button: HTMLButtonElement | null): void => button?.focus();

/** Shows a button that asks for a confirmation before it runs its action. */
export function ConfirmButton({
  label,
  question,
  confirm,
  isBusy,
  onConfirm,
}: {
  label: ReactNode;
  /** The text of the confirmation. It explains the effect of the action. */
  question: string;
  /** Label of the button that confirms. */
  confirm: string;
  isBusy: boolean;
  onConfirm: () => Promise<void>;
}) {
  const [state, setState] = useState<"idle" | "asking" | "cancelled">("idle");
  if (state !== "asking") {
    return (
      <Button
        ref={state === "cancelled" ? focusButton : null}
        disabled={isBusy}
        className="self-start"
        onClick={() => setState("asking")}
      >
        {label}
      </Button>
    );
  }
  return (
    <div className="flex w-full flex-col gap-2 rounded-lg border border-bad/30 bg-bad-soft px-3 py-2 text-sm">
      <p>{question}</p>
      <div className="flex flex-wrap gap-2">
        <Button
          ref={focusButton}
          disabled={isBusy}
          onClick={() => void onConfirm().finally(() => setState("idle"))}
        >
          {confirm}
        </Button>
        <Button variant="ghost" disabled={isBusy} onClick={() => setState("cancelled")}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
