"use client";

import { isWorking, mayStop } from "#lib/page/state/session-state.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { StopButton } from "./stop-button.tsx";
import { useStop } from "./stop-context.tsx";

/**
 * Shows a note on the page of a sub-agent, and a stop button while the sub-agent is working. The page has no message
 * box, because a sub-agent gets no messages from people.
 */
export function AgentControls() {
  const state = useSession();
  const { isArmed, error } = useStop();
  const isBusy = isWorking(state);
  return (
    <>
      <div className="flex min-h-8 items-center gap-3">
        <p className="min-w-0 flex-1 text-faint text-sm">
          {isBusy && isArmed ? (
            <span className="font-medium text-warn">Press Esc again to stop</span>
          ) : (
            "A sub-agent gets messages only from the session that started it."
          )}
        </p>
        {isBusy && mayStop(state) && <StopButton />}
      </div>
      {isBusy && error && (
        <p role="alert" className="text-bad text-sm">
          {error}
        </p>
      )}
    </>
  );
}
