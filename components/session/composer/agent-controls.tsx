"use client";

import { isWorking, mayStop } from "#lib/page/state/session-state.ts";
import { useSession } from "../session-context.tsx";
import { StopButton } from "./stop-button.tsx";
import { useStop } from "./stop-context.tsx";

/** Instead of the message box of a sub-agent: who directs it, and the button that stops it. */
export function AgentControls({ parent }: { parent: string }) {
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
            `This is a sub-agent. Only ${parent} sends it messages.`
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
