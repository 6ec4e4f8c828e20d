"use client";

import { useEffect } from "react";
import { currentRun, mayDirect } from "#lib/page/state/session-state.ts";
import { useLiveStatus, useRuntime, useSession } from "../../runtime/session-context.tsx";

/**
 * Reads the message queue when the live connection opens, when a run starts or ends, and when the service reports that
 * the queue changed. These reads are necessary, because no event contains the queue. Does nothing for viewers and on
 * the page of a sub-agent.
 */
export function useSyncQueue(): void {
  const { store, actions } = useRuntime();
  const state = useSession();
  const live = useLiveStatus();
  const run = currentRun(state);
  const isOpen = live.state === "open" && mayDirect(state);
  const moment = `${run?.runId}:${run?.state}:${state.queueChanges}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `moment` is the trigger; the effect does not read it
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
