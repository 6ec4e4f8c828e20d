"use client";

import { createContext, type ReactNode, use, useCallback, useMemo, useState } from "react";
import { useRuntime } from "./session-context.tsx";

type Stop = {
  stop: () => Promise<void>;
  /** Why the turn could not be stopped, in a sentence. */
  error: string | null;
  /** Something else was asked for: that the stop failed is no longer of interest. */
  forgetError: () => void;
};

const StopContext = createContext<Stop | undefined>(undefined);

/** Stopping the turn at work, for the button and the key alike: where it fails, both say so in one place. */
export function StopProvider({ children }: { children: ReactNode }) {
  const { store, actions } = useRuntime();
  const [error, setError] = useState<string | null>(null);
  const stop = useCallback(async () => {
    setError(null);
    const outcome = await actions.cancel();
    if (!outcome.isDone) setError(`The turn was not stopped. ${outcome.error}`);
    else if (outcome.answer.runId !== null) store.noteStopping(outcome.answer.runId);
  }, [actions, store]);
  const value = useMemo(() => ({ stop, error, forgetError: () => setError(null) }), [stop, error]);
  return <StopContext value={value}>{children}</StopContext>;
}

/** @see StopProvider */
export function useStop(): Stop {
  const context = use(StopContext);
  if (!context) throw new Error("a part of the session page stands outside its StopProvider");
  return context;
}
