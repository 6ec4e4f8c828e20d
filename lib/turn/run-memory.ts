import type { Claim } from "./claim.ts";

/**
 * What this process knows of the runs it has played from their very start: every step they recorded. Such a run need
 * not ask the database whether a step was done before; any other does.
 */
export type RunMemory = {
  /** Starts to remember a run that has no steps yet. */
  begin: (claim: Claim) => void;
  /** Outputs by step name, if every step of the run is known; undefined for a run taken over from elsewhere. */
  of: (claim: Claim) => Map<string, unknown> | undefined;
  forget: (runId: string) => void;
};

/** @see RunMemory */
export function createRunMemory(): RunMemory {
  const runs = new Map<string, { epoch: number; outputs: Map<string, unknown> }>();
  return {
    begin: ({ runId, epoch }) => void runs.set(runId, { epoch, outputs: new Map() }),
    of({ runId, epoch }) {
      const known = runs.get(runId);
      return known?.epoch === epoch ? known.outputs : undefined;
    },
    forget: (runId) => void runs.delete(runId),
  };
}
