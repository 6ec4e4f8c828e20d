"use client";

import { useEffect } from "react";
import { currentRun } from "#lib/page/state/session-state.ts";
import { useLiveStatus, useRuntime, useSession } from "../session-context.tsx";

/** Reads the queue anew when the connection comes back, when another run begins or ends, and when the service says so: it has no stored events. */
export function useSyncQueue(): void {
  const { store, actions } = useRuntime();
  const state = useSession();
  const live = useLiveStatus();
  const run = currentRun(state);
  const isOpen = live.state === "open" && state.role === "drive";
  const moment = `${run?.runId}:${run?.state}:${state.queueChanges}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `moment` says when, it is not read
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    void actions.readQueue().then((outcome) => {
      if (isCurrent && outcome.isDone) store.replaceQueue(outcome.answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [isOpen, moment, actions, store]);
}
