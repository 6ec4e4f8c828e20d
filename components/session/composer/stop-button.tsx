"use client";

import { Square } from "lucide-react";
import { isStopping } from "#lib/page/state/session-state.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { useStop } from "./stop-context.tsx";

/** Shows the button that stops the running turn. */
export function StopButton() {
  const state = useSession();
  const { stop } = useStop();
  return (
    <Button size="sm" variant="outline" className="h-7" disabled={isStopping(state)} onClick={stop}>
      <Square aria-hidden className="fill-current" /> Stop
      <span aria-hidden className="contents max-sm:hidden">
        <Kbd>Esc</Kbd>
      </span>
    </Button>
  );
}
