/** Jobs for the durable engine. The names are the engine's event names. */
export type Job =
  | {
      name: "turn/run.requested";
      id: string;
      /** `resends`: number of resends since a process last played the run. */
      data: { runId: string; sessionId: string; generation: number; resends?: number };
    }
  | { name: "callback/delivery.requested"; id: string; data: { deliveryId: string; cycle: number } }
  | { name: "tests/run.requested"; id: string; data: { testRunId: string } }
  | { name: "deliverable/receipts.requested"; id: string; data: { runId: string } };

/** Creates the job that plays a run. The generation rises when the run is resent or woken. */
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

/**
 * Creates the job that delivers a callback. The cycle rises with every redelivery. The generation rises when the cycle
 * gets another job, because the first was lost or the delivery was held.
 */
export const requestDelivery = (delivery: { id: string; cycle: number; generation?: number }): Job => ({
  name: "callback/delivery.requested",
  id: [delivery.id, delivery.cycle, ...(delivery.generation === undefined ? [] : [delivery.generation])].join(
    ":",
  ),
  data: { deliveryId: delivery.id, cycle: delivery.cycle },
});

/** Creates the job that plays a test run. `jobNumber` rises when the engine has lost an earlier job. */
export const requestTests = ({ id, jobNumber }: { id: string; jobNumber: number }): Job => ({
  name: "tests/run.requested",
  id: `${id}:${jobNumber}`,
  data: { testRunId: id },
});

/** Creates the job that makes the receipts of a run's deliverable. `jobNumber` rises when the engine has lost an earlier job. */
export const requestReceipts = ({ runId, jobNumber }: { runId: string; jobNumber: number }): Job => ({
  name: "deliverable/receipts.requested",
  id: `${runId}:receipts:${jobNumber}`,
  data: { runId },
});

/** The engine run that will execute a job, before the rows of this run are written. */
export type PlannedJob = {
  /** The engine's event for the job, as JSON. */
  event: string;
  runId: string;
  functionId: string;
  executorId: string;
  /**
   * Plays the run. Call it after the transaction that writes the rows is committed, or before, if the job's function
   * waits for the commit itself.
   */
  play: () => void;
  /**
   * Tells the engine that the rows were written, or that they were not. Without this call, the engine looks for the
   * rows after ten seconds and plays the run if it is not being played.
   */
  settle: () => void;
};
