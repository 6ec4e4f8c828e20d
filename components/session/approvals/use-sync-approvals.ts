"use client";

import { useEffect } from "react";
import type { createInboxActions } from "#lib/page/actions/inbox-actions.ts";
import { useLiveStatus, useRuntime, useSession } from "../../runtime/session-context.tsx";

const POLL_MS = 3_000;

/**
 * Reads the calls that wait for approval, and the handovers, when the live connection opens, when the turn begins or ends, or begins or ends a wait, and after
 * each event about a sub-agent. The session's events do not contain the waits of sub-agents. Therefore, the list is also
 * read every three seconds while a sub-agent works, also in a hidden tab, whose title shows the count.
 */
export function useSyncApprovals(inbox: ReturnType<typeof createInboxActions>): void {
  const { store } = useRuntime();
  const { agent, agents, agentChanges, waitingOn, turnState } = useSession();
  const isOpen = useLiveStatus().state === "open";
  const isPolled = agents.some(({ status }) => status === "running");
  const isOfAgent = agent !== null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the last three are triggers; the effect does not read them
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const outcome = await inbox.readOpen();
      if (!isCurrent) return;
      if (outcome.isDone) {
        // The page of a sub-agent lists only its own calls; the path lists those of the whole session.
        const { runs } = store.getState();
        const isShown = (runId: string | null) => !isOfAgent || runs.some((run) => run.runId === runId);
        store.replaceWaiting({
          approvals: outcome.answer.approvals.filter(({ runId }) => isShown(runId)),
          handovers: outcome.answer.handovers.filter(({ runId }) => isShown(runId)),
        });
      }
      if (isPolled) timer = setTimeout(read, POLL_MS);
    };
    void read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [isOpen, isPolled, isOfAgent, inbox, store, agentChanges, waitingOn, turnState]);

  // The page reads no list any more, so nothing would remove what it shows.
  useEffect(() => () => store.replaceWaiting({ approvals: [], handovers: [] }), [store]);
}
