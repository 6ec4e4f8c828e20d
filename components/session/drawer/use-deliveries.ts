"use client";

import { useCallback, useEffect, useState } from "react";
import { currentRun, mayDirect } from "#lib/page/state/session-state.ts";
import type { DeliveryView } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";

const POLL_MS = 2_000;

/**
 * Reads the callbacks of the session at first, when a run starts or ends, and after a callback was sent again. While a
 * callback is waiting or being sent, reads them every two seconds. Reads nothing for viewers and on the page of a
 * sub-agent.
 */
export function useDeliveries() {
  const { actions } = useRuntime();
  const state = useSession();
  const [deliveries, setDeliveries] = useState<DeliveryView[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [polls, setPolls] = useState(0);
  const run = currentRun(state);
  const mayRead = mayDirect(state);
  const moment = `${run?.runId}:${run?.state}:${polls}`;
  const isOpen = deliveries.some(({ state: each }) => each === "pending" || each === "sending");

  // biome-ignore lint/correctness/useExhaustiveDependencies: `moment` is the trigger; the effect does not read it
  useEffect(() => {
    if (!mayRead) return;
    let isCurrent = true;
    void actions.readDeliveries().then((outcome) => {
      if (isCurrent && outcome.isDone) setDeliveries(outcome.answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [mayRead, moment, actions]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer schedules the next poll
  useEffect(() => {
    if (!isOpen) return;
    const timer = setTimeout(() => setPolls((count) => count + 1), POLL_MS);
    return () => clearTimeout(timer);
  }, [isOpen, deliveries]);

  const redeliver = useCallback(
    async (deliveryId: string) => {
      const outcome = await actions.redeliver(deliveryId);
      setError(outcome.isDone ? null : outcome.error);
      setPolls((count) => count + 1);
    },
    [actions],
  );
  return { deliveries, error, redeliver };
}
