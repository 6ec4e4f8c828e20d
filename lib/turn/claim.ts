import type { RunOrigin, Source } from "#db/schema/unions.ts";

/** An executor's right to play a run: held by the epoch, lost when somebody else claims it. */
export type Claim = {
  runId: string;
  epoch: number;
  sessionId: string;
  requestId: string;
  attempt: number;
  origin: RunOrigin;
  source: Source;
  isStructured: boolean;
};

/** The executor's claim was taken over or the run has ended: nothing may be written any more. */
export class StaleClaimError extends Error {
  constructor(claim: Claim, stepName: string) {
    super(`step ${stepName} of ${claim.runId} belongs to epoch ${claim.epoch}, which is over`);
    this.name = "StaleClaimError";
  }
}

/** Whether a step failed because its claim is over. */
export const isStaleClaim = (error: unknown): boolean =>
  error instanceof Error && error.name === "StaleClaimError";
