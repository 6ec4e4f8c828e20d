"use client";

import { useSession } from "#components/session/session-context.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { currentRun } from "#lib/api/client/session-state.ts";

/** Who moves the page now. */
export function ControlLabel({ hasFocus }: { hasFocus: boolean }) {
  const state = useSession();
  if (state.control === "someone") {
    return (
      <Badge tone="attention" className="ml-1">
        <span className="max-sm:hidden">Someone else has control</span>
        <span className="sm:hidden">Taken</span>
      </Badge>
    );
  }
  if (hasFocus) {
    return (
      <Badge tone="busy" className="ml-1">
        You have control<span className="font-normal max-sm:hidden">· Esc leaves</span>
      </Badge>
    );
  }
  if (state.browser.status !== "ready") return null;
  const isAgentAtWork = currentRun(state)?.state === "running" && state.elicitation === null;
  return (
    <Badge className="ml-1 max-sm:hidden">
      {isAgentAtWork
        ? "Agent has control"
        : state.role === "drive"
          ? "Click the page to take control"
          : "You are watching"}
    </Badge>
  );
}
