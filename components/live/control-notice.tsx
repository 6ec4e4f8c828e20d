"use client";

import { X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useLiveStatus, useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { describeLoss } from "#lib/page/labels/describe-control.ts";
import type { ControlView } from "#lib/page/state/apply-control.ts";

/**
 * Tells a visitor that control goes back to the agent soon unless they keep it, that they have lost control, or why they
 * did not get it.
 */
export function ControlNotice() {
  const { live, store } = useRuntime();
  const { control, controlExpiry, controlLoss, controlProblem } = useSession();
  const isConnected = useLiveStatus().state === "open";
  if (!isConnected) return null;
  if (control === "you" && controlExpiry?.because === "idle") {
    return (
      <Strip>
        <Countdown expiry={controlExpiry} />
        <Button size="sm" onClick={() => live.send({ type: "control.keep" })}>
          Keep control
        </Button>
      </Strip>
    );
  }
  const text = controlProblem ?? (controlLoss && describeLoss(controlLoss));
  if (text === null || control === "you") return null;
  return (
    <Strip>
      <span role="status" className="min-w-0 flex-1 break-words">
        {text}
      </span>
      <IconButton label="Close the notice" size="icon-sm" onClick={store.forgetControlLoss}>
        <X />
      </IconButton>
    </Strip>
  );
}

function Strip({ children }: { children: ReactNode }) {
  return (
    <div className="flex shrink-0 items-center gap-2 border-b bg-warn-soft px-3 py-1 text-sm text-warn">
      {children}
    </div>
  );
}

/** Counts the seconds down until control ends. Screen readers hear it once. */
function Countdown({ expiry }: { expiry: NonNullable<ControlView["controlExpiry"]> }) {
  const [endsAtMs, setEndsAtMs] = useState<number | null>(null);
  const [leftMs, setLeftMs] = useState(expiry.leftMs);
  useEffect(() => setEndsAtMs(performance.now() + expiry.leftMs), [expiry]);
  useEffect(() => {
    if (endsAtMs === null) return;
    const tick = () => setLeftMs(Math.max(0, endsAtMs - performance.now()));
    tick();
    const timer = setInterval(tick, 500);
    return () => clearInterval(timer);
  }, [endsAtMs]);
  return (
    <span className="min-w-0 flex-1">
      <span role="status" className="sr-only">
        Control goes back to the agent soon, because there was no input. Choose Keep control to keep it.
      </span>
      <span aria-hidden className="tabular-nums">
        No input for a while: control goes back in {Math.ceil(leftMs / 1_000)} s.
      </span>
    </span>
  );
}

/** Tells a visitor who types or clicks without control that they only watch. */
export function WatchingHint({ takeControl }: { takeControl: () => void }) {
  const { control, controlName } = useSession();
  return (
    <div
      role="status"
      className="absolute bottom-3 flex max-w-[calc(100%-24px)] items-center gap-3 rounded-lg border bg-raised py-2 pr-2 pl-3 text-sm shadow-(color:--shadow-color) shadow-lg"
    >
      <p className="min-w-0">
        {control === "someone"
          ? `${controlName ?? "Someone"} has control. You are watching.`
          : "You are watching. Take over to click and type."}
      </p>
      {control === null && (
        <Button size="sm" onClick={takeControl}>
          Take over
        </Button>
      )}
    </div>
  );
}
