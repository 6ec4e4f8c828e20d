"use client";

import { useEffect, useState } from "react";
import { useLiveStatus, useRuntime, useSession } from "../session-context.tsx";

const POLL_MS = 2_000;

/**
 * Reads the sub-agents when the log tells of one and after a reconnect. Their steps and pictures are in logs of their own:
 * while the list is shown and one of them works, it is read every two seconds.
 */
export function useSyncAgents(isShown: boolean): void {
  const { store, actions } = useRuntime();
  const { session, agents, agentChanges } = useSession();
  const isOpen = useLiveStatus().state === "open" && session.mayDelegate;
  const [polls, setPolls] = useState(0);
  const moment = `${agentChanges}:${polls}`;
  const isPolled = isShown && agents.some(({ status }) => status === "running");

  // biome-ignore lint/correctness/useExhaustiveDependencies: `moment` is the trigger; the effect does not read it
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    void actions.readAgents().then((outcome) => {
      if (isCurrent && outcome.isDone) store.replaceAgents(outcome.answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [isOpen, isShown, moment, actions, store]);

  useEffect(() => {
    if (!isPolled) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setPolls((count) => count + 1);
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [isPolled]);
}
