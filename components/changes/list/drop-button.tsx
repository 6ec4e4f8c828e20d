"use client";

import { Trash2 } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";

/**
 * Focuses the button when it is mounted. If the component created this function, the function would be new in each
 * render, and React would call it and move the focus each time.
 */
const focusButton = (button: HTMLButtonElement | null): void => button?.focus();

/** Shows a button that drops a change. It asks for a confirmation, because the page cannot restore a dropped change. */
export function DropButton({ name, onDrop }: { name: string; onDrop: (row: HTMLElement | null) => void }) {
  const [state, setState] = useState<"idle" | "asking" | "cancelled">("idle");
  if (state !== "asking") {
    return (
      <IconButton
        ref={state === "cancelled" ? focusButton : null}
        size="icon-sm"
        label={`Drop: ${name}`}
        data-drop
        onClick={() => setState("asking")}
      >
        <Trash2 />
      </IconButton>
    );
  }
  function handleKey(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.preventDefault();
    setState("cancelled");
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc in either button cancels
    <span className="flex items-center gap-1" onKeyDown={handleKey}>
      <Button
        ref={focusButton}
        size="sm"
        aria-label={`Drop permanently: ${name}`}
        className="border-bad/40 text-bad"
        onClick={(event) => onDrop(event.currentTarget.closest("li"))}
      >
        Drop
      </Button>
      <Button size="sm" variant="ghost" onClick={() => setState("cancelled")}>
        Keep
      </Button>
    </span>
  );
}
