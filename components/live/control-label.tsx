"use client";

import { useEffect, useRef, useState } from "react";
import { useLiveStatus, useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import { OnDemand } from "#components/ui/menu-button.tsx";
import { currentRun } from "#lib/page/state/session-state.ts";
import { GiveBackButton } from "./give-back-button.tsx";

const loadGiveBack = async () => (await import("./give-back.tsx")).GiveBack;
const GiveBack = lazily(loadGiveBack, <GiveBackButton aria-haspopup="dialog" aria-expanded />);

/**
 * Shows who has control of the page, and the button that takes it over or gives it back. Renders nothing while the live
 * connection is not open, because another person may have taken control in the meantime. Also renders nothing if no
 * person has control and the browser is not ready.
 */
export function ControlLabel({ hasFocus, takeControl }: { hasFocus: boolean; takeControl: () => void }) {
  const state = useSession();
  const { live } = useRuntime();
  const isConnected = useLiveStatus().state === "open";
  if (!isConnected) return null;
  if (state.control === "you") {
    return (
      <>
        <Badge tone="busy" className="ml-1">
          {/* On a phone, the address needs the room. */}
          <span>
            You<span className="max-sm:sr-only"> have control</span>
          </span>
          {hasFocus && <span className="font-normal max-sm:hidden">· Esc leaves</span>}
        </Badge>
        <OnDemand popup="dialog" preload={() => void loadGiveBack().catch(() => {})} button={GiveBackButton}>
          <GiveBack
            onGiveBack={(note) =>
              live.send(note === "" ? { type: "control.release" } : { type: "control.release", note })
            }
          />
        </OnDemand>
      </>
    );
  }
  if (state.control === null && state.browser.status !== "ready") return null;
  const isAgentAtWork =
    currentRun(state)?.state === "running" && state.waitingOn === null && state.elicitations.length === 0;
  const person = state.control === "someone" ? (state.controlName ?? "Someone") : null;
  return (
    <>
      {person !== null && (
        <Badge tone="attention" className="ml-1 max-w-48 max-sm:max-w-24">
          <span className="truncate">{person} has control</span>
        </Badge>
      )}
      {person === null && (
        <Badge tone="quiet" className="ml-1 max-sm:hidden">
          {isAgentAtWork ? "Agent has control" : "Watching"}
        </Badge>
      )}
      {state.role === "drive" && <TakeOver key={person} from={person} takeControl={takeControl} />}
    </>
  );
}

/** Shows the button that takes control. If a person has it, asks for a second click. */
function TakeOver({ from, takeControl }: { from: string | null; takeControl: () => void }) {
  const { controlProblem } = useSession();
  const [step, setStep] = useState<"idle" | "asking" | "taking">("idle");
  const confirm = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (step === "asking") confirm.current?.focus();
  }, [step]);
  useEffect(() => {
    if (controlProblem !== null) setStep("idle");
  }, [controlProblem]);

  function take(): void {
    setStep("taking");
    takeControl();
  }
  if (step === "asking") {
    return (
      <span className="flex shrink-0 gap-1">
        <Button ref={confirm} size="sm" variant="primary" className="max-w-52" onClick={take}>
          <span className="truncate">Take over from {from}</span>
        </Button>
        <Button size="sm" variant="ghost" onClick={() => setStep("idle")}>
          Cancel
        </Button>
      </span>
    );
  }
  return (
    <Button
      size="sm"
      className="ml-1"
      disabled={step === "taking"}
      onClick={() => (from === null ? take() : setStep("asking"))}
    >
      {step === "taking" ? "Taking over" : "Take over"}
    </Button>
  );
}
