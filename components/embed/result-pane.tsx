"use client";

import { ChevronLeft } from "lucide-react";
import { useEffect, useRef } from "react";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { Drawer } from "../session/drawer/drawer.tsx";
import { Button } from "../ui/button.tsx";

/** Shows results and records above the other panes, with a button that goes back to them. */
export function ResultPane() {
  const { close } = useDrawer();
  const back = useRef<HTMLButtonElement>(null);
  // Moves the focus here, and back when the pane closes.
  useEffect(() => {
    const last = document.activeElement;
    back.current?.focus();
    return () => {
      if (last instanceof HTMLElement) last.focus();
    };
  }, []);
  return (
    <div className="absolute inset-0 z-10 flex flex-col bg-surface">
      <div className="flex h-10 shrink-0 items-center border-b px-2">
        <Button ref={back} size="sm" variant="ghost" onClick={close}>
          <ChevronLeft aria-hidden /> Back
        </Button>
      </div>
      <Drawer isAlone isShown className="min-h-0 flex-1" />
    </div>
  );
}
