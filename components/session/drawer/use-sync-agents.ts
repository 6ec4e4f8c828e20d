"use client";

import { useEffect } from "react";
import { useLiveStatus, useRuntime, useSession } from "../../runtime/session-context.tsx";

const POLL_MS = 2_000;

/**
 * Reads the list of sub-agents when the live connection opens and after each event about a sub-agent. The session's
 * events do not contain the steps of sub-agents. Therefore, the list is also read every two seconds while the Agents
 * tab is shown and a sub-agent is working. Does nothing in a session that may not delegate to sub-agents.
 */
export function useSyncAgents(isShown: boolean): void {
  const { store, actions } = useRuntime();
  const { session, agents, agentChanges } = useSession();
  const isOpen = useLiveStatus().state === "open" && session.mayDelegate;
  const isPolled = isShown && agents.some(({ status }) => status === "running");

  // biome-ignore lint/correctness/useExhaustiveDependencies: `agentChanges` is a trigger; the effect does not read it
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const outcome = await actions.readAgents();
      if (!isCurrent) return;
      if (outcome.isDone) store.replaceAgents(outcome.answer);
      if (isPolled) timer = setTimeout(poll, POLL_MS);
    };
    const poll = () => {
      if (document.visibilityState === "visible") void read();
      else timer = setTimeout(poll, POLL_MS);
    };
    void read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [isOpen, isPolled, agentChanges, actions, store]);
}
