/** Jobs handed to the durable engine; the names are the engine's event names. */
export type Job =
  | {
      name: "turn/run.requested";
      id: string;
      /** `resends` counts the sends after a loss that no player has answered. */
      data: { runId: string; sessionId: string; generation: number; resends?: number };
    }
  | { name: "callback/delivery.requested"; id: string; data: { deliveryId: string; cycle: number } }
  | { name: "tests/run.requested"; id: string; data: { testRunId: string } };

/** Asks for a run to be played. The generation rises when the engine lost an earlier request for it. */
export const requestRun = (run: { id: string; sessionId: string; generation: number }, resends = 0): Job => ({
  name: "turn/run.requested",
  id: `${run.id}:${run.generation}`,
  data: {
    runId: run.id,
    sessionId: run.sessionId,
    generation: run.generation,
    ...(resends > 0 && { resends }),
  },
});

/** Asks for a callback to be delivered. The cycle rises with every redeliver. */
export const requestDelivery = (delivery: { id: string; cycle: number }): Job => ({
  name: "callback/delivery.requested",
  id: `${delivery.id}:${delivery.cycle}`,
  data: { deliveryId: delivery.id, cycle: delivery.cycle },
});

/** Asks for a test run to be played. The number rises when the engine lost an earlier request for it. */
export const requestTests = ({ id, jobNumber }: { id: string; jobNumber: number }): Job => ({
  name: "tests/run.requested",
  id: `${id}:${jobNumber}`,
  data: { testRunId: id },
});
