"use client";

import { Trash2 } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";

/** A function that never changes, so that React calls it only when a button appears. */
const focusButton = (button: HTMLButtonElement | null): void => button?.focus();

/** Drops a change for good, after a second click, because the page cannot bring it back. */
export function DropButton({ name, onDrop }: { name: string; onDrop: (row: HTMLElement | null) => void }) {
  const [state, setState] = useState<"idle" | "asking" | "kept">("idle");
  if (state !== "asking") {
    return (
      <IconButton
        ref={state === "kept" ? focusButton : null}
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
    setState("kept");
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc in either button cancels
    <span className="flex items-center gap-1" onKeyDown={handleKey}>
      <Button
        ref={focusButton}
        size="sm"
        aria-label={`Drop for good: ${name}`}
        className="border-bad/40 text-bad"
        onClick={(event) => onDrop(event.currentTarget.closest("li"))}
      >
        Drop
      </Button>
      <Button size="sm" variant="ghost" onClick={() => setState("kept")}>
        Keep
      </Button>
    </span>
  );
}
