import type { Database } from "#db/client.ts";
import type { SchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import type { JobSender } from "#lib/session/jobs/job-sender.ts";
import type { DelegationLimits } from "./admission.ts";

/** The dependencies of delegation. The container creates them once. */
export type AgentsDeps = {
  db: Database;
  log: EventLog;
  sealer: Sealer;
  jobs: Pick<JobSender, "sendSoon">;
  schemas: Pick<SchemaChecker, "admitSchema" | "validateValue">;
  /** Stops a run in any state. */
  stopRun: (runId: string) => Promise<void>;
  limits: DelegationLimits;
};
