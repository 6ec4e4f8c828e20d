"use client";

import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from "react";
import { useRuntime } from "../../runtime/session-context.tsx";

type Stop = {
  stop: () => Promise<void>;
  /** Whether Esc was pressed once, so that the next press of Esc stops the agent. */
  isArmed: boolean;
  /** Makes the next press of Esc stop the agent. Another key, a click or a few seconds without Esc cancel this. */
  arm: () => void;
  /** Why the turn could not be stopped, as a sentence. */
  error: string | null;
  /** Clears the error of an earlier stop. */
  clearError: () => void;
};

const ARMED_MS = 4_000;

const StopContext = createContext<Stop | undefined>(undefined);

/**
 * Provides the action that stops the running turn. The button and the Esc key share the action and its error, so that a
 * failure of either is shown in the same place.
 */
export function StopProvider({ children }: { children: ReactNode }) {
  const { store, actions, drafts } = useRuntime();
  const [error, setError] = useState<string | null>(null);
  const [isArmed, setArmed] = useState(false);
  const stop = useCallback(async () => {
    setArmed(false);
    setError(null);
    const outcome = await actions.cancel();
    if (!outcome.isDone) setError(`The turn was not stopped. ${outcome.error}`);
    else if (outcome.answer.runId !== null) {
      store.setStopping(outcome.answer.runId);
      drafts.addOwnStop(outcome.answer.runId);
    }
  }, [actions, store, drafts]);
  useEffect(() => store.addOwnStops(drafts.readOwnStops()), [store, drafts]);
  useEffect(() => {
    if (!isArmed) return;
    const disarm = (event?: Event) => {
      if (!(event instanceof KeyboardEvent) || event.key !== "Escape") setArmed(false);
    };
    const timer = setTimeout(disarm, ARMED_MS);
    window.addEventListener("keydown", disarm, true);
    window.addEventListener("pointerdown", disarm, true);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("keydown", disarm, true);
      window.removeEventListener("pointerdown", disarm, true);
    };
  }, [isArmed]);
  const value = useMemo(
    () => ({ stop, isArmed, arm: () => setArmed(true), error, clearError: () => setError(null) }),
    [stop, isArmed, error],
  );
  return <StopContext value={value}>{children}</StopContext>;
}

/** Returns the value of the enclosing `StopProvider`. @throws outside of a `StopProvider`. */
export function useStop(): Stop {
  const context = use(StopContext);
  if (!context) throw new Error("useStop was called outside a StopProvider");
  return context;
}
