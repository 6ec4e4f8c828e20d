import type { Claim } from "./claim.ts";

/** The fields that every event of a run shares. */
export const aboutRun = ({ requestId, runId, source }: Pick<Claim, "requestId" | "runId" | "source">) => ({
  requestId,
  runId,
  source,
});
