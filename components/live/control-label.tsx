"use client";

import { useLiveStatus, useSession } from "#components/runtime/session-context.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { currentRun } from "#lib/page/state/session-state.ts";

/**
 * Shows who has control of the page. Visitors with the role `drive` who do not have control also get a button that
 * takes control. Renders nothing while the live connection is not open, because another person may have taken control
 * in the meantime. Also renders nothing if no person has control and the browser is not ready.
 */
export function ControlLabel({ hasFocus, takeControl }: { hasFocus: boolean; takeControl: () => void }) {
  const state = useSession();
  const isConnected = useLiveStatus().state === "open";
  if (!isConnected) return null;
  if (state.control === "you") {
    return (
      <Badge tone="busy" className="ml-1">
        You have control{hasFocus && <span className="font-normal max-sm:hidden">· Esc leaves</span>}
      </Badge>
    );
  }
  if (state.control === null && state.browser.status !== "ready") return null;
  const isAgentAtWork =
    currentRun(state)?.state === "running" && state.waitingOn === null && state.elicitations.length === 0;
  const holder =
    state.control === "someone" ? "Someone else has control" : isAgentAtWork ? "Agent has control" : null;
  const mayTake = state.role === "drive";
  return (
    <>
      {holder && (
        <Badge tone={state.control === "someone" ? "attention" : undefined} className="ml-1">
          <span className="max-sm:hidden">{holder}</span>
          <span className="sm:hidden">{state.control === "someone" ? "Taken" : "Agent"}</span>
        </Badge>
      )}
      {!holder && !mayTake && <Badge className="ml-1 max-sm:hidden">You are watching</Badge>}
      {mayTake && (
        <Button size="sm" className="ml-1 shrink-0" onClick={takeControl}>
          Take control
        </Button>
      )}
    </>
  );
}
